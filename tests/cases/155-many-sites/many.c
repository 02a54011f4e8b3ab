/* SPDX-License-Identifier: MIT */
/* many STACKS KEPT: allocates by as many distinct stacks as it is told: the bits of a number choose the functions on the way. It
 * frees what it has, but for each KEPTth block. One line keeps a block each hundredth time, and another one works throughout.
 * Half-way a request is larger than the device. */
#include "../../cuda_case.h"

#include <time.h>

enum { BITS = 16 };

static void walk(unsigned number, int bits, int keeps);

static __attribute__((noinline)) void leaf(int keeps) {
    CUdeviceptr block;
    CHECK(cuMemAlloc_v2(&block, 512));
    if (!keeps)
        CHECK(cuMemFree_v2(block));
}

static __attribute__((noinline)) void zero(unsigned number, int bits, int keeps) {
    walk(number, bits, keeps);
    __asm__ volatile("");
}

static __attribute__((noinline)) void one(unsigned number, int bits, int keeps) {
    walk(number, bits, keeps);
    __asm__ volatile("");
}

static __attribute__((noinline)) void walk(unsigned number, int bits, int keeps) {
    if (!bits)
        leaf(keeps);
    else if (number & 1)
        one(number >> 1, bits - 1, keeps);
    else
        zero(number >> 1, bits - 1, keeps);
    __asm__ volatile("");
}

static __attribute__((noinline)) void keep(void) {
    CUdeviceptr block;
    CHECK(cuMemAlloc_v2(&block, 4096));
}

static __attribute__((noinline)) void work(void) {
    CUdeviceptr block;
    CHECK(cuMemAlloc_v2(&block, 2048));
    CHECK(cuMemFree_v2(block));
}

static __attribute__((noinline)) void ask_too_much(void) {
    CUdeviceptr block;
    EXPECT(cuMemAlloc_v2(&block, (size_t)1 << 40) == CUDA_ERROR_OUT_OF_MEMORY);
}

int main(int argc, char **argv) {
    EXPECT(argc > 2);
    int stacks = atoi(argv[1]), kept = atoi(argv[2]);
    start_cuda();
    for (int i = 0; i < stacks; i++) {
        walk((unsigned)i, BITS, i % kept == kept - 1);
        work();
        if (i % 100 == 99)
            keep();
        if (i % 25 == 24) /* no program does nothing but allocate */
            nanosleep(&(struct timespec){0, 1000000}, NULL);
        if (i == stacks / 2)
            ask_too_much();
    }
    return 0;
}
