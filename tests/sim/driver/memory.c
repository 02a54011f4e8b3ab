/* SPDX-License-Identifier: MIT */
/*
 * Device memory of the simulated driver: cuMemAlloc and related functions, cuMemGetInfo, and memory
 * for pools and graphs. Exact by design: all bytes of a device can be allocated, and no more.
 */
#include "driver.h"

#include <stdlib.h>
#include <sys/mman.h>

#define PITCH_ALIGNMENT 512
#define LOW_SPACE       ((size_t)1 << 30)
#define SPACE_PER_DEVICE                                                                           \
    16 /* times its memory: ranges of one size class are not cut up for another */

/* The v1 functions return 32-bit addresses. */
static struct sim_arena low_arena;

static struct sim_arena *arena_of(struct sim_device *device, bool low) {
    struct sim_arena *arena = low ? &low_arena : &device->arena;
    if (arena->base == 0) {
        size_t space = low ? LOW_SPACE : device->total * SPACE_PER_DEVICE + ((size_t)1 << 30);
        while (!sim_arena_open(arena, space, low)) {
            space /= 2;
            if (space < SIM_GRANULE)
                return NULL;
        }
    }
    return arena;
}

void *sim_memory_space(struct sim_device *device, size_t bytes, size_t *span) {
    struct sim_arena *arena = arena_of(device, false);
    return arena != NULL ? (void *)sim_arena_take(arena, bytes, span) : NULL;
}

CUresult sim_memory_alloc(struct sim_context *context, struct sim_device *device, size_t bytes,
                          enum vramtrace_sim_kind kind, enum sim_block_owner owner, bool low,
                          struct sim_block **out) {
    bool charged = kind == VRAMTRACE_SIM_LINEAR;
    if (charged && !sim_charge(device, bytes)) {
        if (!sim_pool_give_back(device, bytes) || !sim_charge(device, bytes))
            return CUDA_ERROR_OUT_OF_MEMORY;
    }
    struct sim_arena *arena = arena_of(device, low);
    struct sim_block *block = calloc(1, sizeof *block);
    if (arena != NULL && block != NULL) {
        block->start = sim_arena_take(arena, bytes, &block->span);
        if (block->start != 0) {
            block->bytes = bytes;
            block->owner = owner;
            block->kind = kind;
            block->arena = arena;
            block->device = device;
            block->context = context;
            block->charged = charged ? bytes : 0;
            block->id = ++sim.next_id;
            if (sim_block_insert(block)) {
                if (owner != SIM_OWNER_GLOBAL) /* no call asked for a module's variable */
                    sim_count(device, kind, (int64_t)bytes, 1);
                *out = block;
                return CUDA_SUCCESS;
            }
            sim_arena_give(arena, block->start, block->span, false);
        }
    }
    free(block);
    if (charged)
        sim_refund(device, bytes);
    return CUDA_ERROR_OUT_OF_MEMORY;
}

void sim_memory_release(struct sim_block *block) {
    sim_block_remove(block);
    sim_refund(block->device, block->charged);
    if (block->owner != SIM_OWNER_GLOBAL)
        sim_count(block->device, block->kind, -(int64_t)block->bytes, -1);
    if (block->arena != NULL)
        sim_arena_give(block->arena, block->start, block->span, block->touched);
    else if (block->owner != SIM_OWNER_USER && block->owner != SIM_OWNER_GRAPH)
        munmap((void *)block->start, block->span);
    free(block);
}

static void release_of_context(struct sim_block *block, void *context) {
    if (block->context == context)
        sim_memory_release(block);
}

void sim_memory_release_all(struct sim_context *context) {
    sim_block_each(release_of_context, context);
}

/* A fresh mapping allows nothing until cuMemSetAccess says so. */
static bool mapped_allows(const struct sim_block *block, bool write) {
    return block->flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE ||
           (!write && block->flags == CU_MEM_ACCESS_FLAGS_PROT_READ);
}

void *sim_memory_range(CUdeviceptr address, size_t bytes, bool write) {
    struct sim_block *block = sim_block_at((uintptr_t)address);
    if (block == NULL || block->owner == SIM_OWNER_RESERVED)
        return NULL;
    size_t offset = (uintptr_t)address - block->start;
    if (bytes > block->bytes - offset && block->owner != SIM_OWNER_MAPPED)
        return NULL;
    if (block->owner == SIM_OWNER_MAPPED && !mapped_allows(block, write))
        return NULL;
    block->touched |= write;
    /* Mappings side by side are one piece to a program. */
    while (block->owner == SIM_OWNER_MAPPED && bytes > block->bytes - offset) {
        bytes -= block->bytes - offset;
        offset = 0;
        block = sim_block_starting(block->start + block->bytes);
        if (block == NULL || block->owner != SIM_OWNER_MAPPED || !mapped_allows(block, write))
            return NULL;
        block->touched |= write;
    }
    return (void *)(uintptr_t)address;
}

