/* SPDX-License-Identifier: MIT */
/* Data loading: the batches of the dataset are put on the device once, and used for many steps; or
 * put there again each epoch. */
#include "scene.h"

enum { BATCHES = 16, EPOCHS = 20 };
static CUdeviceptr *cache;

static void load(int epoch) {
    for (int i = 0; i < BATCHES; i++)
        cache[epoch * BATCHES + i] = ALLOC(256 * KIB); /* LEAK */
}

int main(int argc, char **argv) {
    SCENE(argc, argv);
    cache = new_list(BATCHES * EPOCHS);
    for (int epoch = 0; epoch < EPOCHS; epoch++) {
        if (leaking || epoch == 0)
            load(epoch);
        for (int i = 0; i < BATCHES; i++)
            WORK();
    }
    for (int i = 0; i < BATCHES && !leaking; i++)
        FREE(cache[i]);
    return 0;
}
