/* SPDX-License-Identifier: MIT */
/* OWNER nobody: 8 x 64 KiB */
/* LAST a block of 72 bytes on the heap behind an object of class Scene */
/* An object to which no pointer is left, with a vector in it. */
#include "scene.h"

#include <vector>

struct Scene {
    virtual ~Scene() = default;
    std::vector<CUdeviceptr> layers;
};

static void __attribute__((noinline)) make(void) {
    Scene *scene = new Scene;
    scene->layers.reserve(9);
    for (int i = 0; i < 8; i++)
        scene->layers.push_back(ALLOC(64 * KIB));
    KEEP(*scene);
}

int main(int argc, char **argv) {
    SCENE(argc, argv);
    make();
    volatile char over[4096];
    for (size_t i = 0; i < sizeof over; i++)
        over[i] = 0;
    return over[100];
}
