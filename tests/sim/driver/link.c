/* SPDX-License-Identifier: MIT */
/*
 * Run-time linking (cuLink*): inputs are checked but not read, like all images here. The result is
 * an image for cuModuleLoadData, in host memory.
 */
#include "driver.h"

#include <string.h>
#include <unistd.h>

struct sim_link {
    struct sim_object object;
    unsigned count; /* from the program's options, which it keeps until the linker is destroyed */
    const CUjit_option *options;
    void **values;
    char image[sizeof "linked code"];
};

static CUresult create(unsigned count, CUjit_option *options, void **values, CUlinkState *out) {
    SIM_ENTER_CONTEXT(context);
    if (out == NULL || (count != 0 && (options == NULL || values == NULL)))
        return CUDA_ERROR_INVALID_VALUE;
    struct sim_link *link = sim_object_new(sizeof *link, SIM_OBJECT_LINK, context, NULL);
    if (link == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    link->count = count;
    link->options = options;
    link->values = values;
    memcpy(link->image, "linked code", sizeof link->image);
    *out = (CUlinkState)(void *)link;
    return CUDA_SUCCESS;
}

/* The results that the program asked for: no time was spent, and both logs are empty. A result that
 * is a number replaces the option's value. */
static void tell(const struct sim_link *link) {
    for (unsigned i = 0; i < link->count; i++) {
        switch (link->options[i]) {
        case CU_JIT_WALL_TIME:
        case CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES:
        case CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES:
            link->values[i] = NULL; /* 0, and 0.0F */
            break;
        case CU_JIT_INFO_LOG_BUFFER:
        case CU_JIT_ERROR_LOG_BUFFER:
            if (link->values[i] != NULL)
                *(char *)link->values[i] = '\0';
            break;
        default:
            break;
        }
    }
}

static CUresult add_data(CUlinkState state, const void *data, size_t bytes) {
    SIM_ENTER();
    if (sim_object_get(state, SIM_OBJECT_LINK) == NULL)
        return CUDA_ERROR_INVALID_HANDLE;
    return data != NULL && bytes != 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static CUresult add_file(CUlinkState state, const char *path) {
    SIM_ENTER();
    if (sim_object_get(state, SIM_OBJECT_LINK) == NULL)
        return CUDA_ERROR_INVALID_HANDLE;
    if (path == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    return access(path, R_OK) == 0 ? CUDA_SUCCESS : CUDA_ERROR_FILE_NOT_FOUND;
}

CUresult cuLinkComplete(CUlinkState state, void **image, size_t *bytes) {
    SIM_ENTER();
    struct sim_link *link = sim_object_get(state, SIM_OBJECT_LINK);
    if (link == NULL)
        return CUDA_ERROR_INVALID_HANDLE;
    if (image == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    tell(link);
    *image = link->image;
    if (bytes != NULL)
        *bytes = sizeof link->image;
    return CUDA_SUCCESS;
}

CUresult cuLinkDestroy(CUlinkState state) {
    SIM_ENTER();
    struct sim_link *link = sim_object_get(state, SIM_OBJECT_LINK);
    if (link == NULL)
        return CUDA_ERROR_INVALID_HANDLE;
    sim_object_drop(link);
    return CUDA_SUCCESS;
}

/* ---- both versions of what takes options: their layouts are the same ---- */

CUresult cuLinkCreate(unsigned int count, CUjit_option *options, void **values, CUlinkState *out) {
    return create(count, options, values, out);
}

CUresult cuLinkCreate_v2(unsigned int count, CUjit_option *options, void **values,
                         CUlinkState *out) {
    return create(count, options, values, out);
}

#define ADD_DATA                                                                                   \
    CUlinkState state, CUjitInputType type, void *data, size_t bytes, const char *name,            \
        unsigned int count, CUjit_option *options, void **values
#define ADD_FILE                                                                                   \
    CUlinkState state, CUjitInputType type, const char *path, unsigned int count,                  \
        CUjit_option *options, void **values
#define UNUSED (void)type, (void)count, (void)options, (void)values

CUresult cuLinkAddData(ADD_DATA) {
    UNUSED, (void)name;
    return add_data(state, data, bytes);
}

CUresult cuLinkAddData_v2(ADD_DATA) {
    UNUSED, (void)name;
    return add_data(state, data, bytes);
}

CUresult cuLinkAddFile(ADD_FILE) {
    UNUSED;
    return add_file(state, path);
}

CUresult cuLinkAddFile_v2(ADD_FILE) {
    UNUSED;
    return add_file(state, path);
}
