/* SPDX-License-Identifier: MIT */
/* The runtime's names for imported memory, as labels (see wrap_runtime.c). */
#include "wrap_runtime.h"

EXPORT(cudaMemPoolImportPointer);
VT_EXPORT cudaError_t OURS(cudaMemPoolImportPointer)(void **ptr, cudaMemPool_t memPool,
                                                     struct cudaMemPoolPtrExportData *exportData) {
    ENTER(cudaMemPoolImportPointer);
    return labelled(&label, real(ptr, memPool, exportData));
}

EXPORT(cudaIpcOpenMemHandle);
VT_EXPORT cudaError_t OURS(cudaIpcOpenMemHandle)(void **devPtr, cudaIpcMemHandle_t handle,
                                                 unsigned int flags) {
    ENTER(cudaIpcOpenMemHandle);
    return labelled(&label, real(devPtr, handle, flags));
}

EXPORT(cudaIpcCloseMemHandle);
VT_EXPORT cudaError_t OURS(cudaIpcCloseMemHandle)(void *devPtr) {
    ENTER(cudaIpcCloseMemHandle);
    return labelled(&label, real(devPtr));
}

EXPORT(cudaImportExternalMemory);
VT_EXPORT cudaError_t OURS(cudaImportExternalMemory)(
    cudaExternalMemory_t *extMem_out, const struct cudaExternalMemoryHandleDesc *memHandleDesc) {
    ENTER(cudaImportExternalMemory);
    return labelled(&label, real(extMem_out, memHandleDesc));
}

EXPORT(cudaExternalMemoryGetMappedBuffer);
VT_EXPORT cudaError_t
OURS(cudaExternalMemoryGetMappedBuffer)(void **devPtr, cudaExternalMemory_t extMem,
                                        const struct cudaExternalMemoryBufferDesc *bufferDesc) {
    ENTER(cudaExternalMemoryGetMappedBuffer);
    return labelled(&label, real(devPtr, extMem, bufferDesc));
}

EXPORT(cudaExternalMemoryGetMappedMipmappedArray);
VT_EXPORT cudaError_t OURS(cudaExternalMemoryGetMappedMipmappedArray)(
    cudaMipmappedArray_t *mipmap, cudaExternalMemory_t extMem,
    const struct cudaExternalMemoryMipmappedArrayDesc *mipmapDesc) {
    ENTER(cudaExternalMemoryGetMappedMipmappedArray);
    return labelled(&label, real(mipmap, extMem, mipmapDesc));
}

EXPORT(cudaDestroyExternalMemory);
VT_EXPORT cudaError_t OURS(cudaDestroyExternalMemory)(cudaExternalMemory_t extMem) {
    ENTER(cudaDestroyExternalMemory);
    return labelled(&label, real(extMem));
}

EXPORT(cudaGraphicsGLRegisterBuffer);
VT_EXPORT cudaError_t OURS(cudaGraphicsGLRegisterBuffer)(struct cudaGraphicsResource **resource,
                                                         unsigned int buffer, unsigned int flags) {
    ENTER(cudaGraphicsGLRegisterBuffer);
    return labelled(&label, real(resource, buffer, flags));
}

EXPORT(cudaGraphicsGLRegisterImage);
VT_EXPORT cudaError_t OURS(cudaGraphicsGLRegisterImage)(struct cudaGraphicsResource **resource,
                                                        unsigned int image, unsigned int target,
                                                        unsigned int flags) {
    ENTER(cudaGraphicsGLRegisterImage);
    return labelled(&label, real(resource, image, target, flags));
}

EXPORT(cudaGraphicsEGLRegisterImage);
VT_EXPORT cudaError_t OURS(cudaGraphicsEGLRegisterImage)(
    struct cudaGraphicsResource **pCudaResource, void *image, unsigned int flags) {
    ENTER(cudaGraphicsEGLRegisterImage);
    return labelled(&label, real(pCudaResource, image, flags));
}

EXPORT(cudaGraphicsVDPAURegisterVideoSurface);
VT_EXPORT cudaError_t OURS(cudaGraphicsVDPAURegisterVideoSurface)(
    struct cudaGraphicsResource **resource, unsigned int vdpSurface, unsigned int flags) {
    ENTER(cudaGraphicsVDPAURegisterVideoSurface);
    return labelled(&label, real(resource, vdpSurface, flags));
}

EXPORT(cudaGraphicsVDPAURegisterOutputSurface);
VT_EXPORT cudaError_t OURS(cudaGraphicsVDPAURegisterOutputSurface)(
    struct cudaGraphicsResource **resource, unsigned int vdpSurface, unsigned int flags) {
    ENTER(cudaGraphicsVDPAURegisterOutputSurface);
    return labelled(&label, real(resource, vdpSurface, flags));
}

EXPORT(cudaGraphicsUnregisterResource);
VT_EXPORT cudaError_t OURS(cudaGraphicsUnregisterResource)(cudaGraphicsResource_t resource) {
    ENTER(cudaGraphicsUnregisterResource);
    return labelled(&label, real(resource));
}

EXPORT(cudaGraphicsMapResources);
VT_EXPORT cudaError_t OURS(cudaGraphicsMapResources)(int count, cudaGraphicsResource_t *resources,
                                                     cudaStream_t stream) {
    ENTER(cudaGraphicsMapResources);
    return labelled(&label, real(count, resources, stream));
}

EXPORT(cudaGraphicsUnmapResources);
VT_EXPORT cudaError_t OURS(cudaGraphicsUnmapResources)(int count, cudaGraphicsResource_t *resources,
                                                       cudaStream_t stream) {
    ENTER(cudaGraphicsUnmapResources);
    return labelled(&label, real(count, resources, stream));
}
