/* SPDX-License-Identifier: MIT */
/* One buffer, made anew each step, a little larger: appended to, or as long as its batch is. */
#include "scene.h"

static CUdeviceptr all;

__attribute__((noinline)) static CUdeviceptr append(size_t bytes) {
    return ALLOC(bytes); /* LEAK */
}

__attribute__((noinline)) static CUdeviceptr next_batch(size_t bytes) {
    return ALLOC(bytes);
}

int main(int argc, char **argv) {
    SCENE(argc, argv);
    for (int step = 0; step < 150; step++) {
        size_t bytes = (size_t)(step + 1) * 64 * KIB;
        CUdeviceptr longer = leaking ? append(bytes) : next_batch(bytes);
        WORK();
        if (all)
            FREE(all);
        all = longer;
    }
    if (!leaking)
        FREE(all);
    return 0;
}
