/* SPDX-License-Identifier: MIT */
/*
 * Imported memory: another process's by IPC, another library's as external memory or through
 * OpenGL, EGL and VDPAU. It is recorded as objects, with the stacks that opened and closed it, and
 * never counts as this process's memory.
 */
#include "books/books.h"
#include "wrap.h"

VT_EXPORT CUresult cuIpcOpenMemHandle(CUdeviceptr *pdptr, CUipcMemHandle handle,
                                      unsigned int Flags) {
    VT_ENTER_DRIVER(cuIpcOpenMemHandle);
    return vt_object_made(&call, real(pdptr, handle, Flags), VT_OBJECT_EXTERNAL, pdptr);
}

VT_EXPORT CUresult cuIpcOpenMemHandle_v2(CUdeviceptr *pdptr, CUipcMemHandle handle,
                                         unsigned int Flags) {
    VT_ENTER_DRIVER(cuIpcOpenMemHandle_v2);
    return vt_object_made(&call, real(pdptr, handle, Flags), VT_OBJECT_EXTERNAL, pdptr);
}

VT_EXPORT CUresult cuIpcCloseMemHandle(CUdeviceptr dptr) {
    VT_ENTER_DRIVER(cuIpcCloseMemHandle);
    return vt_object_gone(&call, real(dptr), VT_OBJECT_EXTERNAL, (const void *)(uintptr_t)dptr);
}

VT_EXPORT CUresult cuImportExternalMemory(CUexternalMemory *extMem_out,
                                          const CUDA_EXTERNAL_MEMORY_HANDLE_DESC *memHandleDesc) {
    VT_ENTER_DRIVER(cuImportExternalMemory);
    return vt_object_made(&call, real(extMem_out, memHandleDesc), VT_OBJECT_EXTERNAL, extMem_out);
}

VT_EXPORT CUresult cuDestroyExternalMemory(CUexternalMemory extMem) {
    VT_ENTER_DRIVER(cuDestroyExternalMemory);
    return vt_object_gone(&call, real(extMem), VT_OBJECT_EXTERNAL, extMem);
}

/* Freed by cuMemFree: event.c calls vt_share_take for an unknown address. */
VT_EXPORT CUresult
cuExternalMemoryGetMappedBuffer(CUdeviceptr *devPtr, CUexternalMemory extMem,
                                const CUDA_EXTERNAL_MEMORY_BUFFER_DESC *bufferDesc) {
    VT_ENTER_DRIVER(cuExternalMemoryGetMappedBuffer);
    CUresult result = real(devPtr, extMem, bufferDesc);
    if (VT_OUT(result, devPtr))
        vt_share_seen(VT_OUT(result, devPtr));
    return vt_object_made(&call, result, VT_OBJECT_EXTERNAL, devPtr);
}

/* Freed by cuMipmappedArrayDestroy, in the same way. */
VT_EXPORT CUresult cuExternalMemoryGetMappedMipmappedArray(
    CUmipmappedArray *mipmap, CUexternalMemory extMem,
    const CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC *mipmapDesc) {
    VT_ENTER_DRIVER(cuExternalMemoryGetMappedMipmappedArray);
    CUresult result = real(mipmap, extMem, mipmapDesc);
    if (VT_OUT(result, mipmap))
        vt_share_seen(VT_OUT(result, mipmap));
    return vt_object_made(&call, result, VT_OBJECT_EXTERNAL, mipmap);
}

/* Graphics resources: registered for a long time, mapped briefly. */

VT_EXPORT CUresult cuGraphicsGLRegisterBuffer(CUgraphicsResource *pCudaResource,
                                              unsigned int buffer, unsigned int Flags) {
    VT_ENTER_DRIVER(cuGraphicsGLRegisterBuffer);
    return vt_object_made(&call, real(pCudaResource, buffer, Flags), VT_OBJECT_GRAPHICS,
                          pCudaResource);
}

