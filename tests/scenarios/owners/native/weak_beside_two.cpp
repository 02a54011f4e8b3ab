/* SPDX-License-Identifier: MIT */
/* OWNER loaded in global | drawn in global: 300 x 64 KiB */
/* Two vectors hold the same textures, a third one watches them. */
#include "scene.h"
#include <memory>
#include <unistd.h>
#include <vector>
struct Texture {
    CUdeviceptr pixels;
};
static std::vector<std::shared_ptr<Texture>> drawn, loaded;
static std::vector<std::weak_ptr<Texture>> watched;
int main(int argc, char **argv) {
    SCENE(argc, argv);
    for (int i = 0; i < 300; i++) {
        auto t = std::make_shared<Texture>();
        t->pixels = ALLOC(64 * KIB);
        loaded.push_back(t);
        drawn.push_back(t);
        watched.push_back(t);
    }
    KEEP(loaded);
    KEEP(drawn);
    KEEP(watched);
    _exit(0);
}