/* ---- allocate ---- */

static CUresult linear_alloc(CUdeviceptr *out, size_t bytes, bool low) {
    SIM_ENTER_CONTEXT(context);
    struct sim_block *block;
    if (out == NULL || bytes == 0)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = sim_memory_alloc(context, context->device, bytes, VRAMTRACE_SIM_LINEAR,
                                       SIM_OWNER_DRIVER, low, &block);
    if (result == CUDA_SUCCESS)
        *out = block->start;
    return result;
}

CUresult cuMemAlloc_v2(CUdeviceptr *out, size_t bytes) {
    return linear_alloc(out, bytes, false);
}

CUresult cuMemAlloc(CUdeviceptr_v1 *out, unsigned int bytes) {
    CUdeviceptr address;
    CUresult result = linear_alloc(out != NULL ? &address : NULL, bytes, true);
    if (result == CUDA_SUCCESS)
        *out = (CUdeviceptr_v1)address;
    return result;
}

static CUresult pitched_alloc(CUdeviceptr *out, size_t *pitch, size_t width, size_t height,
                              unsigned element, bool low) {
    if (out == NULL || pitch == NULL || width == 0 || height == 0 ||
        (element != 4 && element != 8 && element != 16))
        return CUDA_ERROR_INVALID_VALUE;
    if (width > SIZE_MAX - PITCH_ALIGNMENT)
        return CUDA_ERROR_INVALID_VALUE;
    size_t wide = (width + PITCH_ALIGNMENT - 1) / PITCH_ALIGNMENT * PITCH_ALIGNMENT;
    if (height > SIZE_MAX / wide)
        return CUDA_ERROR_OUT_OF_MEMORY;
    CUresult result = linear_alloc(out, wide * height, low);
    if (result == CUDA_SUCCESS)
        *pitch = wide;
    return result;
}

CUresult cuMemAllocPitch_v2(CUdeviceptr *out, size_t *pitch, size_t width, size_t height,
                            unsigned int element) {
    return pitched_alloc(out, pitch, width, height, element, false);
}

CUresult cuMemAllocPitch(CUdeviceptr_v1 *out, unsigned int *pitch, unsigned int width,
                         unsigned int height, unsigned int element) {
    CUdeviceptr address;
    size_t wide;
    CUresult result = pitched_alloc(out != NULL ? &address : NULL, pitch != NULL ? &wide : NULL,
                                    width, height, element, true);
    if (result == CUDA_SUCCESS) {
        *out = (CUdeviceptr_v1)address;
        *pitch = (unsigned int)wide;
    }
    return result;
}

/* Managed memory lives on the host until it is prefetched: it takes nothing off the device here,
 * and more of it than the device has is allowed. */
CUresult cuMemAllocManaged(CUdeviceptr *out, size_t bytes, unsigned int flags) {
    SIM_ENTER_CONTEXT(context);
    struct sim_block *block;
    if (out == NULL || bytes == 0 || (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST))
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = sim_memory_alloc(context, context->device, bytes, VRAMTRACE_SIM_MANAGED,
                                       SIM_OWNER_DRIVER, false, &block);
    if (result != CUDA_SUCCESS)
        return result;
    block->flags = flags;
    block->touched = true; /* the program writes to it behind our back */
    *out = block->start;
    return CUDA_SUCCESS;
}

/* ---- free ---- */

