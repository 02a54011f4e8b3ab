/* SPDX-License-Identifier: MIT */
/* OWNER nobody: 6 x 64 KiB */
/* Structures that were freed, with the addresses still in them. */
#include "scene.h"

struct image {
    char name[64];
    CUdeviceptr pixels;
    char more[64];
};

static void __attribute__((noinline)) step(void) {
    struct image *images[6];
    for (int i = 0; i < 6; i++)
        images[i] = calloc(1, sizeof **images);
    for (int i = 0; i < 6; i++)
        images[i]->pixels = ALLOC(64 * KIB);
    for (int i = 0; i < 6; i++)
        free(images[i]);
}

int main(int argc, char **argv) {
    SCENE(argc, argv);
    step();
    return 0;
}
