/* SPDX-License-Identifier: MIT */
/*
 * Green contexts of the simulated driver (a share of a device's processors; their memory is the
 * primary context's), and user objects, which graphs keep alive for the program.
 */
#include "graph.h"

#include <stdlib.h>
#include <string.h>

#define LEAST_GROUP 4

/* ---- resources ---- */

static void all_processors(CUdevResource *out) {
    memset(out, 0, sizeof *out);
    out->type = CU_DEV_RESOURCE_TYPE_SM;
    out->sm.smCount = SIM_MULTIPROCESSORS;
}

CUresult cuDeviceGetDevResource(CUdevice device, CUdevResource *out, CUdevResourceType type) {
    SIM_ENTER();
    if (sim_device_get(device) == NULL)
        return CUDA_ERROR_INVALID_DEVICE;
    if (out == NULL || type != CU_DEV_RESOURCE_TYPE_SM)
        return out == NULL ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_RESOURCE_TYPE;
    all_processors(out);
    return CUDA_SUCCESS;
}

CUresult cuDevSmResourceSplitByCount(CUdevResource *result, unsigned int *groups,
                                     const CUdevResource *input, CUdevResource *remaining,
                                     unsigned int flags, unsigned int least) {
    SIM_ENTER();
    (void)flags;
    if (groups == NULL || input == NULL || input->type != CU_DEV_RESOURCE_TYPE_SM ||
        least > input->sm.smCount)
        return CUDA_ERROR_INVALID_VALUE;
    unsigned size = (least + LEAST_GROUP - 1) / LEAST_GROUP * LEAST_GROUP;
    size = size != 0 ? size : LEAST_GROUP;
    unsigned possible = input->sm.smCount / size;
    if (result != NULL && possible > *groups)
        possible = *groups;
    *groups = possible;
    for (unsigned i = 0; result != NULL && i < possible; i++) {
        all_processors(&result[i]);
        result[i].sm.smCount = size;
    }
    if (remaining != NULL) {
        all_processors(remaining);
        remaining->sm.smCount = input->sm.smCount - possible * size;
    }
    return CUDA_SUCCESS;
}

/* A description is a handle to a sum of resources; it is never destroyed, as with the real one. */
struct CUdevResourceDesc_st {
    unsigned processors;
};

