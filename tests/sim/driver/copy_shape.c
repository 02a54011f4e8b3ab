/* SPDX-License-Identifier: MIT */
/*
 * 2D, 3D, peer and array copies of the simulated driver. Each becomes a CUDA_MEMCPY3D, which is
 * copied row by row. The 32-bit variants are widened.
 */
#include "array.h"
#include "graph.h"

#include <string.h>

/* One end of a copy, brought to a start, a row pitch and a plane size. */
struct end {
    unsigned char *start;
    size_t pitch, plane;
};

static CUresult array_end(CUarray handle, size_t x, size_t y, size_t z, const CUDA_MEMCPY3D *copy,
                          struct end *end) {
    struct sim_array *array = sim_object_get(handle, SIM_OBJECT_ARRAY);
    if (array == NULL)
        return CUDA_ERROR_INVALID_HANDLE;
    if (array->data == NULL)
        return CUDA_ERROR_NOT_MAPPED; /* sparse or deferred: nothing lies behind it */
    size_t rows = array->height;
    if (x > array->pitch || copy->WidthInBytes > array->width * array->element - x || y > rows ||
        copy->Height > rows - y || z > array->depth || copy->Depth > array->depth - z)
        return CUDA_ERROR_INVALID_VALUE;
    end->pitch = array->pitch;
    end->plane = array->pitch * rows;
    end->start = array->data + z * end->plane + y * end->pitch + x;
    return CUDA_SUCCESS;
}

static CUresult linear_end(CUmemorytype type, const void *host, CUdeviceptr device, size_t pitch,
                           size_t height, size_t x, size_t y, size_t z, const CUDA_MEMCPY3D *copy,
                           bool write, struct end *end) {
    CUdeviceptr base = type == CU_MEMORYTYPE_HOST ? (CUdeviceptr)(uintptr_t)host : device;
    end->pitch = pitch != 0 ? pitch : copy->WidthInBytes;
    end->plane = end->pitch * (height != 0 ? height : copy->Height);
    if (base == 0 || (copy->Height > 1 && end->pitch < copy->WidthInBytes))
        return CUDA_ERROR_INVALID_VALUE;
    base += z * end->plane + y * end->pitch + x;
    size_t bytes =
        (copy->Depth - 1) * end->plane + (copy->Height - 1) * end->pitch + copy->WidthInBytes;
    bool known = sim_block_at((uintptr_t)base) != NULL;
    if ((type == CU_MEMORYTYPE_DEVICE || (type == CU_MEMORYTYPE_UNIFIED && known)) &&
        sim_memory_range(base, bytes, write) == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    end->start = (unsigned char *)(uintptr_t)base;
    return CUDA_SUCCESS;
}

CUresult sim_copy_shape(const CUDA_MEMCPY3D *copy) {
    struct end to, from;
    if (copy->WidthInBytes == 0 || copy->Height == 0 || copy->Depth == 0)
        return CUDA_SUCCESS;
    CUresult result =
        copy->srcMemoryType == CU_MEMORYTYPE_ARRAY
            ? array_end(copy->srcArray, copy->srcXInBytes, copy->srcY, copy->srcZ, copy, &from)
            : linear_end(copy->srcMemoryType, copy->srcHost, copy->srcDevice, copy->srcPitch,
                         copy->srcHeight, copy->srcXInBytes, copy->srcY, copy->srcZ, copy, false,
                         &from);
    if (result != CUDA_SUCCESS)
        return result;
    result = copy->dstMemoryType == CU_MEMORYTYPE_ARRAY
                 ? array_end(copy->dstArray, copy->dstXInBytes, copy->dstY, copy->dstZ, copy, &to)
                 : linear_end(copy->dstMemoryType, copy->dstHost, copy->dstDevice, copy->dstPitch,
                              copy->dstHeight, copy->dstXInBytes, copy->dstY, copy->dstZ, copy,
                              true, &to);
    if (result != CUDA_SUCCESS)
        return result;
    for (size_t z = 0; z < copy->Depth; z++) {
        for (size_t y = 0; y < copy->Height; y++)
            memmove(to.start + z * to.plane + y * to.pitch,
                    from.start + z * from.plane + y * from.pitch, copy->WidthInBytes);
    }
    return CUDA_SUCCESS;
}

static CUresult shaped(const CUDA_MEMCPY3D *copy, CUstream handle, bool async) {
    SIM_ENTER_CONTEXT(context);
    if (async) {
        struct sim_stream *stream = sim_stream_get(handle, context);
        if (stream == NULL)
            return CUDA_ERROR_INVALID_HANDLE;
        if (stream->capture != NULL)
            return sim_graph_capture_copy(stream, copy);
    }
    return sim_copy_shape(copy);
}

/* ---- the program's descriptions, widened ---- */

#define FLAT(p)                                                                                    \
    (CUDA_MEMCPY3D) {                                                                              \
        .srcXInBytes = (p)->srcXInBytes, .srcY = (p)->srcY, .srcMemoryType = (p)->srcMemoryType,   \
        .srcHost = (p)->srcHost, .srcDevice = (p)->srcDevice, .srcArray = (p)->srcArray,           \
        .srcPitch = (p)->srcPitch, .dstXInBytes = (p)->dstXInBytes, .dstY = (p)->dstY,             \
        .dstMemoryType = (p)->dstMemoryType, .dstHost = (p)->dstHost, .dstDevice = (p)->dstDevice, \
        .dstArray = (p)->dstArray, .dstPitch = (p)->dstPitch, .WidthInBytes = (p)->WidthInBytes,   \
        .Height = (p)->Height, .Depth = 1                                                          \
    }

#define DEEP(p)                                                                                    \
    (CUDA_MEMCPY3D) {                                                                              \
        .srcXInBytes = (p)->srcXInBytes, .srcY = (p)->srcY, .srcZ = (p)->srcZ,                     \
        .srcMemoryType = (p)->srcMemoryType, .srcHost = (p)->srcHost, .srcDevice = (p)->srcDevice, \
        .srcArray = (p)->srcArray, .srcPitch = (p)->srcPitch, .srcHeight = (p)->srcHeight,         \
        .dstXInBytes = (p)->dstXInBytes, .dstY = (p)->dstY, .dstZ = (p)->dstZ,                     \
        .dstMemoryType = (p)->dstMemoryType, .dstHost = (p)->dstHost, .dstDevice = (p)->dstDevice, \
        .dstArray = (p)->dstArray, .dstPitch = (p)->dstPitch, .dstHeight = (p)->dstHeight,         \
        .WidthInBytes = (p)->WidthInBytes, .Height = (p)->Height, .Depth = (p)->Depth              \
    }

/* One function of the family, from the program's parameters to shaped(). */
#define SHAPE(name, type, widen)                                                                   \
    static CUresult name##_on(const type *params) {                                                \
        if (params == NULL)                                                                        \
            return CUDA_ERROR_INVALID_VALUE;                                                       \
        CUDA_MEMCPY3D copy = widen(params);                                                        \
        return shaped(&copy, NULL, false);                                                         \
    }
