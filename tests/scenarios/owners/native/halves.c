/* SPDX-License-Identifier: MIT */
/* OWNER nobody: 3 x 64 KiB */
/* Addresses in two halves of 32 bits, as descriptors have them. */
#include "scene.h"

static struct { unsigned high, flags, low, size; } descriptors[3];

int main(int argc, char **argv) {
    SCENE(argc, argv);
    for (int i = 0; i < 3; i++) {
        CUdeviceptr made = ALLOC(64 * KIB);
        descriptors[i].high = made >> 32;
        descriptors[i].low = (unsigned)made;
    }
    return 0;
}
