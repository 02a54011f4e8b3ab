/* SPDX-License-Identifier: MIT */
/* MAYBE a variable in global: 2 x 64 KiB */
/* STRIP */
/* A program without symbols: there is no name to give. */
#include "scene.h"

static CUdeviceptr table[2];

int main(int argc, char **argv) {
    SCENE(argc, argv);
    table[0] = ALLOC(64 * KIB);
    table[1] = ALLOC(64 * KIB);
    return 0;
}
