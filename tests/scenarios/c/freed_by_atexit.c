/* SPDX-License-Identifier: MIT */
/* A history that grows epoch by epoch, freed by a handler behind main; or by none. */
#include "scene.h"

static CUdeviceptr *history;
static int count;

static void clean_up(void) {
    while (count)
        FREE(history[--count]);
}

int main(int argc, char **argv) {
    SCENE(argc, argv);
    history = new_list(100);
    if (!leaking)
        atexit(clean_up);
    for (int epoch = 0; epoch < 100; epoch++) {
        for (int step = 0; step < 5; step++)
            WORK();
        history[count++] = ALLOC(MIB); /* LEAK */
    }
    return 0;
}
