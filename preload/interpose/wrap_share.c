/* SPDX-License-Identifier: MIT */
/*
 * Imported memory: from another process by IPC, or from another library as external memory or through OpenGL, EGL and
 * VDPAU. It is recorded as objects, with the stacks that opened and closed it, and never counts as this process's
 * memory. Most of the wrappers are generated from hooks.def (wrap_module.c).
 */
#include "state/state.h"
#include "wrap.h"

/* Freed by cuMemFree: event.c calls vt_share_remove for an unknown address. */
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

static CUresult mapped_or_unmapped(const struct vt_call *call, CUresult result, unsigned flag,
                                   unsigned count, const CUgraphicsResource *resources) {
    for (unsigned i = 0; result == CUDA_SUCCESS && resources && i < count; i++)
        vt_event_object(call, VT_OBJECT_GRAPHICS, (uint64_t)(uintptr_t)resources[i], flag,
                        vt_context_current());
    return result;
}

#define MAP(name)                                                                                  \
    VT_EXPORT CUresult name(unsigned int count, CUgraphicsResource *resources, CUstream hStream) { \
        VT_ENTER_DRIVER(name);                                                                     \
        return mapped_or_unmapped(&call, real(count, resources, hStream), VT_OBJECT_MAPPED, count, \
                                  resources);                                                      \
    }
MAP(cuGraphicsMapResources)
MAP(cuGraphicsMapResources_ptsz)

#define UNMAP(name)                                                                                \
    VT_EXPORT CUresult name(unsigned int count, CUgraphicsResource *resources, CUstream hStream) { \
        VT_ENTER_DRIVER(name);                                                                     \
        return mapped_or_unmapped(&call, real(count, resources, hStream), VT_OBJECT_UNMAPPED,      \
                                  count, resources);                                               \
    }
UNMAP(cuGraphicsUnmapResources)
UNMAP(cuGraphicsUnmapResources_ptsz)
