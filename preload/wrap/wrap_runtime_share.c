/* SPDX-License-Identifier: MIT */
/* The runtime's names for imported memory, as labels (see wrap_runtime.c). */
#include "wrap_runtime.h"

LABEL(cudaMemPoolImportPointer,
      (void **ptr, cudaMemPool_t memPool, struct cudaMemPoolPtrExportData *exportData),
      (ptr, memPool, exportData));
LABEL(cudaIpcOpenMemHandle, (void **devPtr, cudaIpcMemHandle_t handle, unsigned int flags),
      (devPtr, handle, flags));
LABEL(cudaIpcCloseMemHandle, (void *devPtr), (devPtr));
LABEL(cudaImportExternalMemory,
      (cudaExternalMemory_t * extMem_out, const struct cudaExternalMemoryHandleDesc *memHandleDesc),
      (extMem_out, memHandleDesc));
LABEL(cudaExternalMemoryGetMappedBuffer,
      (void **devPtr, cudaExternalMemory_t extMem,
       const struct cudaExternalMemoryBufferDesc *bufferDesc),
      (devPtr, extMem, bufferDesc));
LABEL(cudaExternalMemoryGetMappedMipmappedArray,
      (cudaMipmappedArray_t * mipmap, cudaExternalMemory_t extMem,
       const struct cudaExternalMemoryMipmappedArrayDesc *mipmapDesc),
      (mipmap, extMem, mipmapDesc));
LABEL(cudaDestroyExternalMemory, (cudaExternalMemory_t extMem), (extMem));
LABEL(cudaGraphicsGLRegisterBuffer,
      (cudaGraphicsResource_t * resource, unsigned int buffer, unsigned int flags),
      (resource, buffer, flags));
LABEL(cudaGraphicsGLRegisterImage,
      (cudaGraphicsResource_t * resource, unsigned int image, unsigned int target,
       unsigned int flags),
      (resource, image, target, flags));
LABEL(cudaGraphicsEGLRegisterImage,
      (cudaGraphicsResource_t * pCudaResource, void *image, unsigned int flags),
      (pCudaResource, image, flags));
LABEL(cudaGraphicsVDPAURegisterVideoSurface,
      (cudaGraphicsResource_t * resource, unsigned int vdpSurface, unsigned int flags),
      (resource, vdpSurface, flags));
LABEL(cudaGraphicsVDPAURegisterOutputSurface,
      (cudaGraphicsResource_t * resource, unsigned int vdpSurface, unsigned int flags),
      (resource, vdpSurface, flags));
LABEL(cudaGraphicsUnregisterResource, (cudaGraphicsResource_t resource), (resource));
LABEL(cudaGraphicsMapResources, (int count, cudaGraphicsResource_t *resources, cudaStream_t stream),
      (count, resources, stream));
LABEL(cudaGraphicsUnmapResources,
      (int count, cudaGraphicsResource_t *resources, cudaStream_t stream),
      (count, resources, stream));
