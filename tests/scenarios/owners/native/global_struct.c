/* SPDX-License-Identifier: MIT */
/* OWNER renderer in global: 1 MiB, 64 KiB, 2 x 16 KiB */
/* SLOT renderer: 2 x 16 KiB */
/* A structure that is a global. */
#include "scene.h"

struct renderer {
    int width, height;
    CUdeviceptr target, depth;
    struct {
        CUdeviceptr lights[2];
    } scene;
} renderer = {.width = 640, .height = 480};

int main(int argc, char **argv) {
    SCENE(argc, argv);
    renderer.target = ALLOC(MIB);
    renderer.depth = ALLOC(64 * KIB);
    renderer.scene.lights[0] = ALLOC(16 * KIB);
    renderer.scene.lights[1] = ALLOC(16 * KIB);
    KEEP(renderer);
    return 0;
}