#define SHAPE_ASYNC(name, type, widen)                                                             \
    static CUresult name##_on(const type *params, CUstream stream) {                               \
        if (params == NULL)                                                                        \
            return CUDA_ERROR_INVALID_VALUE;                                                       \
        CUDA_MEMCPY3D copy = widen(params);                                                        \
        return shaped(&copy, stream, true);                                                        \
    }

SHAPE(cuMemcpy2D_v2, CUDA_MEMCPY2D, FLAT)
SHAPE(cuMemcpy2DUnaligned_v2, CUDA_MEMCPY2D, FLAT)
SHAPE(cuMemcpy3D_v2, CUDA_MEMCPY3D, DEEP)
SHAPE(cuMemcpy3DPeer, CUDA_MEMCPY3D_PEER, DEEP)
SHAPE_ASYNC(cuMemcpy2DAsync_v2, CUDA_MEMCPY2D, FLAT)
SHAPE_ASYNC(cuMemcpy3DAsync_v2, CUDA_MEMCPY3D, DEEP)
SHAPE_ASYNC(cuMemcpy3DPeerAsync, CUDA_MEMCPY3D_PEER, DEEP)

#define S CUstream s

SIM_TWINS(cuMemcpy2D_v2, _ptds, (const CUDA_MEMCPY2D *p), (p), (p))
SIM_TWINS(cuMemcpy2DUnaligned_v2, _ptds, (const CUDA_MEMCPY2D *p), (p), (p))
SIM_TWINS(cuMemcpy3D_v2, _ptds, (const CUDA_MEMCPY3D *p), (p), (p))
SIM_TWINS(cuMemcpy3DPeer, _ptds, (const CUDA_MEMCPY3D_PEER *p), (p), (p))
SIM_TWINS(cuMemcpy2DAsync_v2, _ptsz, (const CUDA_MEMCPY2D *p, S), (p, s), (p, SIM_PT(s)))
SIM_TWINS(cuMemcpy3DAsync_v2, _ptsz, (const CUDA_MEMCPY3D *p, S), (p, s), (p, SIM_PT(s)))
SIM_TWINS(cuMemcpy3DPeerAsync, _ptsz, (const CUDA_MEMCPY3D_PEER *p, S), (p, s), (p, SIM_PT(s)))

#define NARROW(name, type, widen)                                                                  \
    CUresult name(const type *params) {                                                            \
        if (params == NULL)                                                                        \
            return CUDA_ERROR_INVALID_VALUE;                                                       \
        CUDA_MEMCPY3D copy = widen(params);                                                        \
        return shaped(&copy, NULL, false);                                                         \
    }
