/* SPDX-License-Identifier: MIT */
/* Copies and fills in the simulated runtime: each becomes the driver call for its direction. */
#include "runtime.h"

#include <string.h>

/* ---- straight ---- */

static CUresult copy(bool pt, void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind) {
    switch (kind) {
    case cudaMemcpyHostToHost:
    case cudaMemcpyDefault:
        return RT_PICK(pt, memcpy)(RT_ADDRESS(to), RT_ADDRESS(from), bytes);
    case cudaMemcpyHostToDevice:
        return RT_PICK(pt, memcpyHtoD)(RT_ADDRESS(to), from, bytes);
    case cudaMemcpyDeviceToHost:
        return RT_PICK(pt, memcpyDtoH)(to, RT_ADDRESS(from), bytes);
    case cudaMemcpyDeviceToDevice:
        return RT_PICK(pt, memcpyDtoD)(RT_ADDRESS(to), RT_ADDRESS(from), bytes);
    default:
        return (CUresult)cudaErrorInvalidMemcpyDirection;
    }
}

static CUresult copy_async(bool pt, void *to, const void *from, size_t bytes,
                           enum cudaMemcpyKind kind, cudaStream_t stream) {
    switch (kind) {
    case cudaMemcpyHostToHost:
    case cudaMemcpyDefault:
        return RT_PICK(pt, memcpyAsync)(RT_ADDRESS(to), RT_ADDRESS(from), bytes, stream);
    case cudaMemcpyHostToDevice:
        return RT_PICK(pt, memcpyHtoDAsync)(RT_ADDRESS(to), from, bytes, stream);
    case cudaMemcpyDeviceToHost:
        return RT_PICK(pt, memcpyDtoHAsync)(to, RT_ADDRESS(from), bytes, stream);
    case cudaMemcpyDeviceToDevice:
        return RT_PICK(pt, memcpyDtoDAsync)(RT_ADDRESS(to), RT_ADDRESS(from), bytes, stream);
    default:
        return (CUresult)cudaErrorInvalidMemcpyDirection;
    }
}

static cudaError_t cudaMemcpy_on(bool pt, void *to, const void *from, size_t bytes,
                                 enum cudaMemcpyKind kind) {
    RT_ENTER_CONTEXT();
    return bytes != 0 ? rt_result(copy(pt, to, from, bytes, kind)) : cudaSuccess;
}

static cudaError_t cudaMemcpyAsync_on(bool pt, void *to, const void *from, size_t bytes,
                                      enum cudaMemcpyKind kind, cudaStream_t stream) {
    RT_ENTER_CONTEXT();
    return bytes != 0 ? rt_result(copy_async(pt, to, from, bytes, kind, stream)) : cudaSuccess;
}

#define P_COPY void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind
RT_TWINS(cudaMemcpy, _ptds, (P_COPY), (false, to, from, bytes, kind), (true, to, from, bytes, kind))
RT_TWINS(cudaMemcpyAsync, _ptsz, (P_COPY, cudaStream_t stream),
         (false, to, from, bytes, kind, stream), (true, to, from, bytes, kind, stream))

static cudaError_t primary_of(int device, CUcontext *context) {
    int before = rt_current_device();
    cudaError_t error = rt_use_device(device, true);
    if (error != cudaSuccess)
        return error;
    *context = rt_devices[device].primary;
    return rt_use_device(before, true);
}

cudaError_t cudaMemcpyPeer(void *to, int to_device, const void *from, int from_device,
                           size_t bytes) {
    CUcontext there, here;
    RT_ENTER_CONTEXT();
    cudaError_t error = primary_of(to_device, &there);
    if (error == cudaSuccess)
        error = primary_of(from_device, &here);
    if (error != cudaSuccess)
        return rt_fail(error);
    return rt_result(rt.memcpyPeer(RT_ADDRESS(to), there, RT_ADDRESS(from), here, bytes));
}

cudaError_t cudaMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device,
                                size_t bytes, cudaStream_t stream) {
    CUcontext there, here;
    RT_ENTER_CONTEXT();
    cudaError_t error = primary_of(to_device, &there);
    if (error == cudaSuccess)
        error = primary_of(from_device, &here);
    if (error != cudaSuccess)
        return rt_fail(error);
    return rt_result(
        rt.memcpyPeerAsync(RT_ADDRESS(to), there, RT_ADDRESS(from), here, bytes, stream));
}

/* ---- two dimensions ---- */

