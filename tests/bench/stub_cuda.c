/* SPDX-License-Identifier: MIT */
/*
 * A CUDA driver that costs nothing: allocations are malloc's. It lets the benchmark put vramtrace,
 * which sees cuMemAlloc, and heaptrack, which sees malloc, on the very same program. Built as
 * build/bench/libcuda.so.1; used by tests/bench/pairs.c.
 */
#include <stdint.h>
#include <stdlib.h>

#include "../sim/cuda_abi_sim.h"

#define EXPORT __attribute__((visibility("default")))

EXPORT CUresult cuInit(unsigned int flags);
EXPORT CUresult cuDeviceGet(CUdevice *device, int ordinal);
EXPORT CUresult cuCtxCreate_v2(CUcontext *context, unsigned int flags, CUdevice device);
EXPORT CUresult cuMemAlloc_v2(CUdeviceptr *address, size_t bytes);
EXPORT CUresult cuMemFree_v2(CUdeviceptr address);

CUresult cuInit(unsigned int flags) {
    return flags ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult cuDeviceGet(CUdevice *device, int ordinal) {
    *device = ordinal;
    return CUDA_SUCCESS;
}

CUresult cuCtxCreate_v2(CUcontext *context, unsigned int flags, CUdevice device) {
    static int only_one;

    (void)flags;
    (void)device;
    *context = (CUcontext)&only_one;
    return CUDA_SUCCESS;
}

CUresult cuMemAlloc_v2(CUdeviceptr *address, size_t bytes) {
    *address = (CUdeviceptr)(uintptr_t)malloc(bytes);
    return *address ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult cuMemFree_v2(CUdeviceptr address) {
    free((void *)(uintptr_t)address);
    return CUDA_SUCCESS;
}
