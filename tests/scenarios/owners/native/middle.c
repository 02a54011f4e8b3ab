/* SPDX-License-Identifier: MIT */
/* OWNER cursor in global: 64 KiB */
/* A pointer into the middle of the memory, which is all that is left. */
#include "scene.h"

static CUdeviceptr cursor;

int main(int argc, char **argv) {
    SCENE(argc, argv);
    cursor = ALLOC(64 * KIB) + 4096;
    KEEP(cursor);
    return 0;
}
