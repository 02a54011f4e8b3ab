/* SPDX-License-Identifier: MIT */
/*
 * Linear copies and fills of the simulated driver. Bytes really move, and at once, on whatever
 * stream (a stream under capture gets a node instead). Device addresses must be allocated, as in
 * the real driver. 2D, 3D and array copies are in copy_shape.c.
 */
#include "graph.h"

#include <string.h>

/* An address that a unified copy may name: a known block, or plain host memory. */
static void *unified(CUdeviceptr address, size_t bytes, bool write, CUresult *result) {
    struct sim_block *block = sim_block_at((uintptr_t)address);
    void *pointer =
        block != NULL ? sim_memory_range(address, bytes, write) : (void *)(uintptr_t)address;
    if (pointer == NULL && bytes != 0)
        *result = CUDA_ERROR_INVALID_VALUE;
    return pointer;
}

static void *device(CUdeviceptr address, size_t bytes, bool write, CUresult *result) {
    void *pointer = sim_memory_range(address, bytes, write);
    if (pointer == NULL)
        *result = CUDA_ERROR_INVALID_VALUE;
    return pointer;
}

enum side { HOST, DEVICE, UNIFIED };

static void *resolve(enum side side, CUdeviceptr address, size_t bytes, bool write,
                     CUresult *result) {
    if (side == DEVICE)
        return device(address, bytes, write, result);
    if (side == UNIFIED)
        return unified(address, bytes, write, result);
    if (address == 0)
        *result = CUDA_ERROR_INVALID_VALUE;
    return (void *)(uintptr_t)address;
}

static bool is_device(CUdeviceptr address) {
    const struct sim_block *block = sim_block_at((uintptr_t)address);
    return block != NULL && block->kind != VRAMTRACE_SIM_HOST &&
           block->kind != VRAMTRACE_SIM_REGISTERED;
}

/* Every straight copy. The stream decides only whether it is captured. */
static CUresult copy(CUdeviceptr to, enum side to_side, CUdeviceptr from, enum side from_side,
                     size_t bytes, CUstream handle, bool async) {
    SIM_ENTER_CONTEXT(context);
    CUresult result = CUDA_SUCCESS;
    if (async) {
        struct sim_stream *stream = sim_stream_get(handle, context);
        if (stream == NULL)
            return CUDA_ERROR_INVALID_HANDLE;
        if (stream->capture != NULL) {
            CUDA_MEMCPY3D shape = {.srcMemoryType = CU_MEMORYTYPE_UNIFIED,
                                   .srcDevice = from,
                                   .dstMemoryType = CU_MEMORYTYPE_UNIFIED,
                                   .dstDevice = to,
                                   .WidthInBytes = bytes,
                                   .Height = 1,
                                   .Depth = 1};
            return sim_graph_capture_copy(stream, &shape);
        }
    }
    if (bytes == 0)
        return CUDA_SUCCESS;
    void *target = resolve(to_side, to, bytes, true, &result);
    void *source = resolve(from_side, from, bytes, false, &result);
    if (result == CUDA_SUCCESS)
        memmove(target, source, bytes);
    if (result == CUDA_SUCCESS && is_device(from) && !is_device(to))
        sim_steps_read(target, bytes);
    return result;
}

#define H(p) (CUdeviceptr)(uintptr_t)(p)

/* name, its twin's suffix, parameters, and how copy() is called; s is the stream or 0. */
#define COPY(name, params, to, to_side, from, from_side)                                           \
    static CUresult name##_on params {                                                             \
        return copy(to, to_side, from, from_side, bytes, NULL, false);                             \
    }
#define COPY_ASYNC(name, params, to, to_side, from, from_side)                                     \
    static CUresult name##_on params {                                                             \
        return copy(to, to_side, from, from_side, bytes, stream, true);                            \
    }

#define P_DD   (CUdeviceptr to, CUdeviceptr from, size_t bytes)
#define P_DH   (CUdeviceptr to, const void *from, size_t bytes)
#define P_HD   (void *to, CUdeviceptr from, size_t bytes)
#define P_DDS  (CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream)
#define P_DHS  (CUdeviceptr to, const void *from, size_t bytes, CUstream stream)
#define P_HDS  (void *to, CUdeviceptr from, size_t bytes, CUstream stream)
#define ARGS   (to, from, bytes)
#define ARGS_S (to, from, bytes, stream)
#define ARGS_P (to, from, bytes, SIM_PT(stream))

COPY(cuMemcpy, P_DD, to, UNIFIED, from, UNIFIED)
COPY(cuMemcpyDtoD_v2, P_DD, to, DEVICE, from, DEVICE)
COPY(cuMemcpyHtoD_v2, P_DH, to, DEVICE, H(from), HOST)
COPY(cuMemcpyDtoH_v2, P_HD, H(to), HOST, from, DEVICE)
COPY_ASYNC(cuMemcpyAsync, P_DDS, to, UNIFIED, from, UNIFIED)
COPY_ASYNC(cuMemcpyDtoDAsync_v2, P_DDS, to, DEVICE, from, DEVICE)
COPY_ASYNC(cuMemcpyHtoDAsync_v2, P_DHS, to, DEVICE, H(from), HOST)
COPY_ASYNC(cuMemcpyDtoHAsync_v2, P_HDS, H(to), HOST, from, DEVICE)

