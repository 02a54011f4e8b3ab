/* SPDX-License-Identifier: MIT */
/* Model: layers are made in a loop, with staging buffers, and live until the end; or each epoch
 * makes them again. */
#include "scene.h"

enum { LAYERS = 24, EPOCHS = 12 };
static CUdeviceptr *layers;
static int made;

static void build_model(void) {
    for (int i = 0; i < LAYERS; i++) {
        CUdeviceptr staging = ALLOC(64 * KIB);
        layers[made++] = ALLOC(512 * KIB); /* LEAK */
        FREE(staging);
    }
}

int main(int argc, char **argv) {
    SCENE(argc, argv);
    layers = new_list(LAYERS * EPOCHS);
    for (int epoch = 0; epoch < EPOCHS; epoch++) {
        if (leaking || epoch == 0)
            build_model();
        for (int step = 0; step < 20; step++)
            WORK();
    }
    for (int i = 0; i < made && !leaking; i++)
        FREE(layers[i]);
    return 0;
}