static CUmemorytype side(enum cudaMemcpyKind kind, bool target) {
    bool device = kind == cudaMemcpyDeviceToDevice ||
                  kind == (target ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost);
    return kind == cudaMemcpyDefault || kind == cudaMemcpyHostToHost ? CU_MEMORYTYPE_UNIFIED
           : device                                                  ? CU_MEMORYTYPE_DEVICE
                                                                     : CU_MEMORYTYPE_HOST;
}

/* An end of a 2D copy is an array, or an address of the memory type that the kind says. */
struct plane {
    cudaArray_const_t array;
    const void *address;
    size_t pitch, x, y;
};

static CUDA_MEMCPY2D flat(const struct plane *to, const struct plane *from, size_t width,
                          size_t height, enum cudaMemcpyKind kind) {
    return (CUDA_MEMCPY2D){
        .srcXInBytes = from->x,
        .srcY = from->y,
        .srcMemoryType = from->array != NULL ? CU_MEMORYTYPE_ARRAY : side(kind, false),
        .srcHost = from->address,
        .srcDevice = RT_ADDRESS(from->address),
        .srcArray = (CUarray)(uintptr_t)from->array,
        .srcPitch = from->pitch,
        .dstXInBytes = to->x,
        .dstY = to->y,
        .dstMemoryType = to->array != NULL ? CU_MEMORYTYPE_ARRAY : side(kind, true),
        .dstHost = (void *)(uintptr_t)to->address,
        .dstDevice = RT_ADDRESS(to->address),
        .dstArray = (CUarray)(uintptr_t)to->array,
        .dstPitch = to->pitch,
        .WidthInBytes = width,
        .Height = height};
}

static cudaError_t copy_flat(bool pt, struct plane to, struct plane from, size_t width,
                             size_t height, enum cudaMemcpyKind kind, bool async,
                             cudaStream_t stream) {
    RT_ENTER_CONTEXT();
    if (kind > cudaMemcpyDefault)
        return rt_fail(cudaErrorInvalidMemcpyDirection);
    if ((to.array == NULL && height > 1 && to.pitch < width) ||
        (from.array == NULL && height > 1 && from.pitch < width))
        return rt_fail(cudaErrorInvalidPitchValue);
    CUDA_MEMCPY2D params = flat(&to, &from, width, height, kind);
    return rt_result(async ? RT_PICK(pt, memcpy2DAsync)(&params, stream)
                           : RT_PICK(pt, memcpy2DUnaligned)(&params));
}

#define LINEAR(a, p)     ((struct plane){.address = (a), .pitch = (p)})
#define ARRAY(a, ax, ay) ((struct plane){.array = (a), .x = (ax), .y = (ay)})
#define ROWS             size_t width, size_t height, enum cudaMemcpyKind kind

/* name, parameters without the stream, the two ends */
#define COPY_2D(name, params, to, from)                                                            \
    cudaError_t name params {                                                                      \
        return copy_flat(false, to, from, width, height, kind, false, NULL);                       \
    }                                                                                              \
    cudaError_t name##_ptds params {                                                               \
        return copy_flat(true, to, from, width, height, kind, false, NULL);                        \
    }
#define COPY_2D_ASYNC(name, params, to, from)                                                      \
    cudaError_t name params {                                                                      \
        return copy_flat(false, to, from, width, height, kind, true, stream);                      \
    }                                                                                              \
    cudaError_t name##_ptsz params {                                                               \
        return copy_flat(true, to, from, width, height, kind, true, stream);                       \
    }

COPY_2D(cudaMemcpy2D, (void *to, size_t tp, const void *from, size_t fp, ROWS), LINEAR(to, tp),
        LINEAR(from, fp))
COPY_2D_ASYNC(cudaMemcpy2DAsync,
              (void *to, size_t tp, const void *from, size_t fp, ROWS, cudaStream_t stream),
              LINEAR(to, tp), LINEAR(from, fp))
COPY_2D(cudaMemcpy2DToArray,
        (cudaArray_t to, size_t x, size_t y, const void *from, size_t fp, ROWS), ARRAY(to, x, y),
        LINEAR(from, fp))
COPY_2D_ASYNC(cudaMemcpy2DToArrayAsync,
              (cudaArray_t to, size_t x, size_t y, const void *from, size_t fp, ROWS,
               cudaStream_t stream),
              ARRAY(to, x, y), LINEAR(from, fp))
COPY_2D(cudaMemcpy2DFromArray,
        (void *to, size_t tp, cudaArray_const_t from, size_t x, size_t y, ROWS), LINEAR(to, tp),
        ARRAY(from, x, y))
COPY_2D_ASYNC(cudaMemcpy2DFromArrayAsync,
              (void *to, size_t tp, cudaArray_const_t from, size_t x, size_t y, ROWS,
               cudaStream_t stream),
              LINEAR(to, tp), ARRAY(from, x, y))
