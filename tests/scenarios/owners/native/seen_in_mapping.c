/* SPDX-License-Identifier: MIT */
/* OWNER nobody: 64 KiB, 32 KiB */
/* LAST 8.00 KiB of mapped memory */
/* A table that was mapped, whose address is stored with a key. */
#include "scene.h"

#include <sys/mman.h>

static uintptr_t secret;

int main(int argc, char **argv) {
    SCENE(argc, argv);
    char *map = mmap(NULL, 16384, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CUdeviceptr *table = (CUdeviceptr *)(map + 4096);
    mprotect(table, 8192, PROT_READ | PROT_WRITE);
    table[0] = ALLOC(64 * KIB);
    table[600] = ALLOC(32 * KIB);
    secret = (uintptr_t)table ^ 0x5a5a5a5a5a5a5a5a;
    KEEP(secret);
    return 0;
}
