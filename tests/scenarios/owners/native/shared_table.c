/* SPDX-License-Identifier: MIT */
/* OWNER table in global: 4 x 16 KiB */
/* SLOT table: 4 x 16 KiB */
/* A table in memory that is shared with child processes. */
#include "scene.h"

#include <sys/mman.h>

static CUdeviceptr *table;

int main(int argc, char **argv) {
    SCENE(argc, argv);
    table = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    for (int i = 0; i < 4; i++)
        table[i] = ALLOC(16 * KIB);
    return 0;
}