SIM_TWINS(cuMemcpy, _ptds, P_DD, ARGS, ARGS)
SIM_TWINS(cuMemcpyDtoD_v2, _ptds, P_DD, ARGS, ARGS)
SIM_TWINS(cuMemcpyHtoD_v2, _ptds, P_DH, ARGS, ARGS)
SIM_TWINS(cuMemcpyDtoH_v2, _ptds, P_HD, ARGS, ARGS)
SIM_TWINS(cuMemcpyAsync, _ptsz, P_DDS, ARGS_S, ARGS_P)
SIM_TWINS(cuMemcpyDtoDAsync_v2, _ptsz, P_DDS, ARGS_S, ARGS_P)
SIM_TWINS(cuMemcpyHtoDAsync_v2, _ptsz, P_DHS, ARGS_S, ARGS_P)
SIM_TWINS(cuMemcpyDtoHAsync_v2, _ptsz, P_HDS, ARGS_S, ARGS_P)

/* The 32-bit variants. */
CUresult cuMemcpyDtoD(CUdeviceptr_v1 to, CUdeviceptr_v1 from, unsigned int bytes) {
    return copy(to, DEVICE, from, DEVICE, bytes, NULL, false);
}

CUresult cuMemcpyHtoD(CUdeviceptr_v1 to, const void *from, unsigned int bytes) {
    return copy(to, DEVICE, H(from), HOST, bytes, NULL, false);
}

CUresult cuMemcpyDtoH(void *to, CUdeviceptr_v1 from, unsigned int bytes) {
    return copy(H(to), HOST, from, DEVICE, bytes, NULL, false);
}

CUresult cuMemcpyDtoDAsync(CUdeviceptr_v1 to, CUdeviceptr_v1 from, unsigned int bytes,
                           CUstream stream) {
    return copy(to, DEVICE, from, DEVICE, bytes, stream, true);
}

CUresult cuMemcpyHtoDAsync(CUdeviceptr_v1 to, const void *from, unsigned int bytes,
                           CUstream stream) {
    return copy(to, DEVICE, H(from), HOST, bytes, stream, true);
}

CUresult cuMemcpyDtoHAsync(void *to, CUdeviceptr_v1 from, unsigned int bytes, CUstream stream) {
    return copy(H(to), HOST, from, DEVICE, bytes, stream, true);
}

/* Peers: one address space, so the contexts only have to exist. */
static CUresult peers(CUcontext to, CUcontext from) {
    SIM_ENTER();
    return sim_context_of(to) != NULL && sim_context_of(from) != NULL ? CUDA_SUCCESS
                                                                      : CUDA_ERROR_INVALID_CONTEXT;
}

#define P_PEER                                                                                     \
    (CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context, size_t bytes)
#define P_PEERS                                                                                    \
    (CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context, size_t bytes, \
     CUstream stream)

static CUresult cuMemcpyPeer_on P_PEER {
    CUresult result = peers(to_context, from_context);
    return result == CUDA_SUCCESS ? copy(to, DEVICE, from, DEVICE, bytes, NULL, false) : result;
}

static CUresult cuMemcpyPeerAsync_on P_PEERS {
    CUresult result = peers(to_context, from_context);
    return result == CUDA_SUCCESS ? copy(to, DEVICE, from, DEVICE, bytes, stream, true) : result;
}

SIM_TWINS(cuMemcpyPeer, _ptds, P_PEER, (to, to_context, from, from_context, bytes),
          (to, to_context, from, from_context, bytes))
SIM_TWINS(cuMemcpyPeerAsync, _ptsz, P_PEERS, (to, to_context, from, from_context, bytes, stream),
          (to, to_context, from, from_context, bytes, SIM_PT(stream)))

/* ---- many at once ---- */

static CUresult copy_batch(const CUdeviceptr *to, const CUdeviceptr *from, const size_t *bytes,
                           size_t count, size_t *failed, CUstream stream) {
    if (to == NULL || from == NULL || bytes == NULL || count == 0)
        return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < count; i++) {
        CUresult result = copy(to[i], UNIFIED, from[i], UNIFIED, bytes[i], stream, true);
        if (result != CUDA_SUCCESS) {
            if (failed != NULL)
                *failed = i;
            return result;
        }
    }
    return CUDA_SUCCESS;
}

#define P_BATCH                                                                                    \
    (CUdeviceptr * to, CUdeviceptr * from, size_t * bytes, size_t count,                           \
     CUmemcpyAttributes * attrs, size_t * indexes, size_t attr_count, size_t * failed,             \
     CUstream stream)
#define P_BATCH_V2                                                                                 \
    (CUdeviceptr * to, CUdeviceptr * from, size_t * bytes, size_t count,                           \
     CUmemcpyAttributes * attrs, size_t * indexes, size_t attr_count, CUstream stream)

static CUresult cuMemcpyBatchAsync_on P_BATCH {
    (void)attrs;
    (void)indexes;
    (void)attr_count;
    return copy_batch(to, from, bytes, count, failed, stream);
}

static CUresult cuMemcpyBatchAsync_v2_on P_BATCH_V2 {
    (void)attrs;
    (void)indexes;
    (void)attr_count;
    return copy_batch(to, from, bytes, count, NULL, stream);
}

SIM_TWINS(cuMemcpyBatchAsync, _ptsz, P_BATCH,
          (to, from, bytes, count, attrs, indexes, attr_count, failed, stream),
          (to, from, bytes, count, attrs, indexes, attr_count, failed, SIM_PT(stream)))
SIM_TWINS(cuMemcpyBatchAsync_v2, _ptsz, P_BATCH_V2,
          (to, from, bytes, count, attrs, indexes, attr_count, stream),
          (to, from, bytes, count, attrs, indexes, attr_count, SIM_PT(stream)))
