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
    cudaError_t result = real(devPtr, size);
    return allocated(&label, result, VT_KIND_DEVICE, VT_OUT(result, devPtr), size);
}

EXPORT(cudaMallocPitch);
VT_EXPORT cudaError_t OURS(cudaMallocPitch)(void **devPtr, size_t *pitch, size_t width,
                                            size_t height) {
    ENTER(cudaMallocPitch);
    cudaError_t result = real(devPtr, pitch, width, height);
    uint64_t row = VT_OUT(result, pitch);
    return allocated(&label, result, VT_KIND_DEVICE, VT_OUT(result, devPtr),
                     (row ? row : width) * height);
}

EXPORT(cudaMalloc3D);
VT_EXPORT cudaError_t OURS(cudaMalloc3D)(struct cudaPitchedPtr *pitchedDevPtr,
                                         struct cudaExtent extent) {
    ENTER(cudaMalloc3D);
    cudaError_t result = real(pitchedDevPtr, extent);
    bool made = result == cudaSuccess && pitchedDevPtr;
    return allocated(&label, result, VT_KIND_DEVICE,
                     made ? (uint64_t)(uintptr_t)pitchedDevPtr->ptr : 0,
                     (made ? pitchedDevPtr->pitch : extent.width) * extent.height * extent.depth);
}

EXPORT(cudaMallocManaged);
VT_EXPORT cudaError_t OURS(cudaMallocManaged)(void **devPtr, size_t size, unsigned int flags) {
    ENTER(cudaMallocManaged);
    cudaError_t result = real(devPtr, size, flags);
    return allocated(&label, result, VT_KIND_MANAGED, VT_OUT(result, devPtr), size);
}

EXPORT(cudaMallocAsync);
VT_EXPORT cudaError_t OURS(cudaMallocAsync)(void **devPtr, size_t size, cudaStream_t hStream) {
    ENTER(cudaMallocAsync);
    cudaError_t result = real(devPtr, size, hStream);
    return allocated(&label, result, VT_KIND_POOL, VT_OUT(result, devPtr), size);
}

EXPORT(cudaMallocAsync_ptsz);
VT_EXPORT cudaError_t OURS(cudaMallocAsync_ptsz)(void **devPtr, size_t size, cudaStream_t hStream) {
    ENTER(cudaMallocAsync_ptsz);
    cudaError_t result = real(devPtr, size, hStream);
    return allocated(&label, result, VT_KIND_POOL, VT_OUT(result, devPtr), size);
}

EXPORT(cudaMallocFromPoolAsync);
VT_EXPORT cudaError_t OURS(cudaMallocFromPoolAsync)(void **ptr, size_t size, cudaMemPool_t memPool,
                                                    cudaStream_t stream) {
    ENTER(cudaMallocFromPoolAsync);
    cudaError_t result = real(ptr, size, memPool, stream);
    return allocated(&label, result, VT_KIND_POOL, VT_OUT(result, ptr), size);
}

EXPORT(cudaMallocFromPoolAsync_ptsz);
VT_EXPORT cudaError_t OURS(cudaMallocFromPoolAsync_ptsz)(void **ptr, size_t size,
                                                         cudaMemPool_t memPool,
                                                         cudaStream_t stream) {
    ENTER(cudaMallocFromPoolAsync_ptsz);
    cudaError_t result = real(ptr, size, memPool, stream);
    return allocated(&label, result, VT_KIND_POOL, VT_OUT(result, ptr), size);
}

EXPORT(cudaMallocHost);
VT_EXPORT cudaError_t OURS(cudaMallocHost)(void **ptr, size_t size) {
    ENTER(cudaMallocHost);
    cudaError_t result = real(ptr, size);
    return allocated(&label, result, VT_KIND_HOST, VT_OUT(result, ptr), size);
}

EXPORT(cudaHostAlloc);
VT_EXPORT cudaError_t OURS(cudaHostAlloc)(void **pHost, size_t size, unsigned int flags) {
    ENTER(cudaHostAlloc);
    cudaError_t result = real(pHost, size, flags);
    return allocated(&label, result, VT_KIND_HOST, VT_OUT(result, pHost), size);
}

EXPORT(cudaFree);
VT_EXPORT cudaError_t OURS(cudaFree)(void *devPtr) {
    ENTER(cudaFree);
    cudaError_t result = real(devPtr);
    return freed(&label, result, (uint64_t)(uintptr_t)devPtr, VT_KIND_DEVICE);
}

EXPORT(cudaFreeAsync);
VT_EXPORT cudaError_t OURS(cudaFreeAsync)(void *devPtr, cudaStream_t hStream) {
    ENTER(cudaFreeAsync);
    cudaError_t result = real(devPtr, hStream);
    return freed(&label, result, (uint64_t)(uintptr_t)devPtr, VT_KIND_DEVICE);
}

EXPORT(cudaFreeAsync_ptsz);
VT_EXPORT cudaError_t OURS(cudaFreeAsync_ptsz)(void *devPtr, cudaStream_t hStream) {
    ENTER(cudaFreeAsync_ptsz);
    cudaError_t result = real(devPtr, hStream);
    return freed(&label, result, (uint64_t)(uintptr_t)devPtr, VT_KIND_DEVICE);
}

EXPORT(cudaFreeHost);
VT_EXPORT cudaError_t OURS(cudaFreeHost)(void *ptr) {
    ENTER(cudaFreeHost);
    cudaError_t result = real(ptr);
    return freed(&label, result, (uint64_t)(uintptr_t)ptr, VT_KIND_HOST);
}

LABEL(cudaDeviceReset, (void), ());

#if VT_CUDART <= 12
EXPORT(cudaThreadExit);
#endif
VT_EXPORT cudaError_t OURS(cudaThreadExit)(void) {
    ENTER(cudaThreadExit);
    return labelled(&label, real());
}
