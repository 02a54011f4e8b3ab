/* SPDX-License-Identifier: MIT */
/*
 * A CUDA driver that costs nothing: allocations are malloc's. It lets the benchmark put vramtrace,
 * which sees cuMemAlloc, and heaptrack, which sees malloc, on the very same program. It also has
 * the function to which PyTorch's allocator reports its blocks, and one that says to callgrind
 * between which two moments it counts. Built as build/bench/libcuda.so.1; used by pairs.c, pairs.py.
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
EXPORT void _ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE(void *block, int64_t size,
                                                                  size_t allocated, size_t reserved,
                                                                  uint64_t device);
EXPORT void count_instructions(int on);

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

void _ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE(void *block, int64_t size,
                                                           size_t allocated, size_t reserved,
                                                           uint64_t device) {
    (void)block;
    (void)size;
    (void)allocated;
    (void)reserved;
    (void)device;
}

/* Valgrind's request to its tool, as valgrind.h has it: four rotations that change nothing and an
 * exchange that means nothing to a processor. Its headers need not be installed this way. */
void count_instructions(int on) {
#ifdef __x86_64__
    enum { TOGGLE_COLLECT = 0x43540002, START_INSTRUMENTATION = 0x43540004 };
    volatile uint64_t request[6] = {on ? START_INSTRUMENTATION : TOGGLE_COLLECT};
    uint64_t result = 0;

    __asm__ volatile("rolq $3, %%rdi; rolq $13, %%rdi; rolq $61, %%rdi; rolq $51, %%rdi\n\t"
                     "xchgq %%rbx, %%rbx"
                     : "+d"(result)
                     : "a"(&request[0])
                     : "cc", "memory", "rdi");
#else
    (void)on;
#endif
}
