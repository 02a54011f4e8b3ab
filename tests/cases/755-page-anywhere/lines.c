/* SPDX-License-Identifier: MIT */
/* Lines that hold more on one device than on the other, one that leaks from one caller and not from the other, many that hold
 * most before the peak; a phase, a mark, an allocation that fails. */
#include "../../cuda_case.h"

#include <vramtrace.h>

#define MIB        (1u << 20)
#define TAKE(size) CHECK(cuMemAlloc_v2(&early[count++], (size)*MIB))

__attribute__((noinline)) static CUdeviceptr helper(size_t bytes) {
    CUdeviceptr p;
    CHECK(cuMemAlloc_v2(&p, bytes)); /* one line, two call sites */
    __asm__ volatile("" ::: "memory");
    return p;
}

__attribute__((noinline)) static void keep(void) {
    helper(6 * MIB);
    __asm__ volatile("" ::: "memory");
}

/* What both devices hold at the same lines, in another order. */
__attribute__((noinline)) static void hold(unsigned first, unsigned second, CUdeviceptr kept[2]) {
    CHECK(cuMemAlloc_v2(&kept[0], first * MIB));
    CHECK(cuMemAlloc_v2(&kept[1], second * MIB));
}

int main(void) {
    CUcontext contexts[2];
    CUdeviceptr early[20], kept[2][2], freed, none;
    int count = 0;
    CHECK(cuInit(0));
    for (int i = 0; i < 2; i++)
        CHECK(cuCtxCreate_v2(&contexts[i], 0, i));
    CHECK(cuCtxSetCurrent(contexts[0]));
    vramtrace_push("early");
    TAKE(1);
    TAKE(2);
    TAKE(3);
    TAKE(4);
    TAKE(5);
    TAKE(6);
    TAKE(7);
    TAKE(8);
    TAKE(1);
    TAKE(2);
    TAKE(3);
    TAKE(4);
    TAKE(5);
    TAKE(6);
    TAKE(7);
    TAKE(8);
    TAKE(1);
    TAKE(2);
    TAKE(3);
    TAKE(4);
    while (count)
        CHECK(cuMemFree_v2(early[--count]));
    vramtrace_pop();
    vramtrace_mark("both devices");
    freed = helper(30 * MIB);
    keep();
    for (int i = 0; i < 2; i++) {
        CHECK(cuCtxSetCurrent(contexts[i]));
        hold(i ? 8 : 70, i ? 90 : 50, kept[i]);
    }
    EXPECT(cuMemAlloc_v2(&none, (size_t)1 << 42) == CUDA_ERROR_OUT_OF_MEMORY);
    CHECK(cuMemFree_v2(freed));
    for (int i = 0; i < 4; i++)
        CHECK(cuMemFree_v2(kept[i / 2][i % 2]));
    return 0;
}
