/* SPDX-License-Identifier: MIT */
/*
 * The runtime's functions, as labels. A cudaMalloc is one event: the driver's allocation inside it,
 * under the name and with the stack of the runtime call in the program. Only if no driver event
 * happened inside does the wrapper report the event itself. A call that fails (cudaFree of what is
 * not allocated, cudaMalloc without memory) is handled in event.c like any other.
 *
 * Compiled once per major version (VT_CUDART = 12, 13) and exported under that version's node. A
 * program linked against libcudart.so.12 asks for cudaMalloc@libcudart.so.12, finds our wrapper for
 * 12, and reaches that runtime, whatever else is loaded. A runtime of another version has another
 * node, so its calls do not reach us; its driver calls are still recorded.
 */
#include "wrap_runtime.h"

WRAPPER(cudaMalloc)(void **devPtr, size_t size) {
    ENTER(cudaMalloc);
    return allocated(&label, real(devPtr, size), VT_KIND_DEVICE, devPtr, size);
}

WRAPPER(cudaMallocPitch)(void **devPtr, size_t *pitch, size_t width, size_t height) {
    ENTER(cudaMallocPitch);
    cudaError_t result = real(devPtr, pitch, width, height);
    uint64_t row = VT_OUT(result, pitch);
    return allocated(&label, result, VT_KIND_DEVICE, devPtr, (row ? row : width) * height);
}

WRAPPER(cudaMalloc3D)(struct cudaPitchedPtr *pitchedDevPtr, struct cudaExtent extent) {
    ENTER(cudaMalloc3D);
    cudaError_t result = real(pitchedDevPtr, extent);
    bool made = result == cudaSuccess && pitchedDevPtr;
    return allocated(&label, result, VT_KIND_DEVICE, made ? &pitchedDevPtr->ptr : NULL,
                     (made ? pitchedDevPtr->pitch : extent.width) * extent.height * extent.depth);
}

WRAPPER(cudaMallocManaged)(void **devPtr, size_t size, unsigned int flags) {
    ENTER(cudaMallocManaged);
    return allocated(&label, real(devPtr, size, flags), VT_KIND_MANAGED, devPtr, size);
}

WRAPPER(cudaMallocAsync)(void **devPtr, size_t size, cudaStream_t hStream) {
    ENTER(cudaMallocAsync);
    return allocated(&label, real(devPtr, size, hStream), VT_KIND_POOL, devPtr, size);
}

WRAPPER(cudaMallocAsync_ptsz)(void **devPtr, size_t size, cudaStream_t hStream) {
    ENTER(cudaMallocAsync_ptsz);
    return allocated(&label, real(devPtr, size, hStream), VT_KIND_POOL, devPtr, size);
}

WRAPPER(cudaMallocFromPoolAsync)
(void **ptr, size_t size, cudaMemPool_t memPool, cudaStream_t stream) {
    ENTER(cudaMallocFromPoolAsync);
    return allocated(&label, real(ptr, size, memPool, stream), VT_KIND_POOL, ptr, size);
}

WRAPPER(cudaMallocFromPoolAsync_ptsz)
(void **ptr, size_t size, cudaMemPool_t memPool, cudaStream_t stream) {
    ENTER(cudaMallocFromPoolAsync_ptsz);
    return allocated(&label, real(ptr, size, memPool, stream), VT_KIND_POOL, ptr, size);
}

WRAPPER(cudaMallocHost)(void **ptr, size_t size) {
    ENTER(cudaMallocHost);
    return allocated(&label, real(ptr, size), VT_KIND_HOST, ptr, size);
}

WRAPPER(cudaHostAlloc)(void **pHost, size_t size, unsigned int flags) {
    ENTER(cudaHostAlloc);
    return allocated(&label, real(pHost, size, flags), VT_KIND_HOST, pHost, size);
}

WRAPPER(cudaFree)(void *devPtr) {
    ENTER(cudaFree);
    return freed(&label, real(devPtr), devPtr, VT_KIND_DEVICE);
}

WRAPPER(cudaFreeAsync)(void *devPtr, cudaStream_t hStream) {
    ENTER(cudaFreeAsync);
    return freed(&label, real(devPtr, hStream), devPtr, VT_KIND_DEVICE);
}

WRAPPER(cudaFreeAsync_ptsz)(void *devPtr, cudaStream_t hStream) {
    ENTER(cudaFreeAsync_ptsz);
    return freed(&label, real(devPtr, hStream), devPtr, VT_KIND_DEVICE);
}

WRAPPER(cudaFreeHost)(void *ptr) {
    ENTER(cudaFreeHost);
    return freed(&label, real(ptr), ptr, VT_KIND_HOST);
}

/* What a call that is only a label does is recorded by the driver wrappers inside it. */
#define VT_LABEL(id, symbol, since, until, role, prototype, arguments)                             \
    VT_LABEL_AS(id, symbol, symbol, since, until, role, prototype, arguments)
#define VT_LABEL_AS(id, symbol, exported, since, until, role, prototype, arguments)                \
    WRAPPER_AS(symbol, exported, since, until) prototype {                                         \
        ENTER(symbol);                                                                             \
        cudaError_t result = real arguments;                                                       \
        vt_event_label_end(&label);                                                                \
        return result;                                                                             \
    }
#include "vramtrace/hooks.def"
