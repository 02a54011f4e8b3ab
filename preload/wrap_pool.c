/* SPDX-License-Identifier: MIT */
/*
 * Stream-ordered memory, from a stream's device's current pool or from a named one. Each function
 * exists twice: the _ptsz variant takes stream 0 as the thread's own; it must call the driver's
 * _ptsz variant.
 */
#include "wrap.h"

VT_EXPORT CUresult cuMemAllocAsync(CUdeviceptr *dptr, size_t bytesize, CUstream hStream) {
    VT_ENTER_DRIVER(cuMemAllocAsync);
    VT_MAY_ALLOC(VT_KIND_POOL, bytesize);
    CUresult result = real(dptr, bytesize, hStream);
    vt_event_alloc(&call, (int)result, VT_KIND_POOL, VT_OUT(result, dptr), bytesize);
    return result;
}

VT_EXPORT CUresult cuMemAllocFromPoolAsync(CUdeviceptr *dptr, size_t bytesize, CUmemoryPool pool,
                                           CUstream hStream) {
    VT_ENTER_DRIVER(cuMemAllocFromPoolAsync);
    VT_MAY_ALLOC(VT_KIND_POOL, bytesize);
    CUresult result = real(dptr, bytesize, pool, hStream);
    vt_event_alloc(&call, (int)result, VT_KIND_POOL, VT_OUT(result, dptr), bytesize);
    return result;
}

VT_EXPORT CUresult cuMemFreeAsync(CUdeviceptr dptr, CUstream hStream) {
    VT_ENTER_DRIVER(cuMemFreeAsync);
    const struct vt_freeing freeing = vt_event_free_begin(dptr, VT_KIND_DEVICE);
    CUresult result = real(dptr, hStream);
    vt_event_free_end(&call, &freeing, (int)result);
    return result;
}

VT_EXPORT CUresult cuMemAllocAsync_ptsz(CUdeviceptr *dptr, size_t bytesize, CUstream hStream) {
    VT_ENTER_DRIVER(cuMemAllocAsync_ptsz);
    VT_MAY_ALLOC(VT_KIND_POOL, bytesize);
    CUresult result = real(dptr, bytesize, hStream);
    vt_event_alloc(&call, (int)result, VT_KIND_POOL, VT_OUT(result, dptr), bytesize);
    return result;
}

VT_EXPORT CUresult cuMemAllocFromPoolAsync_ptsz(CUdeviceptr *dptr, size_t bytesize,
                                                CUmemoryPool pool, CUstream hStream) {
    VT_ENTER_DRIVER(cuMemAllocFromPoolAsync_ptsz);
    VT_MAY_ALLOC(VT_KIND_POOL, bytesize);
    CUresult result = real(dptr, bytesize, pool, hStream);
    vt_event_alloc(&call, (int)result, VT_KIND_POOL, VT_OUT(result, dptr), bytesize);
    return result;
}

VT_EXPORT CUresult cuMemFreeAsync_ptsz(CUdeviceptr dptr, CUstream hStream) {
    VT_ENTER_DRIVER(cuMemFreeAsync_ptsz);
    const struct vt_freeing freeing = vt_event_free_begin(dptr, VT_KIND_DEVICE);
    CUresult result = real(dptr, hStream);
    vt_event_free_end(&call, &freeing, (int)result);
    return result;
}