VT_EXPORT CUresult cuGraphicsGLRegisterImage(CUgraphicsResource *pCudaResource, unsigned int image,
                                             unsigned int target, unsigned int Flags) {
    VT_ENTER_DRIVER(cuGraphicsGLRegisterImage);
    return vt_object_made(&call, real(pCudaResource, image, target, Flags), VT_OBJECT_GRAPHICS,
                          pCudaResource);
}

VT_EXPORT CUresult cuGraphicsEGLRegisterImage(CUgraphicsResource *pCudaResource, void *image,
                                              unsigned int flags) {
    VT_ENTER_DRIVER(cuGraphicsEGLRegisterImage);
    return vt_object_made(&call, real(pCudaResource, image, flags), VT_OBJECT_GRAPHICS,
                          pCudaResource);
}

VT_EXPORT CUresult cuGraphicsVDPAURegisterVideoSurface(CUgraphicsResource *pCudaResource,
                                                       unsigned int vdpSurface,
                                                       unsigned int flags) {
    VT_ENTER_DRIVER(cuGraphicsVDPAURegisterVideoSurface);
    return vt_object_made(&call, real(pCudaResource, vdpSurface, flags), VT_OBJECT_GRAPHICS,
                          pCudaResource);
}

VT_EXPORT CUresult cuGraphicsVDPAURegisterOutputSurface(CUgraphicsResource *pCudaResource,
                                                        unsigned int vdpSurface,
                                                        unsigned int flags) {
    VT_ENTER_DRIVER(cuGraphicsVDPAURegisterOutputSurface);
    return vt_object_made(&call, real(pCudaResource, vdpSurface, flags), VT_OBJECT_GRAPHICS,
                          pCudaResource);
}

VT_EXPORT CUresult cuGraphicsUnregisterResource(CUgraphicsResource resource) {
    VT_ENTER_DRIVER(cuGraphicsUnregisterResource);
    return vt_object_gone(&call, real(resource), VT_OBJECT_GRAPHICS, resource);
}

static CUresult mapped_or_unmapped(const struct vt_call *call, CUresult result, unsigned flag,
                                   unsigned count, const CUgraphicsResource *resources) {
    for (unsigned i = 0; result == CUDA_SUCCESS && resources && i < count; i++)
        vt_event_object(call, VT_OBJECT_GRAPHICS, (uint64_t)(uintptr_t)resources[i], flag,
                        vt_context_current());
    return result;
}

VT_EXPORT CUresult cuGraphicsMapResources(unsigned int count, CUgraphicsResource *resources,
                                          CUstream hStream) {
    VT_ENTER_DRIVER(cuGraphicsMapResources);
    return mapped_or_unmapped(&call, real(count, resources, hStream), VT_OBJECT_MAPPED, count,
                              resources);
}

VT_EXPORT CUresult cuGraphicsMapResources_ptsz(unsigned int count, CUgraphicsResource *resources,
                                               CUstream hStream) {
    VT_ENTER_DRIVER(cuGraphicsMapResources_ptsz);
    return mapped_or_unmapped(&call, real(count, resources, hStream), VT_OBJECT_MAPPED, count,
                              resources);
}

VT_EXPORT CUresult cuGraphicsUnmapResources(unsigned int count, CUgraphicsResource *resources,
                                            CUstream hStream) {
    VT_ENTER_DRIVER(cuGraphicsUnmapResources);
    return mapped_or_unmapped(&call, real(count, resources, hStream), VT_OBJECT_UNMAPPED, count,
                              resources);
}

VT_EXPORT CUresult cuGraphicsUnmapResources_ptsz(unsigned int count, CUgraphicsResource *resources,
                                                 CUstream hStream) {
    VT_ENTER_DRIVER(cuGraphicsUnmapResources_ptsz);
    return mapped_or_unmapped(&call, real(count, resources, hStream), VT_OBJECT_UNMAPPED, count,
                              resources);
}
