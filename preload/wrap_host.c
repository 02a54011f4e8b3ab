/* SPDX-License-Identifier: MIT */
/* Pinned host memory: its own books, never added to a device's. */
#include "wrap.h"

VT_EXPORT CUresult cuMemAllocHost(void **pp, unsigned int bytesize) {
    VT_ENTER_DRIVER(cuMemAllocHost);
    VT_MAY_ALLOC(VT_KIND_HOST, bytesize);
    CUresult result = real(pp, bytesize);
    vt_event_alloc(&call, (int)result, VT_KIND_HOST, VT_OUT(result, pp), bytesize);
    return result;
}

VT_EXPORT CUresult cuMemAllocHost_v2(void **pp, size_t bytesize) {
    VT_ENTER_DRIVER(cuMemAllocHost_v2);
    VT_MAY_ALLOC(VT_KIND_HOST, bytesize);
    CUresult result = real(pp, bytesize);
    vt_event_alloc(&call, (int)result, VT_KIND_HOST, VT_OUT(result, pp), bytesize);
    return result;
}

VT_EXPORT CUresult cuMemHostAlloc(void **pp, size_t bytesize, unsigned int Flags) {
    VT_ENTER_DRIVER(cuMemHostAlloc);
    VT_MAY_ALLOC(VT_KIND_HOST, bytesize);
    CUresult result = real(pp, bytesize, Flags);
    vt_event_alloc(&call, (int)result, VT_KIND_HOST, VT_OUT(result, pp), bytesize);
    return result;
}

VT_EXPORT CUresult cuMemFreeHost(void *p) {
    VT_ENTER_DRIVER(cuMemFreeHost);
    const struct vt_freeing freeing = vt_event_free_begin((uint64_t)(uintptr_t)p, VT_KIND_HOST);
    CUresult result = real(p);
    vt_event_free_end(&call, &freeing, (int)result);
    return result;
}
