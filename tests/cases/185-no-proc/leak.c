/* SPDX-License-Identifier: MIT */
/* Allocates ten blocks in `grow`, frees nine, and forgets the tenth. */
#include "../../cuda_case.h"

static __attribute__((noinline)) void grow(CUdeviceptr *block) {
    CHECK(cuMemAlloc_v2(block, 1 << 20));
}

int main(void) {
    static CUdeviceptr blocks[10];
    start_cuda();
    for (int i = 0; i < 10; i++)
        grow(&blocks[i]);
    for (int i = 0; i < 9; i++)
        CHECK(cuMemFree_v2(blocks[i]));
    return 3;
}
