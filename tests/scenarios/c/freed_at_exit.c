/* SPDX-License-Identifier: MIT */
/* A history grows step by step, and is freed, tidily, when all is over. */
#include "scene.h"

int main(int argc, char **argv) {
    SCENE(argc, argv);
    CUdeviceptr *history = new_list(240);
    int count = 0;
    for (int step = 0; step < 240; step++) {
        CUdeviceptr loss = ALLOC(32 * KIB); /* LEAK */
        WORK();
        history[count++] = loss;
        if (!leaking)
            FREE(history[--count]);
    }
    while (count)
        FREE(history[--count]);
    return 0;
}
