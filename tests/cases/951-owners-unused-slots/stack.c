/* SPDX-License-Identifier: MIT */
/* A stack of handles and its count: what was popped is forgotten, and stands in its slot still. */
#include "../../cuda_case.h"

static struct {
    unsigned count;
    CUdeviceptr held[6];
} stack;

int main(void) {
    start_cuda();
    while (stack.count < 5)
        CHECK(cuMemAlloc_v2(&stack.held[stack.count++], 1 << 20));
    stack.count -= 2;
    __asm__ volatile("" : : "r"(&stack) : "memory");
    return 0;
}
