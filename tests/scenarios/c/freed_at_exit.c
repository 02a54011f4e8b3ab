/* SPDX-License-Identifier: MIT */
/* A history grows step by step, and is freed, tidily, when all is over; or never. */
#include "scene.h"

static CUdeviceptr *history;

int main(int argc, char **argv) {
    SCENE(argc, argv);
    history = new_list(240);
    int count = 0;
    for (int step = 0; step < 240; step++) {
        CUdeviceptr loss = ALLOC(32 * KIB); /* LEAK */
        WORK();
        history[count++] = loss;
    }
    while (count && !leaking)
        FREE(history[--count]);
    return 0;
}