COPY_2D(cudaMemcpy2DArrayToArray,
        (cudaArray_t to, size_t tx, size_t ty, cudaArray_const_t from, size_t fx, size_t fy, ROWS),
        ARRAY(to, tx, ty), ARRAY(from, fx, fy))

/* ---- arrays, by bytes ---- */

static size_t element_of(const CUDA_ARRAY3D_DESCRIPTOR *array) {
    size_t bytes =
        array->Format == CU_AD_FORMAT_UNSIGNED_INT8 || array->Format == CU_AD_FORMAT_SIGNED_INT8 ? 1
        : array->Format == CU_AD_FORMAT_UNSIGNED_INT16 ||
                array->Format == CU_AD_FORMAT_SIGNED_INT16 || array->Format == CU_AD_FORMAT_HALF
            ? 2
            : 4;
    return bytes * array->NumChannels;
}

/* The bytes of an array's row (SIZE_MAX: linear memory has one). Returns an error if the end is invalid. */
static cudaError_t row_of(const struct plane *end, size_t count, size_t *row) {
    CUDA_ARRAY3D_DESCRIPTOR array;
    *row = SIZE_MAX;
    if (end->array == NULL)
        return cudaSuccess;
    CUresult result = rt.array3DGetDescriptor(&array, (CUarray)(uintptr_t)end->array);
    if (result != CUDA_SUCCESS)
        return (cudaError_t)result;
    *row = array.Width * element_of(&array);
    size_t rows = array.Height != 0 ? array.Height : 1;
    return end->x < *row && end->y < rows && count <= (rows - end->y) * *row - end->x
               ? cudaSuccess
               : cudaErrorInvalidValue;
}

static void advance(struct plane *end, size_t bytes, size_t row) {
    if (end->array == NULL) {
        end->address = (const char *)end->address + bytes;
    } else {
        end->x += bytes;
        end->y += end->x / row;
        end->x %= row;
    }
}

static size_t least(size_t a, size_t b) {
    return a < b ? a : b;
}

/* A run of bytes that goes on from row to row: in pieces that are rectangles in both ends. */
static cudaError_t copy_run(bool pt, struct plane to, struct plane from, size_t count,
                            enum cudaMemcpyKind kind, bool async, cudaStream_t stream) {
    size_t to_row, from_row;
    RT_ENTER_CONTEXT();
    cudaError_t error = row_of(&to, count, &to_row);
    if (error == cudaSuccess)
        error = row_of(&from, count, &from_row);
    while (error == cudaSuccess && count != 0) {
        size_t width = least(count, least(to_row - to.x, from_row - from.x)), height = 1;
        if ((to.array == NULL || width == to_row) && (from.array == NULL || width == from_row))
            height = count / width; /* whole rows of both */
        to.pitch = from.pitch = width;
        error = copy_flat(pt, to, from, width, height, kind, async, stream);
        advance(&to, width * height, to_row);
        advance(&from, width * height, from_row);
        count -= width * height;
    }
    return error == cudaSuccess ? cudaSuccess : rt_fail(error);
}

/* name, suffix of the twin, parameters, the two ends, whether it is asynchronous and on what */
#define COPY_RUN(name, suffix, params, to, from, async, stream)                                    \
    cudaError_t name params {                                                                      \
        return copy_run(false, to, from, count, kind, async, stream);                              \
    }                                                                                              \
    cudaError_t name##suffix params {                                                              \
        return copy_run(true, to, from, count, kind, async, stream);                               \
    }
#define P_TO_ARRAY                                                                                 \
    cudaArray_t to, size_t x, size_t y, const void *from, size_t count, enum cudaMemcpyKind kind
#define P_FROM_ARRAY                                                                               \
    void *to, cudaArray_const_t from, size_t x, size_t y, size_t count, enum cudaMemcpyKind kind

COPY_RUN(cudaMemcpyToArray, _ptds, (P_TO_ARRAY), ARRAY(to, x, y), LINEAR(from, 0), false, NULL)
COPY_RUN(cudaMemcpyToArrayAsync, _ptsz, (P_TO_ARRAY, cudaStream_t stream), ARRAY(to, x, y),
         LINEAR(from, 0), true, stream)
COPY_RUN(cudaMemcpyFromArray, _ptds, (P_FROM_ARRAY), LINEAR(to, 0), ARRAY(from, x, y), false, NULL)
COPY_RUN(cudaMemcpyFromArrayAsync, _ptsz, (P_FROM_ARRAY, cudaStream_t stream), LINEAR(to, 0),
         ARRAY(from, x, y), true, stream)
