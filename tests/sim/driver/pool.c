/* SPDX-License-Identifier: MIT */
/*
 * Stream-ordered allocation of the simulated driver. A pool reserves device memory in granules when
 * its use grows, and at the next synchronisation releases what exceeds its release threshold.
 * Streams are not ordered against each other here, so a free is complete when it returns. On a
 * stream under capture both calls become graph nodes (graph.c).
 */
#include "graph.h"
#include "pool.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { POOL_DEVICE, POOL_MANAGED, POOL_HOST };

static size_t granules(size_t bytes) {
    return (bytes + SIM_GRANULE - 1) / SIM_GRANULE * SIM_GRANULE;
}

/* ---- reserve ---- */

static void set_used(struct sim_pool *pool, size_t used) {
    pool->used = used;
    if (used > pool->used_high)
        pool->used_high = used;
}

/* Reduces the reserve to `keep`, but not below the memory in use. */
static void shrink(struct sim_pool *pool, size_t keep) {
    size_t floor = granules(pool->used);
    keep = keep > floor ? granules(keep) : floor;
    if (pool->reserved > keep) {
        if (pool->place == POOL_DEVICE && !pool->imported)
            sim_refund(pool->device, pool->reserved - keep);
        pool->reserved = keep;
    }
}

static bool grow(struct sim_pool *pool, size_t bytes) {
    if (bytes > SIZE_MAX / 2 || (pool->most != 0 && pool->used + bytes > pool->most))
        return false;
    size_t wanted = pool->used + bytes;
    if (wanted > pool->reserved) {
        size_t target = granules(wanted);
        if (pool->place == POOL_DEVICE) {
            if (!sim_charge(pool->device, target - pool->reserved)) {
                sim_pool_give_back(pool->device, target - pool->reserved);
                target = wanted; /* the last bytes of a device need not fill a granule */
                if (!sim_charge(pool->device, target - pool->reserved))
                    return false;
            }
        }
        pool->reserved = target;
        if (target > pool->reserved_high)
            pool->reserved_high = target;
    }
    set_used(pool, wanted);
    return true;
}

static struct sim_pool *all_pools;

void sim_pool_settle(struct sim_device *device) {
    for (struct sim_pool *pool = all_pools; pool != NULL; pool = pool->next) {
        if (pool->device == device)
            shrink(pool, pool->threshold);
    }
}

/* Idle reserves make room for an allocation that would fail otherwise. */
bool sim_pool_give_back(struct sim_device *device, size_t wanted) {
    for (struct sim_pool *pool = all_pools; pool != NULL; pool = pool->next) {
        if (pool->device == device)
            shrink(pool, 0);
    }
    return device->total - device->used >= wanted;
}

/* ---- pools ---- */

static void unlink_and_free(struct sim_pool *pool) {
    shrink(pool, 0);
    for (struct sim_pool **it = &all_pools; *it != NULL; it = &(*it)->next) {
        if (*it == pool) {
            *it = pool->next;
            break;
        }
    }
    sim_object_free(&pool->object);
}

static struct sim_pool *new_pool(struct sim_device *device, int place) {
    struct sim_pool *pool = sim_object_new(sizeof *pool, SIM_OBJECT_POOL, NULL, NULL);
    if (pool == NULL)
        return NULL;
    pool->device = device;
    pool->place = place;
    pool->props.allocType =
        place == POOL_MANAGED ? CU_MEM_ALLOCATION_TYPE_MANAGED : CU_MEM_ALLOCATION_TYPE_PINNED;
    pool->props.location.type =
        place == POOL_HOST ? CU_MEM_LOCATION_TYPE_HOST : CU_MEM_LOCATION_TYPE_DEVICE;
    pool->props.location.id = place == POOL_HOST ? 0 : device->ordinal;
    pool->access = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    for (int i = 0; i < 3; i++)
        pool->reuse[i] = 1;
    pool->next = all_pools;
    all_pools = pool;
    return pool;
}

struct sim_pool *sim_pool_import(struct sim_device *device) {
    struct sim_pool *pool = new_pool(device, POOL_DEVICE);
    if (pool != NULL)
        pool->imported = true;
    return pool;
}

static struct sim_pool *default_pool(struct sim_device *device, int place) {
    if (device->default_pools[place] == NULL) {
        device->default_pools[place] = new_pool(device, place);
        if (device->default_pools[place] != NULL)
            device->default_pools[place]->is_default = true;
    }
    return device->default_pools[place];
}

