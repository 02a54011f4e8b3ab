/* SPDX-License-Identifier: MIT */
/* Allocations that a block of the heap, a variable, and nothing points to. */
#include "../../cuda_case.h"

#include <string.h>

CUdeviceptr *on_heap, direct, given_up; /* not static: they are written only */

static CUdeviceptr make(void) {
    CUdeviceptr made;
    CHECK(cuMemAlloc_v2(&made, 65536));
    return made;
}

static __attribute__((noinline)) void fill(int all) {
    on_heap[0] = make();
    if (!all)
        return;
    direct = make();
    given_up = make();
    given_up = 0;
}

int main(int argc, char **argv) {
    (void)argv;
    start_cuda();
    on_heap = malloc(sizeof *on_heap);
    fill(argc == 1);
    volatile char over[4096];
    memset((char *)over, 0, sizeof over);
    return over[100];
}
