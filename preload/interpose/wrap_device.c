/* SPDX-License-Identifier: MIT */
/* Device memory: linear, pitched and managed, and its release. The v1 symbols have 32-bit sizes and pointers. */
#include "wrap.h"

#define ALLOC(hot, name, address, size)                                                            \
    hot VT_EXPORT CUresult name(address *dptr, size bytesize) {                                    \
        VT_ENTER_DRIVER(name);                                                                     \
        VT_MAY_ALLOC(VT_KIND_DEVICE, bytesize);                                                    \
        CUresult result = real(dptr, bytesize);                                                    \
        return vt_ask_alloc(&call, result, VT_KIND_DEVICE, VT_OUT(result, dptr), bytesize);        \
    }
ALLOC(, cuMemAlloc, CUdeviceptr_v1, unsigned int)
ALLOC(VT_HOT, cuMemAlloc_v2, CUdeviceptr, size_t)

/* A pitched allocation's size is computed from the pitch that the driver chose, not from the requested width. */
#define ALLOC_PITCH(name, address, size)                                                           \
    VT_EXPORT CUresult name(address *dptr, size *pPitch, size WidthInBytes, size Height,           \
                            unsigned int ElementSizeBytes) {                                       \
        VT_ENTER_DRIVER(name);                                                                     \
        VT_MAY_ALLOC(VT_KIND_DEVICE, (uint64_t)WidthInBytes *Height);                              \
        CUresult result = real(dptr, pPitch, WidthInBytes, Height, ElementSizeBytes);              \
        uint64_t pitch = VT_OUT(result, pPitch);                                                   \
        return vt_ask_alloc(&call, result, VT_KIND_DEVICE, VT_OUT(result, dptr),                   \
                            (pitch ? pitch : WidthInBytes) * Height);                              \
    }
ALLOC_PITCH(cuMemAllocPitch, CUdeviceptr_v1, unsigned int)
ALLOC_PITCH(cuMemAllocPitch_v2, CUdeviceptr, size_t)

VT_EXPORT CUresult cuMemAllocManaged(CUdeviceptr *dptr, size_t bytesize, unsigned int flags) {
    VT_ENTER_DRIVER(cuMemAllocManaged);
    VT_MAY_ALLOC(VT_KIND_MANAGED, bytesize);
    CUresult result = real(dptr, bytesize, flags);
    return vt_ask_alloc(&call, result, VT_KIND_MANAGED, VT_OUT(result, dptr), bytesize);
}

#define FREE(hot, name, address)                                                                   \
    hot VT_EXPORT CUresult name(address dptr) {                                                    \
        VT_ENTER_DRIVER(name);                                                                     \
        const struct vt_freeing freeing = vt_event_free_begin(dptr, VT_KIND_DEVICE);               \
        CUresult result = real(dptr);                                                              \
        vt_event_free_end(&call, &freeing, (int)result);                                           \
        return result;                                                                             \
    }
FREE(, cuMemFree, CUdeviceptr_v1)
FREE(VT_HOT, cuMemFree_v2, CUdeviceptr)
