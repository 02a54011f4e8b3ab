/* SPDX-License-Identifier: MIT */
/* A driver without locks, so that a signal handler may call it while its thread is inside; counts
 * what is live. */
#include "../../../cuda_case.h"

static CUdeviceptr next = 0x7000000;
static unsigned long live;

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

CUresult cuCtxSetCurrent(CUcontext c) {
    (void)c;
    return 0;
}

CUresult cuMemAlloc_v2(CUdeviceptr *p, size_t n) {
    *p = __atomic_fetch_add(&next, (n + 511) & ~511ul, __ATOMIC_RELAXED);
    __atomic_fetch_add(&live, 1, __ATOMIC_RELAXED);
    return 0;
}

CUresult cuMemFree_v2(CUdeviceptr p) {
    (void)p;
    __atomic_fetch_add(&live, -1ul, __ATOMIC_RELAXED);
    return 0;
}

uint64_t vramtrace_sim_live_count(int device) {
    (void)device;
    return live;
}
