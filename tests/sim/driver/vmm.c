/* SPDX-License-Identifier: MIT */
/*
 * Virtual memory management of the simulated driver. Physical memory is a part of an unnamed file,
 * one for each device, so it can be mapped at several addresses; reserved addresses are mapped
 * without access. Memory is freed with its last handle or mapping, whichever goes last,
 * independently of contexts.
 */
#include "vmm.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct sim_physical *sim_physicals;

/* Offsets are handed out by the address allocator, in a range that nothing else uses. */
static struct backing {
    int file;
    struct sim_arena offsets;
} backings[SIM_MAX_DEVICES];

static struct backing *backing_of(const struct sim_device *device) {
    struct backing *backing = &backings[device->ordinal];
    if (backing->offsets.base == 0) {
        size_t space = device->total * 4 + ((size_t)1 << 30);
        backing->file = memfd_create("vramtrace-sim-device", MFD_CLOEXEC);
        if (backing->file < 0 || !sim_file_grow(backing->file, space) ||
            !sim_arena_open(&backing->offsets, space - SIM_GRANULE, false))
            return NULL;
    }
    return backing;
}

int sim_physical_file(struct sim_physical *physical, size_t *offset) {
    if (physical->file >= 0) {
        *offset = 0;
        return physical->file;
    }
    *offset = physical->offset;
    return backings[physical->device->ordinal].file;
}

struct sim_physical *sim_physical_get(CUmemGenericAllocationHandle handle) {
    struct sim_physical *physical =
        sim_object_get((const void *)(uintptr_t)handle, SIM_OBJECT_PHYSICAL);
    return physical != NULL && physical->handles > 0 ? physical : NULL;
}

struct sim_physical *sim_physical_new(struct sim_device *device, size_t size,
                                      enum vramtrace_sim_kind kind) {
    struct sim_physical *physical =
        sim_object_new(sizeof *physical, SIM_OBJECT_PHYSICAL, NULL, NULL);
    if (physical == NULL)
        return NULL;
    physical->device = device;
    physical->size = size;
    physical->kind = kind;
    physical->file = -1;
    physical->handles = 1;
    physical->next = sim_physicals;
    sim_physicals = physical;
    return physical;
}

void sim_physical_settle(struct sim_physical *physical) {
    if (physical->handles > 0 || physical->uses > 0)
        return;
    if (physical->bound != NULL) {
        physical->bound->uses--;
        sim_physical_settle(physical->bound);
    }
    sim_refund(physical->device, physical->charged);
    if (!physical->multicast)
        sim_count(physical->device, physical->kind, -(int64_t)physical->size, -1);
    if (physical->span != 0) {
        struct backing *backing = &backings[physical->device->ordinal];
        fallocate(backing->file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                  (off_t)physical->offset, (off_t)physical->size);
        sim_arena_give(&backing->offsets, backing->offsets.base + physical->offset, physical->span,
                       false);
    }
    if (physical->file >= 0)
        close(physical->file);
    for (struct sim_physical **it = &sim_physicals; *it != NULL; it = &(*it)->next) {
        if (*it == physical) {
            *it = physical->next;
            break;
        }
    }
    sim_object_free(&physical->object);
}

/* ---- physical memory ---- */

static bool is_host(const CUmemAllocationProp *prop) {
    return prop->location.type == CU_MEM_LOCATION_TYPE_HOST ||
           prop->location.type == CU_MEM_LOCATION_TYPE_HOST_NUMA ||
           prop->location.type == CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT;
}