COPY_RUN(cudaMemcpyArrayToArray, _ptds,
         (cudaArray_t to, size_t tx, size_t ty, cudaArray_const_t from, size_t fx, size_t fy,
          size_t count, enum cudaMemcpyKind kind),
         ARRAY(to, tx, ty), ARRAY(from, fx, fy), false, NULL)

/* ---- three dimensions ---- */

bool rt_copy_deep(const struct cudaMemcpy3DParms *p, CUDA_MEMCPY3D *out) {
    if (p == NULL || (p->srcArray == NULL) == (p->srcPtr.ptr == NULL) ||
        (p->dstArray == NULL) == (p->dstPtr.ptr == NULL) || p->kind > cudaMemcpyDefault)
        return false;
    /* Extents and positions count elements where an array takes part, bytes elsewhere. */
    size_t element = 1;
    CUDA_ARRAY3D_DESCRIPTOR array;
    CUarray any = (CUarray)(void *)(p->srcArray != NULL ? p->srcArray : p->dstArray);
    if (any != NULL && rt.array3DGetDescriptor(&array, any) == CUDA_SUCCESS)
        element = element_of(&array);
    *out = (CUDA_MEMCPY3D){
        .srcXInBytes = p->srcPos.x * (p->srcArray != NULL ? element : 1),
        .srcY = p->srcPos.y,
        .srcZ = p->srcPos.z,
        .srcMemoryType = p->srcArray != NULL ? CU_MEMORYTYPE_ARRAY : side(p->kind, false),
        .srcHost = p->srcPtr.ptr,
        .srcDevice = RT_ADDRESS(p->srcPtr.ptr),
        .srcArray = (CUarray)(void *)p->srcArray,
        .srcPitch = p->srcPtr.pitch,
        .srcHeight = p->srcPtr.ysize,
        .dstXInBytes = p->dstPos.x * (p->dstArray != NULL ? element : 1),
        .dstY = p->dstPos.y,
        .dstZ = p->dstPos.z,
        .dstMemoryType = p->dstArray != NULL ? CU_MEMORYTYPE_ARRAY : side(p->kind, true),
        .dstHost = p->dstPtr.ptr,
        .dstDevice = RT_ADDRESS(p->dstPtr.ptr),
        .dstArray = (CUarray)(void *)p->dstArray,
        .dstPitch = p->dstPtr.pitch,
        .dstHeight = p->dstPtr.ysize,
        .WidthInBytes = p->extent.width * element,
        .Height = p->extent.height,
        .Depth = p->extent.depth};
    return true;
}

bool rt_copy_straight(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                      CUDA_MEMCPY3D *out) {
    *out = (CUDA_MEMCPY3D){.srcMemoryType = CU_MEMORYTYPE_UNIFIED,
                           .srcDevice = RT_ADDRESS(from),
                           .dstMemoryType = CU_MEMORYTYPE_UNIFIED,
                           .dstDevice = RT_ADDRESS(to),
                           .WidthInBytes = bytes,
                           .Height = 1,
                           .Depth = 1};
    return kind <= cudaMemcpyDefault;
}

static cudaError_t copy_deep(bool pt, const struct cudaMemcpy3DParms *p, bool async,
                             cudaStream_t stream) {
    CUDA_MEMCPY3D params;
    RT_ENTER_CONTEXT();
    if (!rt_copy_deep(p, &params))
        return rt_fail(cudaErrorInvalidValue);
    return rt_result(async ? RT_PICK(pt, memcpy3DAsync)(&params, stream)
                           : RT_PICK(pt, memcpy3D)(&params));
}

cudaError_t cudaMemcpy3D(const struct cudaMemcpy3DParms *p) {
    return copy_deep(false, p, false, NULL);
}

cudaError_t cudaMemcpy3D_ptds(const struct cudaMemcpy3DParms *p) {
    return copy_deep(true, p, false, NULL);
}

cudaError_t cudaMemcpy3DAsync(const struct cudaMemcpy3DParms *p, cudaStream_t stream) {
    return copy_deep(false, p, true, stream);
}

cudaError_t cudaMemcpy3DAsync_ptsz(const struct cudaMemcpy3DParms *p, cudaStream_t stream) {
    return copy_deep(true, p, true, stream);
}

/* ---- symbols ---- */

