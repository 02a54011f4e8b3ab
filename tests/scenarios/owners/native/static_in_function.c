/* SPDX-License-Identifier: MIT */
/* OWNER scratch in global: 256 KiB */
/* OWNER counters in global: 3 x 16 KiB */
/* SLOT counters: 3 x 16 KiB */
/* Static variables of functions. */
#include "scene.h"

static CUdeviceptr workspace(void) {
    static CUdeviceptr scratch;
    if (!scratch)
        scratch = ALLOC(256 * KIB);
    return scratch;
}

static void count(void) {
    static CUdeviceptr counters[16];
    static int used;
    counters[used++] = ALLOC(16 * KIB);
    KEEP(counters);
}

int main(int argc, char **argv) {
    SCENE(argc, argv);
    workspace();
    for (int i = 0; i < 3; i++)
        count();
    return workspace() ? 0 : 1;
}