static CUresult check(const CUmemAllocationProp *prop, struct sim_device **device) {
    if (prop == NULL || prop->type != CU_MEM_ALLOCATION_TYPE_PINNED)
        return CUDA_ERROR_INVALID_VALUE;
    if (prop->location.type == CU_MEM_LOCATION_TYPE_DEVICE) {
        *device = sim_device_get(prop->location.id);
        return *device != NULL ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
    }
    *device = &sim.devices[0];
    return is_host(prop) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemGetAllocationGranularity(size_t *granularity, const CUmemAllocationProp *prop,
                                       CUmemAllocationGranularity_flags option) {
    SIM_ENTER();
    struct sim_device *device;
    if (granularity == NULL || option > CU_MEM_ALLOC_GRANULARITY_RECOMMENDED)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = check(prop, &device);
    if (result == CUDA_SUCCESS)
        *granularity = SIM_GRANULE;
    return result;
}

CUresult cuMemCreate(CUmemGenericAllocationHandle *out, size_t size,
                     const CUmemAllocationProp *prop, unsigned long long flags) {
    SIM_ENTER();
    struct sim_device *device;
    if (out == NULL || flags != 0 || size == 0 || size % SIM_GRANULE != 0)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = check(prop, &device);
    if (result != CUDA_SUCCESS)
        return result;
    bool charged = !is_host(prop);
    if (charged && !sim_charge(device, size)) {
        if (!sim_pool_give_back(device, size) || !sim_charge(device, size))
            return CUDA_ERROR_OUT_OF_MEMORY;
    }
    struct backing *backing = backing_of(device);
    size_t span = 0;
    uintptr_t place = backing != NULL ? sim_arena_take(&backing->offsets, size, &span) : 0;
    struct sim_physical *physical =
        place != 0
            ? sim_physical_new(device, size, charged ? VRAMTRACE_SIM_PHYSICAL : VRAMTRACE_SIM_HOST)
            : NULL;
    if (physical == NULL) {
        if (place != 0)
            sim_arena_give(&backing->offsets, place, span, false);
        if (charged)
            sim_refund(device, size);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    physical->props = *prop;
    physical->offset = place - backing->offsets.base;
    physical->span = span;
    physical->charged = charged ? size : 0;
    sim_count(device, physical->kind, (int64_t)size, 1);
    *out = (uintptr_t)physical;
    return CUDA_SUCCESS;
}

CUresult cuMemRelease(CUmemGenericAllocationHandle handle) {
    SIM_ENTER();
    struct sim_physical *physical = sim_physical_get(handle);
    if (physical == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    physical->handles--;
    sim_physical_settle(physical);
    return CUDA_SUCCESS;
}

CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle *out, void *address) {
    SIM_ENTER();
    struct sim_block *block = sim_block_at((uintptr_t)address);
    if (out == NULL || block == NULL || block->owner != SIM_OWNER_MAPPED)
        return CUDA_ERROR_INVALID_VALUE;
    struct sim_physical *physical = block->parent;
    physical->handles++;
    *out = (uintptr_t)physical;
    return CUDA_SUCCESS;
}

CUresult cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp *prop,
                                                CUmemGenericAllocationHandle handle) {
    SIM_ENTER();
    struct sim_physical *physical = sim_physical_get(handle);
    if (prop == NULL || physical == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *prop = physical->props;
    return CUDA_SUCCESS;
}

/* ---- addresses ---- */

CUresult cuMemAddressReserve(CUdeviceptr *out, size_t size, size_t alignment, CUdeviceptr hint,
                             unsigned long long flags) {
    SIM_ENTER();
    if (out == NULL || flags != 0 || size == 0 || size % SIM_GRANULE != 0 ||
        (alignment & (alignment - 1)) != 0)
        return CUDA_ERROR_INVALID_VALUE;
    alignment = alignment > SIM_GRANULE ? alignment : SIM_GRANULE;
    if (size > SIZE_MAX / 4 || alignment > SIZE_MAX / 4)
        return CUDA_ERROR_OUT_OF_MEMORY;
    struct sim_block *block = calloc(1, sizeof *block);
    if (block == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    size_t room = size + alignment;
    void *start = mmap((void *)(uintptr_t)hint, room, PROT_NONE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (start == MAP_FAILED) {
        free(block);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    /* What the alignment left over on both sides goes back. */
    uintptr_t first = (uintptr_t)start, wanted = (first + alignment - 1) & ~(alignment - 1);
    if (wanted > first)
        munmap(start, wanted - first);
    if (first + room > wanted + size)
        munmap((void *)(wanted + size), first + room - wanted - size);
    block->start = wanted;
    block->bytes = block->span = size;
    block->owner = SIM_OWNER_RESERVED;
    block->device = &sim.devices[0];
    sim_block_insert(block);
    *out = wanted;
    return CUDA_SUCCESS;
}

struct range {
    uintptr_t start, end;
    size_t inside; /* bytes mapped within */
    bool crossing; /* a mapping is cut by an edge */
};

static void measure(struct sim_block *block, void *data) {
    struct range *range = data;
    uintptr_t end = block->start + block->bytes;
    if (block->owner != SIM_OWNER_MAPPED || end <= range->start || block->start >= range->end)
        return;
    if (block->start < range->start || end > range->end)
        range->crossing = true;
    range->inside += block->bytes;
}

CUresult cuMemAddressFree(CUdeviceptr address, size_t size) {
    SIM_ENTER();
    struct range range = {.start = (uintptr_t)address, .end = (uintptr_t)address + size};
    sim_block_each(measure, &range);
    if (range.inside != 0)
        return CUDA_ERROR_INVALID_VALUE; /* still mapped */
    struct sim_block *block = sim_block_starting((uintptr_t)address);
    if (block == NULL || block->owner != SIM_OWNER_RESERVED || block->bytes != size)
        return CUDA_ERROR_INVALID_VALUE;
    sim_block_remove(block);
    munmap((void *)block->start, block->span);
    free(block);
    return CUDA_SUCCESS;
}

/* ---- mappings ---- */

CUresult cuMemMap(CUdeviceptr address, size_t size, size_t offset,
                  CUmemGenericAllocationHandle handle, unsigned long long flags) {
    SIM_ENTER();
    struct sim_physical *physical = sim_physical_get(handle);
    struct sim_block *around = sim_block_at((uintptr_t)address);
    if (physical == NULL || flags != 0 || size == 0 || size % SIM_GRANULE != 0 ||
        offset % SIM_GRANULE != 0 || offset > physical->size || size > physical->size - offset ||
        around == NULL || around->owner != SIM_OWNER_RESERVED ||
        size > around->start + around->bytes - (uintptr_t)address)
        return CUDA_ERROR_INVALID_VALUE;
    struct sim_physical *source = physical->multicast ? physical->bound : physical;
    if (source == NULL)
        return CUDA_ERROR_INVALID_VALUE; /* nothing is bound to the multicast object */
    struct sim_block *block = calloc(1, sizeof *block);
    if (block == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    block->start = (uintptr_t)address;
    block->bytes = block->span = size;
    block->owner = SIM_OWNER_MAPPED;
    block->kind = VRAMTRACE_SIM_PHYSICAL;
    block->device = physical->device;
    block->parent = physical;
    block->offset = offset;
    block->flags = CU_MEM_ACCESS_FLAGS_PROT_NONE; /* until cuMemSetAccess */
    block->id = ++sim.next_id;
    size_t base;
    int file = sim_physical_file(source, &base);
    if (!sim_block_insert(block) ||
        mmap((void *)block->start, size, PROT_READ | PROT_WRITE,
             MAP_SHARED | MAP_FIXED | MAP_NORESERVE, file, (off_t)(base + offset)) == MAP_FAILED) {
        sim_block_remove(block);
        free(block);
        return CUDA_ERROR_INVALID_VALUE;
    }
    physical->uses++;
    return CUDA_SUCCESS;
}

CUresult cuMemUnmap(CUdeviceptr address, size_t size) {
    SIM_ENTER();
    struct range range = {.start = (uintptr_t)address, .end = (uintptr_t)address + size};
    sim_block_each(measure, &range);
    if (size == 0 || range.crossing || range.inside != size)
        return CUDA_ERROR_INVALID_VALUE; /* whole mappings only */
    while (range.start < range.end) {
        struct sim_block *block = sim_block_at(range.start);
        struct sim_physical *physical = block->parent;
        range.start += block->bytes;
        mmap((void *)block->start, block->bytes, PROT_NONE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
        sim_block_remove(block);
        free(block);
        physical->uses--;
        sim_physical_settle(physical);
    }
    return CUDA_SUCCESS;
}

CUresult cuMemSetAccess(CUdeviceptr address, size_t size, const CUmemAccessDesc *access,
                        size_t count) {
    SIM_ENTER();
    struct range range = {.start = (uintptr_t)address, .end = (uintptr_t)address + size};
    sim_block_each(measure, &range);
    if (size == 0 || range.inside != size || range.crossing || access == NULL || count == 0)
        return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < count; i++) {
        if (access[i].location.type == CU_MEM_LOCATION_TYPE_DEVICE &&
            sim_device_get(access[i].location.id) == NULL)
            return CUDA_ERROR_INVALID_DEVICE;
    }
    while (range.start < range.end) {
        struct sim_block *block = sim_block_at(range.start);
        range.start += block->bytes;
        for (size_t i = 0; i < count; i++)
            block->flags = access[i].flags;
    }
    return CUDA_SUCCESS;
}

CUresult cuMemGetAccess(unsigned long long *flags, const CUmemLocation *location,
                        CUdeviceptr address) {
    SIM_ENTER();
    struct sim_block *block = sim_block_at((uintptr_t)address);
    if (flags == NULL || location == NULL || block == NULL || block->owner != SIM_OWNER_MAPPED)
        return CUDA_ERROR_INVALID_VALUE;
    *flags = block->flags;
    return CUDA_SUCCESS;
}
