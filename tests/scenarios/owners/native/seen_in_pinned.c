/* SPDX-License-Identifier: MIT */
/* OWNER nobody: 64 KiB, 32 KiB */
/* LAST 16.0 KiB of pinned host memory */
/* A table in pinned memory, whose address is stored with a key. */
#include "scene.h"

static uintptr_t secret;

int main(int argc, char **argv) {
    SCENE(argc, argv);
    CUdeviceptr *table;
    CHECK(cuMemAllocHost_v2((void **)&table, 16 * KIB));
    table[0] = ALLOC(64 * KIB);
    table[1] = ALLOC(32 * KIB);
    secret = (uintptr_t)table ^ 0x5a5a5a5a5a5a5a5a;
    KEEP(secret);
    return 0;
}
