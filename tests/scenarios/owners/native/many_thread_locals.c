/* SPDX-License-Identifier: MIT */
/* OWNER second in thread_local: 64 KiB, 16 KiB */
/* OWNER last in thread_local: 32 KiB */
/* SLOT second: 2 x 40 KiB */
/* Large ones, aligned, with and without values to begin with. */
#include "scene.h"

static __thread int version = 7;
static __thread CUdeviceptr first[300], second[2];
static __thread struct {
    _Alignas(256) char name[256];
    CUdeviceptr memory;
} last;

int main(int argc, char **argv) {
    SCENE(argc, argv);
    first[0] = (CUdeviceptr)version;
    second[0] = ALLOC(64 * KIB);
    second[1] = ALLOC(16 * KIB);
    last.memory = ALLOC(32 * KIB);
    KEEP(first);
    KEEP(second);
    KEEP(last);
    return 0;
}
