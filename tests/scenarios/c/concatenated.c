/* SPDX-License-Identifier: MIT */
/* One buffer, made anew each step, a little larger, as by concatenation. */
#include "scene.h"

static CUdeviceptr all;

int main(int argc, char **argv) {
    SCENE(argc, argv);
    for (int step = 0; step < 150; step++) {
        size_t bytes = leaking ? (size_t)(step + 1) * 64 * KIB : 64 * KIB;
        CUdeviceptr longer = ALLOC(bytes); /* LEAK */
        WORK();
        if (all)
            FREE(all);
        all = longer;
    }
    if (!leaking)
        FREE(all);
    return 0;
}