static struct sim_pool *current_pool(struct sim_device *device, int place) {
    return device->current_pools[place] != NULL ? device->current_pools[place]
                                                : default_pool(device, place);
}

static struct sim_pool *pool_of(CUmemoryPool handle) {
    struct sim_pool *pool = sim_object_get(handle, SIM_OBJECT_POOL);
    return pool != NULL && !pool->destroyed ? pool : NULL;
}

/* Which kind of pool a location and a type name; -1: none. The host's pools belong to device 0. */
static int place_of(CUmemLocationType location, CUmemAllocationType type, int id,
                    struct sim_device **device) {
    bool host = location == CU_MEM_LOCATION_TYPE_HOST ||
                location == CU_MEM_LOCATION_TYPE_HOST_NUMA ||
                location == CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT;
    *device = location == CU_MEM_LOCATION_TYPE_DEVICE ? sim_device_get(id) : &sim.devices[0];
    if (*device == NULL)
        return -1;
    if (type == CU_MEM_ALLOCATION_TYPE_MANAGED)
        return POOL_MANAGED;
    if (type != CU_MEM_ALLOCATION_TYPE_PINNED)
        return -1;
    return host ? POOL_HOST : location == CU_MEM_LOCATION_TYPE_DEVICE ? POOL_DEVICE : -1;
}

