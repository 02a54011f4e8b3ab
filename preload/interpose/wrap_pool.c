/* SPDX-License-Identifier: MIT */
/*
 * Stream-ordered memory, from the current pool of a stream's device or from a named pool. Each function exists twice:
 * the _ptsz variant takes stream 0 as the thread's own default stream, and our wrapper of it must call the driver's
 * _ptsz variant. On a stream that is being captured, these calls add nodes to a graph and neither allocate nor free
 * (state/graph.c).
 *
 * We count the memory that a pool hands out. The pool's reserve is known only when the program asks for it
 * (cuMemPoolGetAttribute). So cuMemPoolTrimTo and cuMemPoolSetAttribute change nothing here. Neither do
 * cuDeviceSetMemPool and cuMemSetMemPool: a device's current pool is on that device in any case. A destroyed pool lives
 * until its last allocation is freed.
 */
#include "state/state.h"
#include "base/base.h"
#include "wrap.h"

/* Describes an allocation in advance. A named pool may be on the host, managed, or on another device. */
static struct vt_live described(const CUmemoryPool *pool, CUstream stream, uint64_t size) {
    struct vt_pool from =
        pool ? vt_pool_find(*pool) : (struct vt_pool){VT_KIND_POOL, VT_DEVICE_UNKNOWN};
    unsigned device =
        from.device == VT_DEVICE_UNKNOWN ? vt_pool_stream_device(stream) : from.device;
    return (struct vt_live){.size = size,
                            .context = (uint16_t)vt_context_current(),
                            .kind = (uint8_t)from.kind,
                            .device = (uint8_t)device};
}

static bool captured(CUstream stream, bool per_thread) {
    return VT_UNLIKELY(vt_get(&vt_graph_captures)) &&
           vt_graph_captured(vt_graph_stream(stream, per_thread));
}

/* While the stream is captured, the driver returns an address without memory. */
static CUresult to_graph(const struct vt_call *call, CUresult result, const CUdeviceptr *dptr,
                         CUstream stream, bool per_thread, struct vt_live what) {
    what.kind = VT_KIND_GRAPH;
    what.address = VT_OUT(result, dptr);
    if (result != CUDA_SUCCESS)
        return vt_ask_allocated(call, result, what);
    if (what.address) {
        what.stack = vt_event_stack(call, &what.hook);
        vt_graph_alloc_captured(vt_graph_stream(stream, per_thread), &what);
    }
    return result;
}

static CUresult allocated(const struct vt_call *call, CUresult result, const CUdeviceptr *dptr,
                          struct vt_live what) {
    what.address = VT_OUT(result, dptr);
    return vt_ask_allocated(call, result, what);
}

#define ALLOC_ASYNC(name, per_thread)                                                              \
    VT_EXPORT CUresult name(CUdeviceptr *dptr, size_t bytesize, CUstream hStream) {                \
        VT_ENTER_DRIVER(name);                                                                     \
        struct vt_live what = described(NULL, hStream, bytesize);                                  \
        if (captured(hStream, per_thread))                                                         \
            return to_graph(&call, real(dptr, bytesize, hStream), dptr, hStream, per_thread,       \
                            what);                                                                 \
        VT_MAY_ALLOC_ON(what.kind, bytesize, what.device);                                         \
        return allocated(&call, real(dptr, bytesize, hStream), dptr, what);                        \
    }
ALLOC_ASYNC(cuMemAllocAsync, false)
ALLOC_ASYNC(cuMemAllocAsync_ptsz, true)

#define ALLOC_FROM_POOL_ASYNC(name, per_thread)                                                    \
    VT_EXPORT CUresult name(CUdeviceptr *dptr, size_t bytesize, CUmemoryPool pool,                 \
                            CUstream hStream) {                                                    \
        VT_ENTER_DRIVER(name);                                                                     \
        struct vt_live what = described(&pool, hStream, bytesize);                                 \
        if (captured(hStream, per_thread))                                                         \
            return to_graph(&call, real(dptr, bytesize, pool, hStream), dptr, hStream, per_thread, \
                            what);                                                                 \
        VT_MAY_ALLOC_ON(what.kind, bytesize, what.device);                                         \
        return allocated(&call, real(dptr, bytesize, pool, hStream), dptr, what);                  \
    }
ALLOC_FROM_POOL_ASYNC(cuMemAllocFromPoolAsync, false)
ALLOC_FROM_POOL_ASYNC(cuMemAllocFromPoolAsync_ptsz, true)

static CUresult freed(const struct vt_call *call, CUresult (*real)(CUdeviceptr, CUstream),
                      CUdeviceptr dptr, CUstream stream, bool per_thread) {
    if (captured(stream, per_thread)) {
        CUresult result = real(dptr, stream);
        vt_tls
            .events++; /* the runtime's label must see a driver event, although nothing was freed */
        if (result == CUDA_SUCCESS)
            vt_graph_free_captured(vt_graph_stream(stream, per_thread), dptr);
        return result;
    }
    const struct vt_freeing freeing = vt_event_free_begin(dptr, VT_KIND_DEVICE);
    CUresult result = real(dptr, stream);
    vt_event_free_end(call, &freeing, (int)result);
    return result;
}

