/* SPDX-License-Identifier: MIT */
/* OWNER table in global: 16 x 16 KiB */
/* SLOT table: 16 x 16 KiB */
/* A table that was mapped. */
#include "scene.h"

#include <sys/mman.h>

static CUdeviceptr *table;

int main(int argc, char **argv) {
    SCENE(argc, argv);
    table = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (int i = 0; i < 16; i++)
        table[i * 1000] = ALLOC(16 * KIB);
    return 0;
}
