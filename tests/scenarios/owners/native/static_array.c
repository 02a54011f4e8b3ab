/* SPDX-License-Identifier: MIT */
/* OWNER table in global: 4 x 64 KiB, 128 KiB */
/* SLOT table: 4 x 64 KiB, 128 KiB */
/* A static array. */
#include "scene.h"

static CUdeviceptr table[8];

int main(int argc, char **argv) {
    SCENE(argc, argv);
    for (int i = 0; i < 4; i++)
        table[i] = ALLOC(64 * KIB);
    table[6] = ALLOC(128 * KIB);
    KEEP(table);
    return 0;
}
