/* SPDX-License-Identifier: MIT */
/* Imported memory in the simulated runtime, from other processes and graphics libraries. Also
 * texture and surface objects. */
#include "runtime.h"

#include <string.h>

/* ---- other processes ---- */

RT_FORWARD(cudaIpcGetMemHandle, (cudaIpcMemHandle_t * handle, void *address), ipcGetMemHandle,
           ((CUipcMemHandle *)(void *)handle, RT_ADDRESS(address)))
RT_FORWARD(cudaIpcCloseMemHandle, (void *address), ipcCloseMemHandle, (RT_ADDRESS(address)))
RT_FORWARD(cudaIpcGetEventHandle, (cudaIpcEventHandle_t * handle, cudaEvent_t event),
           ipcGetEventHandle, ((CUipcEventHandle *)(void *)handle, event))

cudaError_t cudaIpcOpenMemHandle(void **out, cudaIpcMemHandle_t handle, unsigned int flags) {
    CUdeviceptr address;
    CUipcMemHandle driver_handle;
    RT_ENTER_CONTEXT();
    if (out == NULL)
        return rt_fail(cudaErrorInvalidValue);
    memcpy(&driver_handle, &handle, sizeof driver_handle);
    CUresult result = rt.ipcOpenMemHandle(&address, driver_handle, flags);
    if (result == CUDA_SUCCESS)
        *out = (void *)(uintptr_t)address;
    return rt_result(result);
}

cudaError_t cudaIpcOpenEventHandle(cudaEvent_t *out, cudaIpcEventHandle_t handle) {
    CUipcEventHandle driver_handle;
    RT_ENTER_CONTEXT();
    memcpy(&driver_handle, &handle, sizeof driver_handle);
    return rt_result(rt.ipcOpenEventHandle(out, driver_handle));
}

/* ---- external memory ---- */

cudaError_t cudaImportExternalMemory(cudaExternalMemory_t *out,
                                     const struct cudaExternalMemoryHandleDesc *desc) {
    CUDA_EXTERNAL_MEMORY_HANDLE_DESC driver_desc = {0};
    RT_ENTER_CONTEXT();
    if (out == NULL || desc == NULL)
        return rt_fail(cudaErrorInvalidValue);
    driver_desc.type = (CUexternalMemoryHandleType)desc->type;
    memcpy(&driver_desc.handle, &desc->handle, sizeof driver_desc.handle);
    driver_desc.size = desc->size;
    driver_desc.flags = desc->flags;
    return rt_result(rt.importExternalMemory((CUexternalMemory *)(void *)out, &driver_desc));
}

RT_FORWARD(cudaDestroyExternalMemory, (cudaExternalMemory_t memory), destroyExternalMemory,
           ((CUexternalMemory)(void *)memory))

cudaError_t cudaExternalMemoryGetMappedBuffer(void **out, cudaExternalMemory_t memory,
                                              const struct cudaExternalMemoryBufferDesc *desc) {
    CUdeviceptr address;
    RT_ENTER_CONTEXT();
    if (out == NULL || desc == NULL)
        return rt_fail(cudaErrorInvalidValue);
    CUDA_EXTERNAL_MEMORY_BUFFER_DESC buffer = {
        .offset = desc->offset, .size = desc->size, .flags = desc->flags};
    CUresult result =
        rt.externalMemoryGetMappedBuffer(&address, (CUexternalMemory)(void *)memory, &buffer);
    if (result == CUDA_SUCCESS)
        *out = (void *)(uintptr_t)address;
    return rt_result(result);
}