static CUresult linear_free(CUdeviceptr address) {
    SIM_ENTER();
    if (address == 0)
        return CUDA_SUCCESS;
    struct sim_block *block = sim_block_starting((uintptr_t)address);
    if (block == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    switch (block->owner) {
    case SIM_OWNER_DRIVER:
        if (block->kind == VRAMTRACE_SIM_HOST)
            return CUDA_ERROR_INVALID_VALUE;
        sim_memory_release(block);
        return CUDA_SUCCESS;
    case SIM_OWNER_POOL:
    case SIM_OWNER_GRAPH:
        return sim_pool_free(block);
    case SIM_OWNER_IMPORTED:
        if (block->uses != 0) /* of IPC: it has its own way back */
            return CUDA_ERROR_INVALID_VALUE;
        sim_memory_release(block);
        return CUDA_SUCCESS;
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
}

CUresult cuMemFree_v2(CUdeviceptr address) {
    return linear_free(address);
}
CUresult cuMemFree(CUdeviceptr_v1 address) {
    return linear_free(address);
}

/* ---- ask ---- */

static CUresult get_info(size_t *available, size_t *total) {
    SIM_ENTER_CONTEXT(context);
    if (available == NULL || total == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *available = context->device->total - context->device->used;
    *total = context->device->total;
    return CUDA_SUCCESS;
}

CUresult cuMemGetInfo_v2(size_t *available, size_t *total) {
    return get_info(available, total);
}

CUresult cuMemGetInfo(unsigned int *available, unsigned int *total) {
    size_t wide_available, wide_total;
    CUresult result =
        get_info(available != NULL ? &wide_available : NULL, total != NULL ? &wide_total : NULL);
    if (result == CUDA_SUCCESS) {
        *available = wide_available > UINT32_MAX ? UINT32_MAX : (unsigned int)wide_available;
        *total = wide_total > UINT32_MAX ? UINT32_MAX : (unsigned int)wide_total;
    }
    return result;
}

static CUresult address_range(CUdeviceptr *base, size_t *bytes, CUdeviceptr address) {
    SIM_ENTER();
    struct sim_block *block = sim_block_at((uintptr_t)address);
    if (block == NULL || block->owner == SIM_OWNER_RESERVED)
        return CUDA_ERROR_NOT_FOUND;
    if (base != NULL)
        *base = block->start;
    if (bytes != NULL)
        *bytes = block->bytes;
    return CUDA_SUCCESS;
}

CUresult cuMemGetAddressRange_v2(CUdeviceptr *base, size_t *bytes, CUdeviceptr address) {
    return address_range(base, bytes, address);
}

CUresult cuMemGetAddressRange(CUdeviceptr_v1 *base, unsigned int *bytes, CUdeviceptr_v1 address) {
    CUdeviceptr wide_base;
    size_t wide_bytes;
    CUresult result = address_range(&wide_base, &wide_bytes, address);
    if (result == CUDA_SUCCESS && base != NULL)
        *base = (CUdeviceptr_v1)wide_base;
    if (result == CUDA_SUCCESS && bytes != NULL)
        *bytes = (unsigned int)wide_bytes;
    return result;
}

/* ---- where managed memory resides ---- */

static CUresult prefetch(CUdeviceptr address, size_t bytes, CUmemLocationType where, int id) {
    SIM_ENTER_CONTEXT(context);
    (void)context;
    struct sim_block *block = sim_block_at((uintptr_t)address);
    if (bytes == 0 || block == NULL || block->kind != VRAMTRACE_SIM_MANAGED ||
        bytes > block->start + block->bytes - (uintptr_t)address)
        return CUDA_ERROR_INVALID_VALUE;
    if (where == CU_MEM_LOCATION_TYPE_DEVICE && sim_device_get(id) == NULL)
        return CUDA_ERROR_INVALID_DEVICE;
    if (where != CU_MEM_LOCATION_TYPE_DEVICE) {
        size_t less = bytes < block->charged ? bytes : block->charged;
        sim_refund(block->device, less);
        block->charged -= less;
    } else if (id == block->device->ordinal) {
        size_t room = block->device->total - block->device->used;
        size_t more = block->bytes - block->charged;
        more = more < bytes ? more : bytes;
        more = more < room ? more : room; /* what does not fit stays where it is */
        sim_charge(block->device, more);
        block->charged += more;
    }
    return CUDA_SUCCESS;
}

static CUresult cuMemPrefetchAsync_on(CUdeviceptr address, size_t bytes, CUdevice device,
                                      CUstream stream) {
    (void)stream;
    return prefetch(
        address, bytes,
        device == CU_DEVICE_CPU ? CU_MEM_LOCATION_TYPE_HOST : CU_MEM_LOCATION_TYPE_DEVICE, device);
}

static CUresult cuMemPrefetchAsync_v2_on(CUdeviceptr address, size_t bytes, CUmemLocation location,
                                         unsigned int flags, CUstream stream) {
    (void)stream;
    return flags != 0 ? CUDA_ERROR_INVALID_VALUE
                      : prefetch(address, bytes, location.type, location.id);
}

SIM_TWINS(cuMemPrefetchAsync, _ptsz,
          (CUdeviceptr address, size_t bytes, CUdevice device, CUstream stream),
          (address, bytes, device, stream), (address, bytes, device, SIM_PT(stream)))
SIM_TWINS(cuMemPrefetchAsync_v2, _ptsz,
          (CUdeviceptr address, size_t bytes, CUmemLocation location, unsigned int flags,
           CUstream stream),
          (address, bytes, location, flags, stream),
          (address, bytes, location, flags, SIM_PT(stream)))

static CUresult advise(CUdeviceptr address, size_t bytes) {
    SIM_ENTER_CONTEXT(context);
    (void)context;
    struct sim_block *block = sim_block_at((uintptr_t)address);
    return bytes == 0 || block == NULL || block->kind != VRAMTRACE_SIM_MANAGED
               ? CUDA_ERROR_INVALID_VALUE
               : CUDA_SUCCESS;
}

CUresult cuMemAdvise(CUdeviceptr address, size_t bytes, CUmem_advise advice, CUdevice device) {
    (void)advice;
    (void)device;
    return advise(address, bytes);
}

CUresult cuMemAdvise_v2(CUdeviceptr address, size_t bytes, CUmem_advise advice,
                        CUmemLocation location) {
    (void)advice;
    (void)location;
    return advise(address, bytes);
}
