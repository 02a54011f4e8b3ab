/* SPDX-License-Identifier: MIT */
/* One allocation of 4 GiB, never given back. */
#include "scene.h"

static CUdeviceptr table;

int main(int argc, char **argv) {
    SCENE(argc, argv);
    table = ALLOC(4096 * MIB); /* LEAK */
    for (int step = 0; step < 50; step++)
        WORK();
    if (!leaking)
        FREE(table);
    return 0;
}
