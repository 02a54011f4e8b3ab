/* SPDX-License-Identifier: MIT */
/* A runtime that calls the driver, and raises a signal in the middle of one size. */
#include "../../../cuda_case.h"

#include <signal.h>

int cudaMalloc(void **p, size_t n);
int cudaFree(void *p);

int cudaMalloc(void **p, size_t n) {
    CUdeviceptr q;
    if (n == 4097)
        raise(SIGALRM);
    CHECK(cuMemAlloc_v2(&q, n));
    *p = (void *)(uintptr_t)q;
    return 0;
}

int cudaFree(void *p) {
    return cuMemFree_v2((CUdeviceptr)(uintptr_t)p);
}