CUresult cuDevResourceGenerateDesc(CUdevResourceDesc *out, CUdevResource *resources,
                                   unsigned int count) {
    SIM_ENTER();
    if (out == NULL || resources == NULL || count == 0)
        return CUDA_ERROR_INVALID_VALUE;
    CUdevResourceDesc desc = calloc(1, sizeof *desc);
    if (desc == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    for (unsigned i = 0; i < count; i++)
        desc->processors += resources[i].sm.smCount;
    *out = desc;
    return CUDA_SUCCESS;
}

/* ---- green contexts ---- */

struct sim_green {
    struct sim_object object;
    struct sim_device *device;
    unsigned processors;
};

static void drop_green(struct sim_object *object) {
    struct sim_green *green = (struct sim_green *)object;
    sim_primary_release(green->device);
    sim_object_free(object);
}

CUresult cuGreenCtxCreate(CUgreenCtx *out, CUdevResourceDesc desc, CUdevice ordinal,
                          unsigned int flags) {
    SIM_ENTER();
    struct sim_device *device = sim_device_get(ordinal);
    if (device == NULL)
        return CUDA_ERROR_INVALID_DEVICE;
    if (out == NULL || desc == NULL || flags != CU_GREEN_CTX_DEFAULT_STREAM)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = sim_primary_retain(device);
    if (result != CUDA_SUCCESS)
        return result;
    struct sim_green *green = sim_object_new(sizeof *green, SIM_OBJECT_GREEN, NULL, drop_green);
    if (green == NULL) {
        sim_primary_release(device);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    green->device = device;
    green->processors = desc->processors;
    *out = (CUgreenCtx)(void *)green;
    return CUDA_SUCCESS;
}

static struct sim_green *green_of(CUgreenCtx handle) {
    return sim_object_get(handle, SIM_OBJECT_GREEN);
}

CUresult cuGreenCtxDestroy(CUgreenCtx handle) {
    SIM_ENTER();
    struct sim_green *green = green_of(handle);
    if (green == NULL)
        return CUDA_ERROR_INVALID_CONTEXT;
    sim_object_drop(green);
    return CUDA_SUCCESS;
}

CUresult cuCtxFromGreenCtx(CUcontext *out, CUgreenCtx handle) {
    SIM_ENTER();
    struct sim_green *green = green_of(handle);
    if (green == NULL || out == NULL)
        return green == NULL ? CUDA_ERROR_INVALID_CONTEXT : CUDA_ERROR_INVALID_VALUE;
    *out = (CUcontext)(void *)green->device->primary;
    return CUDA_SUCCESS;
}

CUresult cuGreenCtxGetDevResource(CUgreenCtx handle, CUdevResource *out, CUdevResourceType type) {
    SIM_ENTER();
    struct sim_green *green = green_of(handle);
    if (green == NULL)
        return CUDA_ERROR_INVALID_CONTEXT;
    if (out == NULL || type != CU_DEV_RESOURCE_TYPE_SM)
        return out == NULL ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_RESOURCE_TYPE;
    all_processors(out);
    out->sm.smCount = green->processors;
    return CUDA_SUCCESS;
}

CUresult cuGreenCtxGetId(CUgreenCtx handle, unsigned long long *id) {
    SIM_ENTER();
    struct sim_green *green = green_of(handle);
    if (green == NULL || id == NULL)
        return green == NULL ? CUDA_ERROR_INVALID_CONTEXT : CUDA_ERROR_INVALID_VALUE;
    *id = green->object.id;
    return CUDA_SUCCESS;
}

CUresult cuGreenCtxStreamCreate(CUstream *out, CUgreenCtx handle, unsigned int flags,
                                int priority) {
    SIM_ENTER();
    struct sim_green *green = green_of(handle);
    if (green == NULL)
        return CUDA_ERROR_INVALID_CONTEXT;
    if (out == NULL || flags != CU_STREAM_NON_BLOCKING)
        return CUDA_ERROR_INVALID_VALUE;
    struct sim_stream *stream = sim_stream_new(green->device->primary, flags, priority);
    *out = (CUstream)(void *)stream;
    return stream != NULL ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

/* ---- user objects ---- */

struct sim_user {
    struct sim_object object;
    void *data;
    CUhostFn destroy;
    unsigned references;
};

CUresult cuUserObjectCreate(CUuserObject *out, void *data, CUhostFn destroy,
                            unsigned int references, unsigned int flags) {
    SIM_ENTER();
    if (out == NULL || destroy == NULL || references == 0 || flags != 1)
        return CUDA_ERROR_INVALID_VALUE;
    struct sim_user *user = sim_object_new(sizeof *user, SIM_OBJECT_USER, NULL, NULL);
    if (user == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    user->data = data;
    user->destroy = destroy;
    user->references = references;
    *out = (CUuserObject)(void *)user;
    return CUDA_SUCCESS;
}

CUresult cuUserObjectRetain(CUuserObject handle, unsigned int count) {
    SIM_ENTER();
    struct sim_user *user = sim_object_get(handle, SIM_OBJECT_USER);
    if (user == NULL || count == 0)
        return CUDA_ERROR_INVALID_VALUE;
    user->references += count;
    return CUDA_SUCCESS;
}

CUresult cuUserObjectRelease(CUuserObject handle, unsigned int count) {
    SIM_ENTER();
    struct sim_user *user = sim_object_get(handle, SIM_OBJECT_USER);
    if (user == NULL || count == 0 || count > user->references)
        return CUDA_ERROR_INVALID_VALUE;
    user->references -= count;
    if (user->references == 0) {
        struct sim_user last = *user;
        sim_object_drop(user);
        sim_unlock_for_callback();
        last.destroy(last.data);
        sim_relock();
    }
    return CUDA_SUCCESS;
}
