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

EXPORT(cudaMalloc);
VT_EXPORT cudaError_t OURS(cudaMalloc)(void **devPtr, size_t size) {
    ENTER(cudaMalloc);
    return allocated(&label, real(devPtr, size), VT_KIND_DEVICE, devPtr, size);
}

EXPORT(cudaMallocPitch);
VT_EXPORT cudaError_t OURS(cudaMallocPitch)(void **devPtr, size_t *pitch, size_t width,
                                            size_t height) {
    ENTER(cudaMallocPitch);
    cudaError_t result = real(devPtr, pitch, width, height);
    uint64_t row = VT_OUT(result, pitch);
    return allocated(&label, result, VT_KIND_DEVICE, devPtr, (row ? row : width) * height);
}

EXPORT(cudaMalloc3D);
VT_EXPORT cudaError_t OURS(cudaMalloc3D)(struct cudaPitchedPtr *pitchedDevPtr,
                                         struct cudaExtent extent) {
    ENTER(cudaMalloc3D);
    cudaError_t result = real(pitchedDevPtr, extent);
    bool made = result == cudaSuccess && pitchedDevPtr;
    return allocated(&label, result, VT_KIND_DEVICE, made ? &pitchedDevPtr->ptr : NULL,
                     (made ? pitchedDevPtr->pitch : extent.width) * extent.height * extent.depth);
}

EXPORT(cudaMallocManaged);
VT_EXPORT cudaError_t OURS(cudaMallocManaged)(void **devPtr, size_t size, unsigned int flags) {
    ENTER(cudaMallocManaged);
    return allocated(&label, real(devPtr, size, flags), VT_KIND_MANAGED, devPtr, size);
}

EXPORT(cudaMallocAsync);
VT_EXPORT cudaError_t OURS(cudaMallocAsync)(void **devPtr, size_t size, cudaStream_t hStream) {
    ENTER(cudaMallocAsync);
    return allocated(&label, real(devPtr, size, hStream), VT_KIND_POOL, devPtr, size);
}

EXPORT(cudaMallocAsync_ptsz);
VT_EXPORT cudaError_t OURS(cudaMallocAsync_ptsz)(void **devPtr, size_t size, cudaStream_t hStream) {
    ENTER(cudaMallocAsync_ptsz);
    return allocated(&label, real(devPtr, size, hStream), VT_KIND_POOL, devPtr, size);
}

EXPORT(cudaMallocFromPoolAsync);
VT_EXPORT cudaError_t OURS(cudaMallocFromPoolAsync)(void **ptr, size_t size, cudaMemPool_t memPool,
                                                    cudaStream_t stream) {
    ENTER(cudaMallocFromPoolAsync);
    return allocated(&label, real(ptr, size, memPool, stream), VT_KIND_POOL, ptr, size);
}

EXPORT(cudaMallocFromPoolAsync_ptsz);
VT_EXPORT cudaError_t OURS(cudaMallocFromPoolAsync_ptsz)(void **ptr, size_t size,
                                                         cudaMemPool_t memPool,
                                                         cudaStream_t stream) {
    ENTER(cudaMallocFromPoolAsync_ptsz);
    return allocated(&label, real(ptr, size, memPool, stream), VT_KIND_POOL, ptr, size);
}

EXPORT(cudaMallocHost);
VT_EXPORT cudaError_t OURS(cudaMallocHost)(void **ptr, size_t size) {
    ENTER(cudaMallocHost);
    return allocated(&label, real(ptr, size), VT_KIND_HOST, ptr, size);
}

EXPORT(cudaHostAlloc);
VT_EXPORT cudaError_t OURS(cudaHostAlloc)(void **pHost, size_t size, unsigned int flags) {
    ENTER(cudaHostAlloc);
    return allocated(&label, real(pHost, size, flags), VT_KIND_HOST, pHost, size);
}

EXPORT(cudaFree);
VT_EXPORT cudaError_t OURS(cudaFree)(void *devPtr) {
    ENTER(cudaFree);
    return freed(&label, real(devPtr), devPtr, VT_KIND_DEVICE);
}

EXPORT(cudaFreeAsync);
VT_EXPORT cudaError_t OURS(cudaFreeAsync)(void *devPtr, cudaStream_t hStream) {
    ENTER(cudaFreeAsync);
    return freed(&label, real(devPtr, hStream), devPtr, VT_KIND_DEVICE);
}

EXPORT(cudaFreeAsync_ptsz);
VT_EXPORT cudaError_t OURS(cudaFreeAsync_ptsz)(void *devPtr, cudaStream_t hStream) {
    ENTER(cudaFreeAsync_ptsz);
    return freed(&label, real(devPtr, hStream), devPtr, VT_KIND_DEVICE);
}

EXPORT(cudaFreeHost);
VT_EXPORT cudaError_t OURS(cudaFreeHost)(void *ptr) {
    ENTER(cudaFreeHost);
    return freed(&label, real(ptr), ptr, VT_KIND_HOST);
}

LABEL(cudaDeviceReset, (void), ());

#if VT_CUDART <= 12
EXPORT(cudaThreadExit);
#endif
VT_EXPORT cudaError_t OURS(cudaThreadExit)(void) {
    ENTER(cudaThreadExit);
    return labelled(&label, real());
}
