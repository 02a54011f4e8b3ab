/* SPDX-License-Identifier: MIT */
/* A driver that writes to nothing: each thread gets the address that it asked for last. */
#include "../../../cuda_case.h"

__thread CUdeviceptr wanted;

CUresult cuInit(unsigned flags) {
    (void)flags;
    return 0;
}

CUresult cuCtxCreate_v2(CUcontext *c, unsigned flags, CUdevice device) {
    (void)flags;
    (void)device;
    *c = (CUcontext)0x1000;
    return 0;
}

CUresult cuMemAlloc_v2(CUdeviceptr *p, size_t n) {
    (void)n;
    *p = wanted;
    return 0;
}

CUresult cuMemFree_v2(CUdeviceptr p) {
    (void)p;
    return 0;
}
