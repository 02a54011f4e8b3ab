/* SPDX-License-Identifier: MIT */
/* A step keeps two things: one mistake, one leak. */
#include "scene.h"

static CUdeviceptr *kept;

static void step(int number) {
    CUdeviceptr keys = ALLOC(512 * KIB); /* LEAK */
    CUdeviceptr values = ALLOC(128 * KIB);
    WORK();
    if (leaking) {
        kept[2 * number] = keys;
        kept[2 * number + 1] = values;
    } else {
        FREE(keys);
        FREE(values);
    }
}

int main(int argc, char **argv) {
    SCENE(argc, argv);
    kept = new_list(240);
    for (int i = 0; i < 120; i++)
        step(i);
    return 0;
}
