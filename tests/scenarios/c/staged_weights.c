/* SPDX-License-Identifier: MIT */
/* Weights, each loaded through a staging buffer; freed one by one when all is over, or never. */
#include "scene.h"

static CUdeviceptr *weights;

int main(int argc, char **argv) {
    SCENE(argc, argv);
    weights = new_list(48);
    for (int i = 0; i < 48; i++) {
        CUdeviceptr staging = ALLOC(MIB);
        weights[i] = ALLOC(4 * MIB); /* LEAK */
        FREE(staging);
    }
    for (int i = 0; i < 48 && !leaking; i++)
        FREE(weights[i]);
    return 0;
}