CUresult cuMemPoolCreate(CUmemoryPool *out, const CUmemPoolProps *props) {
    SIM_ENTER();
    struct sim_device *device;
    if (out == NULL || props == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    int place = place_of(props->location.type, props->allocType, props->location.id, &device);
    if (place < 0)
        return device == NULL ? CUDA_ERROR_INVALID_DEVICE : CUDA_ERROR_INVALID_VALUE;
    struct sim_pool *pool = new_pool(device, place);
    if (pool == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    pool->props = *props;
    pool->most = props->maxSize;
    *out = (CUmemoryPool)(void *)pool;
    return CUDA_SUCCESS;
}

CUresult cuMemPoolDestroy(CUmemoryPool handle) {
    SIM_ENTER();
    struct sim_pool *pool = pool_of(handle);
    if (pool == NULL || pool->is_default)
        return CUDA_ERROR_INVALID_VALUE;
    for (int i = 0; i < sim.device_count; i++) {
        for (int place = 0; place < 3; place++) {
            if (sim.devices[i].current_pools[place] == pool)
                sim.devices[i].current_pools[place] = NULL;
        }
    }
    pool->destroyed = true; /* allocations stay valid until they are freed */
    if (pool->blocks == 0)
        unlink_and_free(pool);
    return CUDA_SUCCESS;
}

CUresult cuMemPoolTrimTo(CUmemoryPool handle, size_t keep) {
    SIM_ENTER();
    struct sim_pool *pool = pool_of(handle);
    if (pool == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    shrink(pool, keep);
    return CUDA_SUCCESS;
}

CUresult cuMemPoolGetAttribute(CUmemoryPool handle, CUmemPool_attribute attribute, void *value) {
    SIM_ENTER();
    struct sim_pool *pool = pool_of(handle);
    if (pool == NULL || value == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    switch (attribute) {
    case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES:
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC:
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
        *(int *)value = pool->reuse[attribute - CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES];
        return CUDA_SUCCESS;
    case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
        *(cuuint64_t *)value = pool->threshold;
        return CUDA_SUCCESS;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT:
        *(cuuint64_t *)value = pool->reserved;
        return CUDA_SUCCESS;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
        *(cuuint64_t *)value = pool->reserved_high;
        return CUDA_SUCCESS;
    case CU_MEMPOOL_ATTR_USED_MEM_CURRENT:
        *(cuuint64_t *)value = pool->used;
        return CUDA_SUCCESS;
    case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
        *(cuuint64_t *)value = pool->used_high;
        return CUDA_SUCCESS;
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
}

CUresult cuMemPoolSetAttribute(CUmemoryPool handle, CUmemPool_attribute attribute, void *value) {
    SIM_ENTER();
    struct sim_pool *pool = pool_of(handle);
    if (pool == NULL || value == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    switch (attribute) {
    case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES:
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC:
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
        pool->reuse[attribute - CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES] = *(int *)value;
        return CUDA_SUCCESS;
    case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
        pool->threshold = *(cuuint64_t *)value;
        return CUDA_SUCCESS;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
    case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
        if (*(cuuint64_t *)value != 0) /* a high-water mark can only be reset */
            return CUDA_ERROR_INVALID_VALUE;
        if (attribute == CU_MEMPOOL_ATTR_USED_MEM_HIGH)
            pool->used_high = pool->used;
        else
            pool->reserved_high = pool->reserved;
        return CUDA_SUCCESS;
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
}

CUresult cuMemPoolSetAccess(CUmemoryPool handle, const CUmemAccessDesc *access, size_t count) {
    SIM_ENTER();
    struct sim_pool *pool = pool_of(handle);
    if (pool == NULL || (access == NULL && count != 0))
        return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < count; i++) {
        if (access[i].location.type == CU_MEM_LOCATION_TYPE_DEVICE &&
            sim_device_get(access[i].location.id) == NULL)
            return CUDA_ERROR_INVALID_DEVICE;
    }
    for (size_t i = 0; i < count; i++) {
        if (access[i].location.type == CU_MEM_LOCATION_TYPE_DEVICE &&
            access[i].location.id != pool->device->ordinal) {
            uint64_t bit = (uint64_t)1 << access[i].location.id;
            if (access[i].flags == CU_MEM_ACCESS_FLAGS_PROT_NONE)
                pool->peers &= ~bit;
            else
                pool->peers |= bit;
        }
    }
    return CUDA_SUCCESS;
}

CUresult cuMemPoolGetAccess(CUmemAccess_flags *flags, CUmemoryPool handle,
                            CUmemLocation *location) {
    SIM_ENTER();
    struct sim_pool *pool = pool_of(handle);
    if (pool == NULL || flags == NULL || location == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    bool own = location->type != CU_MEM_LOCATION_TYPE_DEVICE ||
               location->id == pool->device->ordinal ||
               (location->id >= 0 && location->id < 64 && (pool->peers >> location->id & 1) != 0);
    *flags = own ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE : CU_MEM_ACCESS_FLAGS_PROT_NONE;
    return CUDA_SUCCESS;
}

/* ---- which pool a device uses ---- */

static CUresult get_pool(CUmemoryPool *out, struct sim_device *device, int place, bool current) {
    if (out == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    if (device == NULL)
        return CUDA_ERROR_INVALID_DEVICE;
    if (place < 0)
        return CUDA_ERROR_INVALID_VALUE;
    struct sim_pool *pool = current ? current_pool(device, place) : default_pool(device, place);
    *out = (CUmemoryPool)(void *)pool;
    return pool != NULL ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult cuDeviceGetDefaultMemPool(CUmemoryPool *out, CUdevice device) {
    SIM_ENTER();
    return get_pool(out, sim_device_get(device), POOL_DEVICE, false);
}

CUresult cuDeviceGetMemPool(CUmemoryPool *out, CUdevice device) {
    SIM_ENTER();
    return get_pool(out, sim_device_get(device), POOL_DEVICE, true);
}

CUresult cuDeviceSetMemPool(CUdevice ordinal, CUmemoryPool handle) {
    SIM_ENTER();
    struct sim_device *device = sim_device_get(ordinal);
    struct sim_pool *pool = pool_of(handle);
    if (device == NULL)
        return CUDA_ERROR_INVALID_DEVICE;
    if (pool == NULL || pool->place != POOL_DEVICE || pool->device != device)
        return CUDA_ERROR_INVALID_VALUE;
    device->current_pools[POOL_DEVICE] = pool;
    return CUDA_SUCCESS;
}

CUresult cuMemGetDefaultMemPool(CUmemoryPool *out, CUmemLocation *location,
                                CUmemAllocationType type) {
    SIM_ENTER();
    struct sim_device *device;
    if (location == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    int place = place_of(location->type, type, location->id, &device);
    return get_pool(out, device, place, false);
}

CUresult cuMemGetMemPool(CUmemoryPool *out, CUmemLocation *location, CUmemAllocationType type) {
    SIM_ENTER();
    struct sim_device *device;
    if (location == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    int place = place_of(location->type, type, location->id, &device);
    return get_pool(out, device, place, true);
}

CUresult cuMemSetMemPool(CUmemLocation *location, CUmemAllocationType type, CUmemoryPool handle) {
    SIM_ENTER();
    struct sim_device *device;
    struct sim_pool *pool = pool_of(handle);
    if (location == NULL || pool == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    int place = place_of(location->type, type, location->id, &device);
    if (place < 0 || pool->place != place || pool->device != device)
        return device == NULL ? CUDA_ERROR_INVALID_DEVICE : CUDA_ERROR_INVALID_VALUE;
    device->current_pools[place] = pool;
    return CUDA_SUCCESS;
}

/* ---- allocate and free ---- */

static CUresult pool_alloc(CUdeviceptr *out, size_t bytes, struct sim_pool *pool) {
    static const enum vramtrace_sim_kind kinds[] = {VRAMTRACE_SIM_ASYNC, VRAMTRACE_SIM_MANAGED,
                                                    VRAMTRACE_SIM_HOST};
    struct sim_block *block;
    if (pool->imported || !grow(pool, bytes))
        return pool->imported ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_OUT_OF_MEMORY;
    CUresult result = sim_memory_alloc(NULL, pool->device, bytes, kinds[pool->place],
                                       SIM_OWNER_POOL, false, &block);
    if (result != CUDA_SUCCESS) {
        set_used(pool, pool->used - bytes);
        return result;
    }
    block->parent = pool;
    block->touched = pool->place != POOL_DEVICE;
    pool->blocks++;
    *out = block->start;
    return CUDA_SUCCESS;
}

CUresult sim_pool_free(struct sim_block *block) {
    if (block->owner == SIM_OWNER_GRAPH)
        return sim_graph_free_block(block);
    struct sim_pool *pool = block->parent;
    set_used(pool, pool->used - block->bytes);
    pool->blocks--;
    sim_memory_release(block);
    if (pool->destroyed && pool->blocks == 0)
        unlink_and_free(pool);
    return CUDA_SUCCESS;
}

static CUresult cuMemAllocAsync_on(CUdeviceptr *out, size_t bytes, CUstream handle) {
    SIM_ENTER_CONTEXT(context);
    struct sim_stream *stream = sim_stream_get(handle, context);
    if (out == NULL || bytes == 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (stream == NULL)
        return CUDA_ERROR_INVALID_HANDLE;
    if (stream->capture != NULL)
        return sim_graph_capture_alloc(out, bytes, stream);
    struct sim_pool *pool = current_pool(stream->device, POOL_DEVICE);
    return pool != NULL ? pool_alloc(out, bytes, pool) : CUDA_ERROR_OUT_OF_MEMORY;
}

static CUresult cuMemAllocFromPoolAsync_on(CUdeviceptr *out, size_t bytes, CUmemoryPool handle,
                                           CUstream stream_handle) {
    SIM_ENTER_CONTEXT(context);
    struct sim_stream *stream = sim_stream_get(stream_handle, context);
    struct sim_pool *pool = pool_of(handle);
    if (out == NULL || bytes == 0 || pool == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    if (stream == NULL)
        return CUDA_ERROR_INVALID_HANDLE;
    if (stream->capture != NULL)
        return sim_graph_capture_alloc(out, bytes, stream);
    return pool_alloc(out, bytes, pool);
}

static CUresult cuMemFreeAsync_on(CUdeviceptr address, CUstream handle) {
    SIM_ENTER_CONTEXT(context);
    struct sim_stream *stream = sim_stream_get(handle, context);
    struct sim_block *block = sim_block_starting((uintptr_t)address);
    if (stream == NULL)
        return CUDA_ERROR_INVALID_HANDLE;
    if (address == 0)
        return CUDA_SUCCESS;
    if (block == NULL && stream->capture == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    if (stream->capture != NULL)
        return sim_graph_capture_free(address, stream);
    if (block->owner != SIM_OWNER_POOL && block->owner != SIM_OWNER_GRAPH) {
        /* Memory of cuMemAlloc, and imported memory, may also be freed in stream order. */
        bool imported = block->owner == SIM_OWNER_IMPORTED && block->uses == 0;
        if (!imported && (block->owner != SIM_OWNER_DRIVER || block->kind != VRAMTRACE_SIM_LINEAR))
            return CUDA_ERROR_INVALID_VALUE;
        sim_memory_release(block);
        return CUDA_SUCCESS;
    }
    return sim_pool_free(block);
}

SIM_TWINS(cuMemAllocAsync, _ptsz, (CUdeviceptr * out, size_t bytes, CUstream stream),
          (out, bytes, stream), (out, bytes, SIM_PT(stream)))
SIM_TWINS(cuMemAllocFromPoolAsync, _ptsz,
          (CUdeviceptr * out, size_t bytes, CUmemoryPool pool, CUstream stream),
          (out, bytes, pool, stream), (out, bytes, pool, SIM_PT(stream)))
SIM_TWINS(cuMemFreeAsync, _ptsz, (CUdeviceptr address, CUstream stream), (address, stream),
          (address, SIM_PT(stream)))