#define FREE_ASYNC(name, per_thread)                                                               \
    VT_EXPORT CUresult name(CUdeviceptr dptr, CUstream hStream) {                                  \
        VT_ENTER_DRIVER(name);                                                                     \
        return freed(&call, real, dptr, hStream, per_thread);                                      \
    }
FREE_ASYNC(cuMemFreeAsync, false)
FREE_ASYNC(cuMemFreeAsync_ptsz, true)

static CUresult seen(CUresult result, const CUmemoryPool *pool, struct vt_pool what) {
    if (result == CUDA_SUCCESS && pool)
        vt_pool_seen(*pool, what);
    return result;
}

static struct vt_pool on_device(CUdevice device) {
    return (struct vt_pool){VT_KIND_POOL, (unsigned)device & 0xff};
}

VT_EXPORT CUresult cuMemPoolCreate(CUmemoryPool *pool, const CUmemPoolProps *poolProps) {
    VT_ENTER_DRIVER(cuMemPoolCreate);
    CUresult result = real(pool, poolProps);
    return poolProps ? seen(result, pool, vt_pool_of(poolProps->allocType, &poolProps->location))
                     : result;
}

/* We forget the pool before the call, because another thread may get the same handle at once. */
VT_EXPORT CUresult cuMemPoolDestroy(CUmemoryPool pool) {
    VT_ENTER_DRIVER(cuMemPoolDestroy);
    const struct vt_pool was = vt_pool_find(pool);
    vt_pool_gone(pool);
    CUresult result = real(pool);
    if (result != CUDA_SUCCESS && (was.kind != VT_KIND_POOL || was.device != VT_DEVICE_UNKNOWN))
        vt_pool_seen(pool, was);
    return result;
}

VT_EXPORT CUresult cuDeviceGetDefaultMemPool(CUmemoryPool *pool_out, CUdevice dev) {
    VT_ENTER_DRIVER(cuDeviceGetDefaultMemPool);
    return seen(real(pool_out, dev), pool_out, on_device(dev));
}

VT_EXPORT CUresult cuDeviceGetMemPool(CUmemoryPool *pool, CUdevice dev) {
    VT_ENTER_DRIVER(cuDeviceGetMemPool);
    return seen(real(pool, dev), pool, on_device(dev));
}

VT_EXPORT CUresult cuMemGetDefaultMemPool(CUmemoryPool *pool_out, CUmemLocation *location,
                                          CUmemAllocationType type) {
    VT_ENTER_DRIVER(cuMemGetDefaultMemPool);
    return seen(real(pool_out, location, type), pool_out, vt_pool_of(type, location));
}

VT_EXPORT CUresult cuMemGetMemPool(CUmemoryPool *pool, CUmemLocation *location,
                                   CUmemAllocationType type) {
    VT_ENTER_DRIVER(cuMemGetMemPool);
    return seen(real(pool, location, type), pool, vt_pool_of(type, location));
}

/* A pool of another process allocates nothing here; its pointers are imported one by one. */
VT_EXPORT CUresult cuMemPoolImportFromShareableHandle(CUmemoryPool *pool_out, void *handle,
                                                      CUmemAllocationHandleType handleType,
                                                      unsigned long long flags) {
    VT_ENTER_DRIVER(cuMemPoolImportFromShareableHandle);
    return seen(real(pool_out, handle, handleType, flags), pool_out,
                (struct vt_pool){VT_KIND_POOL, VT_DEVICE_UNKNOWN});
}

VT_EXPORT CUresult cuMemPoolImportPointer(CUdeviceptr *ptr_out, CUmemoryPool pool,
                                          CUmemPoolPtrExportData *shareData) {
    VT_ENTER_DRIVER(cuMemPoolImportPointer);
    CUresult result = real(ptr_out, pool, shareData);
    if (result == CUDA_SUCCESS && ptr_out)
        vt_share_seen(*ptr_out);
    return vt_object_made(&call, result, VT_OBJECT_EXTERNAL, ptr_out);
}

VT_EXPORT CUresult cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attr, void *value) {
    VT_ENTER_DRIVER(cuMemPoolGetAttribute);
    CUresult result = real(pool, attr, value);
    if (result != CUDA_SUCCESS || !value)
        return result;
    enum vt_pool_figure figure = attr == CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT ? VT_POOL_RESERVED
                                 : attr == CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH ? VT_POOL_RESERVED_HIGH
                                 : attr == CU_MEMPOOL_ATTR_USED_MEM_CURRENT  ? VT_POOL_USED
                                 : attr == CU_MEMPOOL_ATTR_USED_MEM_HIGH     ? VT_POOL_USED_HIGH
                                                                             : 0;
    if (figure)
        vt_event_poolinfo(&call, vt_pool_find(pool).device, (uint64_t)(uintptr_t)pool, figure,
                          *(const cuuint64_t *)value);
    return result;
}
