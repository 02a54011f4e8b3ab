/* SPDX-License-Identifier: MIT */
/* Keeps one allocation; nothing is said. */
#include "cuda_case.h"

int main(void) {
    CUdeviceptr p;
    start_cuda();
    CHECK(cuMemAlloc_v2(&p, 4096));
    return 0;
}
