/* SPDX-License-Identifier: MIT */
/*
 * Arrays: opaque memory for textures, identified by handle. Their size is computed (array_bytes.h). Mip levels and
 * planes are views without memory of their own. Sparse and deferred arrays have no memory yet. They are in the live
 * table, so that destroying one is not an unknown free, but they are not logged.
 *
 * Not wrapped: cuMemMapArrayAsync, which maps tiles of cuMemCreate's memory into a sparse array. Those bytes already
 * count as physical memory.
 */
#include "base/base.h"
#include "wrap.h"

static CUresult created(const struct vt_call *call, CUresult result, unsigned kind, uint64_t handle,
                        uint64_t bytes) {
    if (result != CUDA_SUCCESS || bytes)
        return vt_ask_alloc(call, result, kind, handle, bytes);
    if (handle)
        vt_live_insert(&(struct vt_live){.address = handle,
                                         .kind = (uint8_t)kind,
                                         .context = (uint16_t)vt_context_current(),
                                         .device = VT_DEVICE_UNKNOWN});
    return result;
}

static void destroyed(const struct vt_call *call, CUresult result,
                      const struct vt_freeing *freeing) {
    if (!freeing->known || freeing->was.size)
        vt_event_free_end(call, freeing, (int)result);
    else if (result != CUDA_SUCCESS)
        vt_live_insert(&freeing->was);
    vt_event_after_call(freeing->held);
}

/* The size of an array from an older or two-dimensional descriptor. */
#define ARRAY_BYTES(d, depth, flags)                                                               \
    vt_array_bytes((d) ? &(CUDA_ARRAY3D_DESCRIPTOR){(d)->Width, (d)->Height, (depth), (d)->Format, \
                                                    (d)->NumChannels, (flags)}                     \
                       : NULL,                                                                     \
                   1)

#define ARRAY_CREATE(name, description, depth, flags)                                              \
    VT_EXPORT CUresult name(CUarray *pHandle, const description *d) {                              \
        VT_ENTER_DRIVER(name);                                                                     \
        uint64_t bytes = ARRAY_BYTES(d, depth, flags);                                             \
        VT_MAY_ALLOC(VT_KIND_ARRAY, bytes);                                                        \
        CUresult result = real(pHandle, d);                                                        \
        return created(&call, result, VT_KIND_ARRAY, VT_OUT(result, pHandle), bytes);              \
    }
ARRAY_CREATE(cuArrayCreate, CUDA_ARRAY_DESCRIPTOR_v1, 0, 0)
ARRAY_CREATE(cuArrayCreate_v2, CUDA_ARRAY_DESCRIPTOR, 0, 0)
ARRAY_CREATE(cuArray3DCreate, CUDA_ARRAY3D_DESCRIPTOR_v1, d->Depth, d->Flags)
ARRAY_CREATE(cuArray3DCreate_v2, CUDA_ARRAY3D_DESCRIPTOR, d->Depth, d->Flags)

VT_EXPORT CUresult cuMipmappedArrayCreate(CUmipmappedArray *pHandle,
                                          const CUDA_ARRAY3D_DESCRIPTOR *pMipmappedArrayDesc,
                                          unsigned int numMipmapLevels) {
    VT_ENTER_DRIVER(cuMipmappedArrayCreate);
    uint64_t bytes = vt_array_bytes(pMipmappedArrayDesc, numMipmapLevels);
    VT_MAY_ALLOC(VT_KIND_MIPMAP, bytes);
    CUresult result = real(pHandle, pMipmappedArrayDesc, numMipmapLevels);
    return created(&call, result, VT_KIND_MIPMAP, VT_OUT(result, pHandle), bytes);
}

/* A mip chain over imported memory (wrap_share.c) is not in the live table, so its destruction frees nothing. */
#define ARRAY_DESTROY(name, array, kind)                                                           \
    VT_EXPORT CUresult name(array handle) {                                                        \
        VT_ENTER_DRIVER(name);                                                                     \
        const struct vt_freeing freeing = vt_event_free_begin((uint64_t)(uintptr_t)handle, kind);  \
        CUresult result = real(handle);                                                            \
        destroyed(&call, result, &freeing);                                                        \
        return result;                                                                             \
    }
ARRAY_DESTROY(cuArrayDestroy, CUarray, VT_KIND_ARRAY)
ARRAY_DESTROY(cuMipmappedArrayDestroy, CUmipmappedArray, VT_KIND_MIPMAP)
