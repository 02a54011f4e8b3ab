/* SPDX-License-Identifier: MIT */
/* OWNER scene in global: 300 x 64 KiB */
/* A cache that observes what a scene holds, and nearer: of more textures than tables of a few places bear. */
#include "scene.h"

#include <map>
#include <memory>
#include <unistd.h>
#include <vector>

struct Texture {
    CUdeviceptr pixels;
};
struct Scene {
    int width = 640;
    std::vector<std::shared_ptr<Texture>> textures;
};

static std::map<int, std::weak_ptr<Texture>> cache;
static Scene *scene;

int main(int argc, char **argv) {
    SCENE(argc, argv);
    scene = new Scene;
    for (int i = 0; i < 300; i++) {
        auto texture = std::make_shared<Texture>();
        texture->pixels = ALLOC(64 * KIB);
        cache[i] = texture;
        scene->textures.push_back(texture);
    }
    KEEP(scene);
    _exit(0);
}
