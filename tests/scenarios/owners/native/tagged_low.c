/* SPDX-License-Identifier: MIT */
/* MAYBE slots in global: 3 x 64 KiB */
/* SLOT slots: 3 x 64 KiB */
/* Pointers whose lowest bits are flags. */
#include "scene.h"

static CUdeviceptr slots[3];

int main(int argc, char **argv) {
    SCENE(argc, argv);
    for (unsigned i = 0; i < 3; i++)
        slots[i] = ALLOC(64 * KIB) | (i + 1);
    return 0;
}