cudaError_t
cudaExternalMemoryGetMappedMipmappedArray(cudaMipmappedArray_t *out, cudaExternalMemory_t memory,
                                          const struct cudaExternalMemoryMipmappedArrayDesc *desc) {
    RT_ENTER_CONTEXT();
    if (out == NULL || desc == NULL)
        return rt_fail(cudaErrorInvalidValue);
    CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC chain = {.offset = desc->offset,
                                                       .arrayDesc = {.Width = desc->extent.width,
                                                                     .Height = desc->extent.height,
                                                                     .Depth = desc->extent.depth,
                                                                     .Flags = desc->flags},
                                                       .numLevels = desc->numLevels};
    if (!rt_array_format(&desc->formatDesc, &chain.arrayDesc.Format, &chain.arrayDesc.NumChannels))
        return rt_fail(cudaErrorInvalidChannelDescriptor);
    return rt_result(rt.externalMemoryGetMappedMipmappedArray(
        (CUmipmappedArray *)(void *)out, (CUexternalMemory)(void *)memory, &chain));
}

/* ---- graphics ---- */

#define RESOURCE(r) ((CUgraphicsResource)(void *)(r))

RT_FORWARD(cudaGraphicsUnregisterResource, (cudaGraphicsResource_t resource),
           graphicsUnregisterResource, (RESOURCE(resource)))
RT_FORWARD(cudaGraphicsResourceSetMapFlags, (cudaGraphicsResource_t resource, unsigned int flags),
           graphicsResourceSetMapFlags, (RESOURCE(resource), flags))
RT_FORWARD(cudaGraphicsMapResources,
           (int count, cudaGraphicsResource_t *resources, cudaStream_t stream),
           graphicsMapResources, ((unsigned)count, (CUgraphicsResource *)(void *)resources, stream))
RT_FORWARD(cudaGraphicsUnmapResources,
           (int count, cudaGraphicsResource_t *resources, cudaStream_t stream),
           graphicsUnmapResources,
           ((unsigned)count, (CUgraphicsResource *)(void *)resources, stream))
RT_FORWARD(cudaGraphicsResourceGetMappedPointer,
           (void **out, size_t *bytes, cudaGraphicsResource_t resource),
           graphicsResourceGetMappedPointer,
           ((CUdeviceptr *)(void *)out, bytes, RESOURCE(resource)))
RT_FORWARD(cudaGraphicsSubResourceGetMappedArray,
           (cudaArray_t * out, cudaGraphicsResource_t resource, unsigned int index,
            unsigned int level),
           graphicsSubResourceGetMappedArray,
           ((CUarray *)(void *)out, RESOURCE(resource), index, level))
RT_FORWARD(cudaGraphicsGLRegisterBuffer,
           (cudaGraphicsResource_t * out, unsigned int buffer, unsigned int flags),
           graphicsGLRegisterBuffer, ((CUgraphicsResource *)(void *)out, buffer, flags))
RT_FORWARD(cudaGraphicsGLRegisterImage,
           (cudaGraphicsResource_t * out, unsigned int image, unsigned int target,
            unsigned int flags),
           graphicsGLRegisterImage, ((CUgraphicsResource *)(void *)out, image, target, flags))

/* ---- textures and surfaces: descriptions are not looked into ---- */

RT_FORWARD(cudaCreateTextureObject,
           (cudaTextureObject_t * out, const struct cudaResourceDesc *resource,
            const struct cudaTextureDesc *texture, const struct cudaResourceViewDesc *view),
           texObjectCreate,
           (out, (const CUDA_RESOURCE_DESC *)(const void *)resource,
            (const CUDA_TEXTURE_DESC *)(const void *)texture,
            (const CUDA_RESOURCE_VIEW_DESC *)(const void *)view))
RT_FORWARD(cudaDestroyTextureObject, (cudaTextureObject_t texture), texObjectDestroy, (texture))
RT_FORWARD(cudaCreateSurfaceObject,
           (cudaSurfaceObject_t * out, const struct cudaResourceDesc *resource), surfObjectCreate,
           (out, (const CUDA_RESOURCE_DESC *)(const void *)resource))
RT_FORWARD(cudaDestroySurfaceObject, (cudaSurfaceObject_t surface), surfObjectDestroy, (surface))
