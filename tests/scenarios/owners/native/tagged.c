/* SPDX-License-Identifier: MIT */
/* MAYBE values in global: 3 x 64 KiB */
/* Pointers whose highest byte says what they are. */
#include "scene.h"

static CUdeviceptr values[3];

int main(int argc, char **argv) {
    SCENE(argc, argv);
    for (unsigned i = 0; i < 3; i++)
        values[i] = ALLOC(64 * KIB) | (CUdeviceptr)(i + 1) << 56;
    return 0;
}
