/* SPDX-License-Identifier: MIT */
/* OWNER sessions in global: 64 KiB */
/* PATH sessions > Session > Texture<float> */
/* Objects of classes on the way. */
#include "scene.h"

#include <memory>
#include <unistd.h>
#include <vector>

template <class T> struct Texture {
    virtual ~Texture() = default;
    CUdeviceptr pixels;
};

struct Session {
    virtual ~Session() = default;
    std::unique_ptr<Texture<float>> texture;
};

static std::vector<Session *> sessions;

int main(int argc, char **argv) {
    SCENE(argc, argv);
    sessions.push_back(new Session);
    sessions[0]->texture = std::make_unique<Texture<float>>();
    sessions[0]->texture->pixels = ALLOC(64 * KIB);
    KEEP(sessions);
    _exit(0);
}
