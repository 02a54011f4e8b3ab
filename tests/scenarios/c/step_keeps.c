/* SPDX-License-Identifier: MIT */
/* Training loop: the output of every step is kept in a list. */
#include "scene.h"

enum { STEPS = 200 };

static void train_step(CUdeviceptr *kept, int step) {
    CUdeviceptr input = ALLOC(MIB);
    CUdeviceptr output = ALLOC(256 * KIB); /* LEAK */
    FREE(input);
    if (leaking)
        kept[step] = output;
    else
        FREE(output);
}

int main(int argc, char **argv) {
    SCENE(argc, argv);
    static CUdeviceptr *kept;
    kept = new_list(STEPS);
    for (int step = 0; step < STEPS; step++)
        train_step(kept, step);
    return 0;
}