#define NARROW_ASYNC(name, type, widen)                                                            \
    CUresult name(const type *params, CUstream stream) {                                           \
        if (params == NULL)                                                                        \
            return CUDA_ERROR_INVALID_VALUE;                                                       \
        CUDA_MEMCPY3D copy = widen(params);                                                        \
        return shaped(&copy, stream, true);                                                        \
    }

NARROW(cuMemcpy2D, CUDA_MEMCPY2D_v1, FLAT)
NARROW(cuMemcpy2DUnaligned, CUDA_MEMCPY2D_v1, FLAT)
NARROW(cuMemcpy3D, CUDA_MEMCPY3D_v1, DEEP)
NARROW_ASYNC(cuMemcpy2DAsync, CUDA_MEMCPY2D_v1, FLAT)
NARROW_ASYNC(cuMemcpy3DAsync, CUDA_MEMCPY3D_v1, DEEP)

/* ---- one row of an array ---- */

static CUresult to_array(CUarray to, size_t offset, CUmemorytype type, const void *host,
                         CUdeviceptr device, size_t bytes, CUstream stream, bool async) {
    CUDA_MEMCPY3D copy = {.srcMemoryType = type,
                          .srcHost = host,
                          .srcDevice = device,
                          .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                          .dstArray = to,
                          .dstXInBytes = offset,
                          .WidthInBytes = bytes,
                          .Height = 1,
                          .Depth = 1};
    return shaped(&copy, stream, async);
}

static CUresult from_array(CUmemorytype type, void *host, CUdeviceptr device, CUarray from,
                           size_t offset, size_t bytes, CUstream stream, bool async) {
    CUDA_MEMCPY3D copy = {.srcMemoryType = CU_MEMORYTYPE_ARRAY,
                          .srcArray = from,
                          .srcXInBytes = offset,
                          .dstMemoryType = type,
                          .dstHost = host,
                          .dstDevice = device,
                          .WidthInBytes = bytes,
                          .Height = 1,
                          .Depth = 1};
    return shaped(&copy, stream, async);
}

static CUresult cuMemcpyHtoA_v2_on(CUarray to, size_t offset, const void *from, size_t bytes) {
    return to_array(to, offset, CU_MEMORYTYPE_HOST, from, 0, bytes, NULL, false);
}

static CUresult cuMemcpyAtoH_v2_on(void *to, CUarray from, size_t offset, size_t bytes) {
    return from_array(CU_MEMORYTYPE_HOST, to, 0, from, offset, bytes, NULL, false);
}

static CUresult cuMemcpyDtoA_v2_on(CUarray to, size_t offset, CUdeviceptr from, size_t bytes) {
    return to_array(to, offset, CU_MEMORYTYPE_DEVICE, NULL, from, bytes, NULL, false);
}

static CUresult cuMemcpyAtoD_v2_on(CUdeviceptr to, CUarray from, size_t offset, size_t bytes) {
    return from_array(CU_MEMORYTYPE_DEVICE, NULL, to, from, offset, bytes, NULL, false);
}

static CUresult cuMemcpyHtoAAsync_v2_on(CUarray to, size_t offset, const void *from, size_t bytes,
                                        CUstream stream) {
    return to_array(to, offset, CU_MEMORYTYPE_HOST, from, 0, bytes, stream, true);
}

static CUresult cuMemcpyAtoHAsync_v2_on(void *to, CUarray from, size_t offset, size_t bytes,
                                        CUstream stream) {
    return from_array(CU_MEMORYTYPE_HOST, to, 0, from, offset, bytes, stream, true);
}

SIM_TWINS(cuMemcpyHtoA_v2, _ptds, (CUarray to, size_t at, const void *from, size_t n),
          (to, at, from, n), (to, at, from, n))
SIM_TWINS(cuMemcpyAtoH_v2, _ptds, (void *to, CUarray from, size_t at, size_t n), (to, from, at, n),
          (to, from, at, n))
SIM_TWINS(cuMemcpyDtoA_v2, _ptds, (CUarray to, size_t at, CUdeviceptr from, size_t n),
          (to, at, from, n), (to, at, from, n))
SIM_TWINS(cuMemcpyAtoD_v2, _ptds, (CUdeviceptr to, CUarray from, size_t at, size_t n),
          (to, from, at, n), (to, from, at, n))
SIM_TWINS(cuMemcpyHtoAAsync_v2, _ptsz, (CUarray to, size_t at, const void *from, size_t n, S),
          (to, at, from, n, s), (to, at, from, n, SIM_PT(s)))
SIM_TWINS(cuMemcpyAtoHAsync_v2, _ptsz, (void *to, CUarray from, size_t at, size_t n, S),
          (to, from, at, n, s), (to, from, at, n, SIM_PT(s)))