static cudaError_t copy_symbol(bool pt, const void *symbol, const void *other, size_t bytes,
                               size_t offset, bool to_symbol, enum cudaMemcpyKind kind, bool async,
                               cudaStream_t stream) {
    CUdeviceptr address;
    size_t size;
    RT_ENTER_CONTEXT();
    cudaError_t error = rt_symbol_of(symbol, &address, &size);
    if (error != cudaSuccess)
        return rt_fail(error);
    if (offset > size || bytes > size - offset)
        return rt_fail(cudaErrorInvalidValue);
    void *inside = (void *)(uintptr_t)(address + offset);
    void *to = to_symbol ? inside : (void *)(uintptr_t)other;
    const void *from = to_symbol ? other : inside;
    return rt_result(async ? copy_async(pt, to, from, bytes, kind, stream)
                           : copy(pt, to, from, bytes, kind));
}

#define P_TO   const void *symbol, const void *from, size_t n, size_t at, enum cudaMemcpyKind kind
#define P_FROM void *to, const void *symbol, size_t n, size_t at, enum cudaMemcpyKind kind

#define SYMBOL(suffix, pt)                                                                         \
    cudaError_t cudaMemcpyToSymbol##suffix(P_TO) {                                                 \
        return copy_symbol(pt, symbol, from, n, at, true, kind, false, NULL);                      \
    }                                                                                              \
    cudaError_t cudaMemcpyFromSymbol##suffix(P_FROM) {                                             \
        return copy_symbol(pt, symbol, to, n, at, false, kind, false, NULL);                       \
    }
#define SYMBOL_ASYNC(suffix, pt)                                                                   \
    cudaError_t cudaMemcpyToSymbolAsync##suffix(P_TO, cudaStream_t stream) {                       \
        return copy_symbol(pt, symbol, from, n, at, true, kind, true, stream);                     \
    }                                                                                              \
    cudaError_t cudaMemcpyFromSymbolAsync##suffix(P_FROM, cudaStream_t stream) {                   \
        return copy_symbol(pt, symbol, to, n, at, false, kind, true, stream);                      \
    }

SYMBOL(, false)
SYMBOL(_ptds, true)
SYMBOL_ASYNC(, false)
SYMBOL_ASYNC(_ptsz, true)

/* ---- fills ---- */

#define BYTE(value) ((unsigned char)(value))

RT_FORWARD_TWINS(cudaMemset, _ptds, (void *to, int value, size_t bytes), memsetD8,
                 (RT_ADDRESS(to), BYTE(value), bytes))
RT_FORWARD_TWINS(cudaMemsetAsync, _ptsz, (void *to, int value, size_t bytes, cudaStream_t stream),
                 memsetD8Async, (RT_ADDRESS(to), BYTE(value), bytes, stream))
RT_FORWARD_TWINS(cudaMemset2D, _ptds,
                 (void *to, size_t pitch, int value, size_t width, size_t height), memsetD2D8,
                 (RT_ADDRESS(to), pitch, BYTE(value), width, height))
RT_FORWARD_TWINS(cudaMemset2DAsync, _ptsz,
                 (void *to, size_t pitch, int value, size_t width, size_t height,
                  cudaStream_t stream),
                 memsetD2D8Async, (RT_ADDRESS(to), pitch, BYTE(value), width, height, stream))

/* One fill for each slice: rows between the extent's height and the slice's are not touched. */
static cudaError_t fill_deep(bool pt, struct cudaPitchedPtr to, int value, struct cudaExtent extent,
                             bool async, cudaStream_t stream) {
    RT_ENTER_CONTEXT();
    for (size_t z = 0; z < extent.depth; z++) {
        CUdeviceptr slice = RT_ADDRESS(to.ptr) + z * to.pitch * to.ysize;
        CUresult result = async ? RT_PICK(pt, memsetD2D8Async)(slice, to.pitch, BYTE(value),
                                                               extent.width, extent.height, stream)
                                : RT_PICK(pt, memsetD2D8)(slice, to.pitch, BYTE(value),
                                                          extent.width, extent.height);
        if (result != CUDA_SUCCESS)
            return rt_result(result);
    }
    return cudaSuccess;
}

#define P_FILL struct cudaPitchedPtr to, int value, struct cudaExtent extent

cudaError_t cudaMemset3D(P_FILL) {
    return fill_deep(false, to, value, extent, false, NULL);
}
cudaError_t cudaMemset3D_ptds(P_FILL) {
    return fill_deep(true, to, value, extent, false, NULL);
}

cudaError_t cudaMemset3DAsync(P_FILL, cudaStream_t stream) {
    return fill_deep(false, to, value, extent, true, stream);
}

cudaError_t cudaMemset3DAsync_ptsz(P_FILL, cudaStream_t stream) {
    return fill_deep(true, to, value, extent, true, stream);
}
