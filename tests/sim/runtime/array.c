/* SPDX-License-Identifier: MIT */
/* Arrays in the simulated runtime: converts channel descriptions to the driver's formats. */
#include "runtime.h"

#include <string.h>

struct cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w,
                                                   enum cudaChannelFormatKind f) {
    struct cudaChannelFormatDesc desc = {.x = x, .y = y, .z = z, .w = w, .f = f};
    return desc;
}

bool rt_array_format(const struct cudaChannelFormatDesc *desc, CUarray_format *format,
                     unsigned *channels) {
    const int bits[] = {desc->x, desc->y, desc->z, desc->w};
    unsigned used = 0;
    while (used < 4 && bits[used] != 0)
        used++;
    for (unsigned i = 0; i < 4; i++) {
        if (bits[i] != (i < used ? desc->x : 0))
            return false; /* channels of different widths */
    }
    if (used != 1 && used != 2 && used != 4)
        return false;
    *channels = used;
    switch (desc->f) {
    case cudaChannelFormatKindUnsigned:
        *format = desc->x == 8    ? CU_AD_FORMAT_UNSIGNED_INT8
                  : desc->x == 16 ? CU_AD_FORMAT_UNSIGNED_INT16
                                  : CU_AD_FORMAT_UNSIGNED_INT32;
        return desc->x == 8 || desc->x == 16 || desc->x == 32;
    case cudaChannelFormatKindSigned:
        *format = desc->x == 8    ? CU_AD_FORMAT_SIGNED_INT8
                  : desc->x == 16 ? CU_AD_FORMAT_SIGNED_INT16
                                  : CU_AD_FORMAT_SIGNED_INT32;
        return desc->x == 8 || desc->x == 16 || desc->x == 32;
    case cudaChannelFormatKindFloat:
        *format = desc->x == 16 ? CU_AD_FORMAT_HALF : CU_AD_FORMAT_FLOAT;
        return desc->x == 16 || desc->x == 32;
    default:
        return false;
    }
}

static bool describe(const struct cudaChannelFormatDesc *desc, struct cudaExtent extent,
                     unsigned int flags, CUDA_ARRAY3D_DESCRIPTOR *out) {
    *out = (CUDA_ARRAY3D_DESCRIPTOR){
        .Width = extent.width, .Height = extent.height, .Depth = extent.depth, .Flags = flags};
    return desc != NULL && rt_array_format(desc, &out->Format, &out->NumChannels);
}

static cudaError_t make(cudaArray_t *out, const struct cudaChannelFormatDesc *desc,
                        struct cudaExtent extent, unsigned int flags) {
    CUDA_ARRAY3D_DESCRIPTOR array;
    RT_ENTER_CONTEXT();
    if (out == NULL)
        return rt_fail(cudaErrorInvalidValue);
    if (!describe(desc, extent, flags, &array))
        return rt_fail(cudaErrorInvalidChannelDescriptor);
    return rt_result(rt.array3DCreate((CUarray *)(void *)out, &array));
}

cudaError_t cudaMallocArray(cudaArray_t *out, const struct cudaChannelFormatDesc *desc,
                            size_t width, size_t height, unsigned int flags) {
    return make(out, desc, (struct cudaExtent){.width = width, .height = height}, flags);
}

cudaError_t cudaMalloc3DArray(cudaArray_t *out, const struct cudaChannelFormatDesc *desc,
                              struct cudaExtent extent, unsigned int flags) {
    return make(out, desc, extent, flags);
}

cudaError_t cudaMallocMipmappedArray(cudaMipmappedArray_t *out,
                                     const struct cudaChannelFormatDesc *desc,
                                     struct cudaExtent extent, unsigned int levels,
                                     unsigned int flags) {
    CUDA_ARRAY3D_DESCRIPTOR array;
    RT_ENTER_CONTEXT();
    if (out == NULL)
        return rt_fail(cudaErrorInvalidValue);
    if (!describe(desc, extent, flags, &array))
        return rt_fail(cudaErrorInvalidChannelDescriptor);
    return rt_result(rt.mipmapCreate((CUmipmappedArray *)(void *)out, &array, levels));
}

#define ARRAY(a) ((CUarray)(uintptr_t)(a))
#define CHAIN(a) ((CUmipmappedArray)(uintptr_t)(a))

cudaError_t cudaFreeArray(cudaArray_t array) {
    RT_ENTER_CONTEXT();
    return array != NULL ? rt_result(rt.arrayDestroy(ARRAY(array))) : cudaSuccess;
}

