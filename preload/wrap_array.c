/* SPDX-License-Identifier: MIT */
/*
 * Arrays: opaque memory for textures, known by handle. Their bytes are computed (array_bytes.h).
 * The levels of a mip chain and the planes of an array are views, with nothing of their own.
 *
 * Not wrapped: cuMemMapArrayAsync, which puts tiles of cuMemCreate's memory under a sparse array.
 * Those bytes are counted as physical memory.
 */
#include "array_bytes.h"
#include "wrap.h"

static CUDA_ARRAY3D_DESCRIPTOR wide(const CUDA_ARRAY3D_DESCRIPTOR_v1 *d) {
    return (CUDA_ARRAY3D_DESCRIPTOR){.Width = d->Width,
                                     .Height = d->Height,
                                     .Depth = d->Depth,
                                     .Format = d->Format,
                                     .NumChannels = d->NumChannels,
                                     .Flags = d->Flags};
}

VT_EXPORT CUresult cuArrayCreate(CUarray *pHandle, const CUDA_ARRAY_DESCRIPTOR_v1 *pAllocateArray) {
    VT_ENTER_DRIVER(cuArrayCreate);
    const CUDA_ARRAY_DESCRIPTOR_v1 *d = pAllocateArray;
    CUDA_ARRAY3D_DESCRIPTOR full = {.Width = d ? d->Width : 0,
                                    .Height = d ? d->Height : 0,
                                    .Format = d ? d->Format : 0,
                                    .NumChannels = d ? d->NumChannels : 0};
    uint64_t bytes = vt_array_bytes(&full, 1);
    VT_MAY_ALLOC(VT_KIND_ARRAY, bytes);
    CUresult result = real(pHandle, pAllocateArray);
    vt_event_alloc(&call, (int)result, VT_KIND_ARRAY, VT_OUT(result, pHandle), bytes);
    return result;
}

VT_EXPORT CUresult cuArrayCreate_v2(CUarray *pHandle, const CUDA_ARRAY_DESCRIPTOR *pAllocateArray) {
    VT_ENTER_DRIVER(cuArrayCreate_v2);
    const CUDA_ARRAY_DESCRIPTOR *d = pAllocateArray;
    CUDA_ARRAY3D_DESCRIPTOR full = {.Width = d ? d->Width : 0,
                                    .Height = d ? d->Height : 0,
                                    .Format = d ? d->Format : 0,
                                    .NumChannels = d ? d->NumChannels : 0};
    uint64_t bytes = vt_array_bytes(&full, 1);
    VT_MAY_ALLOC(VT_KIND_ARRAY, bytes);
    CUresult result = real(pHandle, pAllocateArray);
    vt_event_alloc(&call, (int)result, VT_KIND_ARRAY, VT_OUT(result, pHandle), bytes);
    return result;
}

VT_EXPORT CUresult cuArray3DCreate(CUarray *pHandle,
                                   const CUDA_ARRAY3D_DESCRIPTOR_v1 *pAllocateArray) {
    VT_ENTER_DRIVER(cuArray3DCreate);
    CUDA_ARRAY3D_DESCRIPTOR full = {0};
    if (pAllocateArray)
        full = wide(pAllocateArray);
    uint64_t bytes = vt_array_bytes(&full, 1);
    VT_MAY_ALLOC(VT_KIND_ARRAY, bytes);
    CUresult result = real(pHandle, pAllocateArray);
    vt_event_alloc(&call, (int)result, VT_KIND_ARRAY, VT_OUT(result, pHandle), bytes);
    return result;
}

VT_EXPORT CUresult cuArray3DCreate_v2(CUarray *pHandle,
                                      const CUDA_ARRAY3D_DESCRIPTOR *pAllocateArray) {
    VT_ENTER_DRIVER(cuArray3DCreate_v2);
    uint64_t bytes = vt_array_bytes(pAllocateArray, 1);
    VT_MAY_ALLOC(VT_KIND_ARRAY, bytes);
    CUresult result = real(pHandle, pAllocateArray);
    vt_event_alloc(&call, (int)result, VT_KIND_ARRAY, VT_OUT(result, pHandle), bytes);
    return result;
}

VT_EXPORT CUresult cuArrayDestroy(CUarray hArray) {
    VT_ENTER_DRIVER(cuArrayDestroy);
    const struct vt_freeing freeing =
        vt_event_free_begin((uint64_t)(uintptr_t)hArray, VT_KIND_ARRAY);
    CUresult result = real(hArray);
    vt_event_free_end(&call, &freeing, (int)result);
    return result;
}

VT_EXPORT CUresult cuMipmappedArrayCreate(CUmipmappedArray *pHandle,
                                          const CUDA_ARRAY3D_DESCRIPTOR *pMipmappedArrayDesc,
                                          unsigned int numMipmapLevels) {
    VT_ENTER_DRIVER(cuMipmappedArrayCreate);
    uint64_t bytes = vt_array_bytes(pMipmappedArrayDesc, numMipmapLevels);
    VT_MAY_ALLOC(VT_KIND_MIPMAP, bytes);
    CUresult result = real(pHandle, pMipmappedArrayDesc, numMipmapLevels);
    vt_event_alloc(&call, (int)result, VT_KIND_MIPMAP, VT_OUT(result, pHandle), bytes);
    return result;
}

/* A chain over imported memory (wrap_share.c) is not in the live table: its end is no free. */
VT_EXPORT CUresult cuMipmappedArrayDestroy(CUmipmappedArray hMipmappedArray) {
    VT_ENTER_DRIVER(cuMipmappedArrayDestroy);
    const struct vt_freeing freeing =
        vt_event_free_begin((uint64_t)(uintptr_t)hMipmappedArray, VT_KIND_MIPMAP);
    CUresult result = real(hMipmappedArray);
    vt_event_free_end(&call, &freeing, (int)result);
    return result;
}
