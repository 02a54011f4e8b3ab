/* SPDX-License-Identifier: MIT */
/*
 * Pinned host memory of the simulated driver: allocated, or registered by the program. Destroying
 * the context frees it, as in the real driver.
 */
#include "driver.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static CUresult host_alloc(void **out, size_t bytes, unsigned flags) {
    SIM_ENTER_CONTEXT(context);
    if (out == NULL || bytes == 0 || (flags & ~7U) != 0)
        return CUDA_ERROR_INVALID_VALUE;
    struct sim_block *block = calloc(1, sizeof *block);
    size_t span = bytes <= SIZE_MAX - 4095 ? (bytes + 4095) & ~(size_t)4095 : 0;
    if (block == NULL || span == 0) {
        free(block);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    void *start = mmap(NULL, span, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (start == MAP_FAILED) {
        free(block);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    block->start = (uintptr_t)start;
    block->bytes = bytes;
    block->span = span;
    block->owner = SIM_OWNER_DRIVER;
    block->kind = VRAMTRACE_SIM_HOST;
    block->device = context->device;
    block->context = context;
    block->flags = flags;
    block->id = ++sim.next_id;
    sim_block_insert(block);
    sim_count(block->device, VRAMTRACE_SIM_HOST, (int64_t)bytes, 1);
    *out = start;
    return CUDA_SUCCESS;
}

CUresult cuMemHostAlloc(void **out, size_t bytes, unsigned int flags) {
    return host_alloc(out, bytes, flags);
}

CUresult cuMemAllocHost_v2(void **out, size_t bytes) {
    return host_alloc(out, bytes, 0);
}
CUresult cuMemAllocHost(void **out, unsigned int bytes) {
    return host_alloc(out, bytes, 0);
}

CUresult cuMemFreeHost(void *address) {
    SIM_ENTER();
    struct sim_block *block = sim_block_starting((uintptr_t)address);
    if (block == NULL || block->kind != VRAMTRACE_SIM_HOST || block->owner != SIM_OWNER_DRIVER)
        return CUDA_ERROR_INVALID_VALUE;
    sim_memory_release(block);
    return CUDA_SUCCESS;
}

static CUresult host_register(void *address, size_t bytes, unsigned flags) {
    SIM_ENTER_CONTEXT(context);
    if (address == NULL || bytes == 0 || (flags & ~15U) != 0 ||
        bytes > UINTPTR_MAX - (uintptr_t)address)
        return CUDA_ERROR_INVALID_VALUE;
    struct sim_block *block = calloc(1, sizeof *block);
    if (block == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    block->start = (uintptr_t)address;
    block->bytes = block->span = bytes;
    block->owner = SIM_OWNER_USER;
    block->kind = VRAMTRACE_SIM_REGISTERED;
    block->device = context->device;
    block->context = context;
    block->flags = flags;
    block->id = ++sim.next_id;
    if (!sim_block_insert(block)) {
        free(block);
        return CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
    }
    sim_count(block->device, VRAMTRACE_SIM_REGISTERED, (int64_t)bytes, 1);
    return CUDA_SUCCESS;
}

CUresult cuMemHostRegister_v2(void *address, size_t bytes, unsigned int flags) {
    return host_register(address, bytes, flags);
}

CUresult cuMemHostRegister(void *address, size_t bytes, unsigned int flags) {
    return host_register(address, bytes, flags);
}

CUresult cuMemHostUnregister(void *address) {
    SIM_ENTER_CONTEXT(context);
    (void)context;
    struct sim_block *block = sim_block_starting((uintptr_t)address);
    if (block == NULL || block->kind != VRAMTRACE_SIM_REGISTERED)
        return CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
    sim_memory_release(block);
    return CUDA_SUCCESS;
}

static struct sim_block *host_block(const void *address) {
    struct sim_block *block = sim_block_at((uintptr_t)address);
    return block != NULL &&
                   (block->kind == VRAMTRACE_SIM_HOST || block->kind == VRAMTRACE_SIM_REGISTERED)
               ? block
               : NULL;
}

static CUresult device_pointer(CUdeviceptr *out, void *address, unsigned int flags) {
    SIM_ENTER_CONTEXT(context);
    (void)context;
    if (out == NULL || flags != 0 || host_block(address) == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *out = (CUdeviceptr)(uintptr_t)address; /* one address space */
    return CUDA_SUCCESS;
}

CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr *out, void *address, unsigned int flags) {
    return device_pointer(out, address, flags);
}

CUresult cuMemHostGetDevicePointer(CUdeviceptr_v1 *out, void *address, unsigned int flags) {
    CUdeviceptr wide;
    CUresult result = device_pointer(out != NULL ? &wide : NULL, address, flags);
    if (result == CUDA_SUCCESS && wide > UINT32_MAX)
        return CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        *out = (CUdeviceptr_v1)wide;
    return result;
}

CUresult cuMemHostGetFlags(unsigned int *flags, void *address) {
    SIM_ENTER_CONTEXT(context);
    (void)context;
    struct sim_block *block = host_block(address);
    if (flags == NULL || block == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *flags = block->flags | CU_MEMHOSTALLOC_DEVICEMAP;
    return CUDA_SUCCESS;
}