cudaError_t cudaFreeMipmappedArray(cudaMipmappedArray_t chain) {
    RT_ENTER_CONTEXT();
    return chain != NULL ? rt_result(rt.mipmapDestroy(CHAIN(chain))) : cudaSuccess;
}

RT_FORWARD(cudaGetMipmappedArrayLevel,
           (cudaArray_t * out, cudaMipmappedArray_const_t chain, unsigned int level),
           mipmapGetLevel, ((CUarray *)(void *)out, CHAIN(chain), level))
RT_FORWARD(cudaArrayGetPlane, (cudaArray_t * out, cudaArray_t array, unsigned int plane),
           arrayGetPlane, ((CUarray *)(void *)out, ARRAY(array), plane))
RT_FORWARD(cudaArrayGetMemoryRequirements,
           (struct cudaArrayMemoryRequirements * out, cudaArray_t array, int device),
           arrayGetMemoryRequirements,
           ((CUDA_ARRAY_MEMORY_REQUIREMENTS *)(void *)out, ARRAY(array), device))
RT_FORWARD(cudaMipmappedArrayGetMemoryRequirements,
           (struct cudaArrayMemoryRequirements * out, cudaMipmappedArray_t chain, int device),
           mipmapGetMemoryRequirements,
           ((CUDA_ARRAY_MEMORY_REQUIREMENTS *)(void *)out, CHAIN(chain), device))
RT_FORWARD(cudaArrayGetSparseProperties,
           (struct cudaArraySparseProperties * out, cudaArray_t array), arrayGetSparseProperties,
           ((CUDA_ARRAY_SPARSE_PROPERTIES *)(void *)out, ARRAY(array)))
RT_FORWARD(cudaMipmappedArrayGetSparseProperties,
           (struct cudaArraySparseProperties * out, cudaMipmappedArray_t chain),
           mipmapGetSparseProperties, ((CUDA_ARRAY_SPARSE_PROPERTIES *)(void *)out, CHAIN(chain)))

static struct cudaChannelFormatDesc channels_of(const CUDA_ARRAY3D_DESCRIPTOR *array) {
    enum cudaChannelFormatKind kind = cudaChannelFormatKindNone;
    int bits = 32;
    switch (array->Format) {
    case CU_AD_FORMAT_UNSIGNED_INT8:
    case CU_AD_FORMAT_UNSIGNED_INT16:
    case CU_AD_FORMAT_UNSIGNED_INT32:
        kind = cudaChannelFormatKindUnsigned;
        bits = 8 << (array->Format - CU_AD_FORMAT_UNSIGNED_INT8);
        break;
    case CU_AD_FORMAT_SIGNED_INT8:
    case CU_AD_FORMAT_SIGNED_INT16:
    case CU_AD_FORMAT_SIGNED_INT32:
        kind = cudaChannelFormatKindSigned;
        bits = 8 << (array->Format - CU_AD_FORMAT_SIGNED_INT8);
        break;
    case CU_AD_FORMAT_HALF:
        bits = 16;
        kind = cudaChannelFormatKindFloat;
        break;
    case CU_AD_FORMAT_FLOAT:
        kind = cudaChannelFormatKindFloat;
        break;
    default:
        break;
    }
    unsigned n = array->NumChannels;
    return (struct cudaChannelFormatDesc){
        .x = bits, .y = n > 1 ? bits : 0, .z = n > 2 ? bits : 0, .w = n > 3 ? bits : 0, .f = kind};
}

cudaError_t cudaArrayGetInfo(struct cudaChannelFormatDesc *desc, struct cudaExtent *extent,
                             unsigned int *flags, cudaArray_t array) {
    CUDA_ARRAY3D_DESCRIPTOR found;
    RT_ENTER_CONTEXT();
    CUresult result = rt.array3DGetDescriptor(&found, ARRAY(array));
    if (result != CUDA_SUCCESS)
        return rt_result(result);
    if (desc != NULL)
        *desc = channels_of(&found);
    if (extent != NULL)
        *extent =
            (struct cudaExtent){.width = found.Width, .height = found.Height, .depth = found.Depth};
    if (flags != NULL)
        *flags = found.Flags;
    return cudaSuccess;
}

cudaError_t cudaGetChannelDesc(struct cudaChannelFormatDesc *desc, cudaArray_const_t array) {
    CUDA_ARRAY3D_DESCRIPTOR found;
    RT_ENTER_CONTEXT();
    if (desc == NULL)
        return rt_fail(cudaErrorInvalidValue);
    CUresult result = rt.array3DGetDescriptor(&found, ARRAY(array));
    if (result == CUDA_SUCCESS)
        *desc = channels_of(&found);
    return rt_result(result);
}
