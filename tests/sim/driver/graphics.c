/* SPDX-License-Identifier: MIT */
/*
 * Graphics interoperation of the simulated driver: there is no graphics, but resources can be
 * registered and mapped, as new memory that is not counted. That is enough to run a program's
 * interoperation code. EGL streams are not supported (unsupported.c).
 */
#include "array.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define RESOURCE_BYTES ((size_t)1 << 20) /* the size of the other side's object is unknown */

struct sim_graphics {
    struct sim_object object;
    struct sim_block *block; /* while it is mapped */
    struct sim_mipmap *image;
    bool is_image, mapped;
};

static void unmap(struct sim_graphics *resource) {
    if (resource->block != NULL)
        sim_memory_release(resource->block);
    if (resource->image != NULL)
        sim_object_drop(resource->image);
    resource->block = NULL;
    resource->image = NULL;
    resource->mapped = false;
}

static void drop(struct sim_object *object) {
    unmap((struct sim_graphics *)object);
    sim_object_free(object);
}

static CUresult register_resource(CUgraphicsResource *out, bool is_image) {
    SIM_ENTER_CONTEXT(context);
    if (out == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    struct sim_graphics *resource =
        sim_object_new(sizeof *resource, SIM_OBJECT_GRAPHICS, context, drop);
    if (resource == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    resource->is_image = is_image;
    *out = (CUgraphicsResource)(void *)resource;
    return CUDA_SUCCESS;
}

CUresult cuGraphicsGLRegisterBuffer(CUgraphicsResource *out, unsigned int buffer,
                                    unsigned int flags) {
    (void)buffer;
    (void)flags;
    return register_resource(out, false);
}

CUresult cuGraphicsGLRegisterImage(CUgraphicsResource *out, unsigned int image, unsigned int target,
                                   unsigned int flags) {
    (void)image;
    (void)target;
    (void)flags;
    return register_resource(out, true);
}

CUresult cuGraphicsEGLRegisterImage(CUgraphicsResource *out, void *image, unsigned int flags) {
    (void)image;
    (void)flags;
    return register_resource(out, true);
}

CUresult cuGraphicsVDPAURegisterVideoSurface(CUgraphicsResource *out, uint32_t surface,
                                             unsigned int flags) {
    (void)surface;
    (void)flags;
    return register_resource(out, true);
}

CUresult cuGraphicsVDPAURegisterOutputSurface(CUgraphicsResource *out, uint32_t surface,
                                              unsigned int flags) {
    (void)surface;
    (void)flags;
    return register_resource(out, true);
}

CUresult cuGraphicsUnregisterResource(CUgraphicsResource handle) {
    SIM_ENTER();
    struct sim_graphics *resource = sim_object_get(handle, SIM_OBJECT_GRAPHICS);
    if (resource == NULL)
        return CUDA_ERROR_INVALID_HANDLE;
    sim_object_drop(resource);
    return CUDA_SUCCESS;
}

static CUresult set_flags(CUgraphicsResource handle) {
    SIM_ENTER();
    struct sim_graphics *resource = sim_object_get(handle, SIM_OBJECT_GRAPHICS);
    if (resource == NULL)
        return CUDA_ERROR_INVALID_HANDLE;
    return resource->mapped ? CUDA_ERROR_ALREADY_MAPPED : CUDA_SUCCESS;
}

CUresult cuGraphicsResourceSetMapFlags(CUgraphicsResource resource, unsigned int flags) {
    (void)flags;
    return set_flags(resource);
}

CUresult cuGraphicsResourceSetMapFlags_v2(CUgraphicsResource resource, unsigned int flags) {
    (void)flags;
    return set_flags(resource);
}

/* Memory for a mapped buffer: separate addresses, not counted. */
static CUresult map_buffer(struct sim_context *context, struct sim_graphics *resource) {
    struct sim_block *block = calloc(1, sizeof *block);
    void *start = block != NULL ? mmap(NULL, RESOURCE_BYTES, PROT_READ | PROT_WRITE,
                                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
                                : MAP_FAILED;
    if (start == MAP_FAILED) {
        free(block);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    block->start = (uintptr_t)start;
    block->bytes = block->span = RESOURCE_BYTES;
    block->owner = SIM_OWNER_IMPORTED;
    block->kind = VRAMTRACE_SIM_IMPORTED;
    block->device = context->device;
    block->uses = 1; /* not cuMemFree's to free */
    block->id = ++sim.next_id;
    sim_block_insert(block);
    sim_count(block->device, VRAMTRACE_SIM_IMPORTED, (int64_t)RESOURCE_BYTES, 1);
    resource->block = block;
    return CUDA_SUCCESS;
}

static CUresult change(unsigned int count, CUgraphicsResource *handles, CUstream stream, bool map) {
    SIM_ENTER_CONTEXT(context);
    if (sim_stream_get(stream, context) == NULL)
        return CUDA_ERROR_INVALID_HANDLE;
    if (handles == NULL || count == 0)
        return CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < count; i++) {
        struct sim_graphics *resource = sim_object_get(handles[i], SIM_OBJECT_GRAPHICS);
        if (resource == NULL)
            return CUDA_ERROR_INVALID_HANDLE;
        if (resource->mapped == map)
            return map ? CUDA_ERROR_ALREADY_MAPPED : CUDA_ERROR_NOT_MAPPED;
    }
    for (unsigned i = 0; i < count; i++) {
        struct sim_graphics *resource = sim_object_get(handles[i], SIM_OBJECT_GRAPHICS);
        CUresult result = CUDA_SUCCESS;
        if (!map) {
            unmap(resource);
            continue;
        }
        if (resource->is_image) {
            const CUDA_ARRAY3D_DESCRIPTOR image = {.Width = 512,
                                                   .Height = 512,
                                                   .Format = CU_AD_FORMAT_UNSIGNED_INT8,
                                                   .NumChannels = 4};
            result = sim_mipmap_new(context, &image, 1, true, &resource->image);
            if (result == CUDA_SUCCESS)
                resource->image->object.context = NULL; /* it goes with the mapping */
        } else {
            result = map_buffer(context, resource);
        }
        if (result != CUDA_SUCCESS)
            return result;
        resource->mapped = true;
    }
    return CUDA_SUCCESS;
}

static CUresult cuGraphicsMapResources_on(unsigned int n, CUgraphicsResource *list, CUstream s) {
    return change(n, list, s, true);
}

static CUresult cuGraphicsUnmapResources_on(unsigned int n, CUgraphicsResource *list, CUstream s) {
    return change(n, list, s, false);
}

SIM_TWINS(cuGraphicsMapResources, _ptsz, (unsigned int n, CUgraphicsResource *list, CUstream s),
          (n, list, s), (n, list, SIM_PT(s)))
SIM_TWINS(cuGraphicsUnmapResources, _ptsz, (unsigned int n, CUgraphicsResource *list, CUstream s),
          (n, list, s), (n, list, SIM_PT(s)))

static CUresult mapped_pointer(CUdeviceptr *out, size_t *bytes, CUgraphicsResource handle) {
    SIM_ENTER();
    struct sim_graphics *resource = sim_object_get(handle, SIM_OBJECT_GRAPHICS);
    if (resource == NULL)
        return CUDA_ERROR_INVALID_HANDLE;
    if (!resource->mapped)
        return CUDA_ERROR_NOT_MAPPED;
    if (resource->block == NULL)
        return CUDA_ERROR_NOT_MAPPED_AS_POINTER;
    if (out != NULL)
        *out = resource->block->start;
    if (bytes != NULL)
        *bytes = resource->block->bytes;
    return CUDA_SUCCESS;
}

CUresult cuGraphicsResourceGetMappedPointer_v2(CUdeviceptr *out, size_t *bytes,
                                               CUgraphicsResource resource) {
    return mapped_pointer(out, bytes, resource);
}

static struct sim_mipmap *mapped_image(CUgraphicsResource handle, CUresult *result) {
    struct sim_graphics *resource = sim_object_get(handle, SIM_OBJECT_GRAPHICS);
    *result = resource == NULL          ? CUDA_ERROR_INVALID_HANDLE
              : !resource->mapped       ? CUDA_ERROR_NOT_MAPPED
              : resource->image == NULL ? CUDA_ERROR_NOT_MAPPED_AS_ARRAY
                                        : CUDA_SUCCESS;
    return *result == CUDA_SUCCESS ? resource->image : NULL;
}

CUresult cuGraphicsSubResourceGetMappedArray(CUarray *out, CUgraphicsResource handle,
                                             unsigned int index, unsigned int level) {
    SIM_ENTER();
    CUresult result;
    struct sim_mipmap *image = mapped_image(handle, &result);
    if (image == NULL)
        return result;
    if (out == NULL || index != 0 || level >= image->count)
        return CUDA_ERROR_INVALID_VALUE;
    *out = (CUarray)(void *)image->levels[level];
    return CUDA_SUCCESS;
}

CUresult cuGraphicsResourceGetMappedMipmappedArray(CUmipmappedArray *out,
                                                   CUgraphicsResource handle) {
    SIM_ENTER();
    CUresult result;
    struct sim_mipmap *image = mapped_image(handle, &result);
    if (image != NULL && out == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    if (image != NULL)
        *out = (CUmipmappedArray)(void *)image;
    return result;
}

static CUresult gl_devices(unsigned int *count, CUdevice *devices, unsigned int room) {
    SIM_ENTER();
    if (count == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *count = 1;
    if (devices != NULL && room > 0)
        devices[0] = 0;
    return CUDA_SUCCESS;
}

CUresult cuGLGetDevices(unsigned int *count, CUdevice *devices, unsigned int room, int list) {
    (void)list;
    return gl_devices(count, devices, room);
}

CUresult cuGLGetDevices_v2(unsigned int *count, CUdevice *devices, unsigned int room, int list) {
    (void)list;
    return gl_devices(count, devices, room);
}

CUresult cuGLInit(void) {
    SIM_ENTER();
    return CUDA_SUCCESS;
}
