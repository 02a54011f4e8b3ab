/* SPDX-License-Identifier: MIT */
/* A table of 64 slots, of which two lines fill some: 20 and 4. */
#include "cuda_case.h"

static CUdeviceptr table[64];

int main(void) {
    start_cuda();
    for (int i = 0; i < 20; i++)
        CHECK(cuMemAlloc_v2(&table[i], 4096));
    for (int i = 20; i < 24; i++)
        CHECK(cuMemAlloc_v2(&table[i], 8192));
    return 0;
}
