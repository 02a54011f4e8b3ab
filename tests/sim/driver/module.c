/* SPDX-License-Identifier: MIT */
/*
 * Modules, libraries and kernels of the simulated driver: images are accepted without being read, a
 * function of any name exists in them, and a launch does nothing. But a module's variable gets real
 * memory at its first look-up, so that copies to symbols work; it is not counted, because in the
 * real driver no allocation call makes it.
 */
#include "graph.h"

#include <stdlib.h>
#include <string.h>

#define VARIABLE_BYTES 65536 /* images are not read, so every variable is this big */

struct sim_function {
    struct sim_object object;
    struct sim_function *next;
    struct sim_module *module;
    char name[];
};

struct sim_variable {
    struct sim_variable *next;
    struct sim_block *block;
    char name[];
};

/* A CUmodule or a CUlibrary. */
struct sim_module {
    struct sim_object object;
    struct sim_function *functions;
    struct sim_variable *variables;
    struct sim_device *device;
    size_t charged;
};

static void drop_module(struct sim_object *object) {
    struct sim_module *module = (struct sim_module *)object;
    while (module->functions != NULL) {
        struct sim_function *function = module->functions;
        module->functions = function->next;
        sim_object_free(&function->object);
    }
    while (module->variables != NULL) {
        struct sim_variable *variable = module->variables;
        module->variables = variable->next;
        sim_memory_release(variable->block);
        free(variable);
    }
    sim_refund(module->device, module->charged);
    sim_object_free(object);
}

static CUresult load(void **out, const void *image, enum sim_object_kind kind,
                     struct sim_context *context, struct sim_device *device, size_t bytes) {
    if (out == NULL || image == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    if (!sim_charge(device, bytes))
        return CUDA_ERROR_OUT_OF_MEMORY;
    struct sim_module *module = sim_object_new(sizeof *module, kind, context, drop_module);
    if (module == NULL) {
        sim_refund(device, bytes);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    module->device = device;
    module->charged = bytes;
    *out = module;
    return CUDA_SUCCESS;
}

/* Code costs device memory that no call returns: VRAMTRACE_SIM_MODULE bytes a module (0). */
static size_t module_bytes(void) {
    static size_t bytes = SIZE_MAX;
    if (bytes == SIZE_MAX) {
        const char *text = getenv("VRAMTRACE_SIM_MODULE");
        bool ok;
        bytes = text != NULL ? sim_parse_size(text, 0, &ok) : 0;
    }
    return bytes;
}

static CUresult load_module(CUmodule *out, const void *image) {
    SIM_ENTER_CONTEXT(context);
    return load((void **)out, image, SIM_OBJECT_MODULE, context, context->device, module_bytes());
}

CUresult cuModuleLoad(CUmodule *out, const char *file) {
    return load_module(out, file);
}
CUresult cuModuleLoadData(CUmodule *out, const void *image) {
    return load_module(out, image);
}
CUresult cuModuleLoadFatBinary(CUmodule *out, const void *image) {
    return load_module(out, image);
}

CUresult cuModuleLoadDataEx(CUmodule *out, const void *image, unsigned int count,
                            CUjit_option *options, void **values) {
    (void)count;
    (void)options;
    (void)values;
    return load_module(out, image);
}

/* Libraries belong to no context; they may be loaded before there is one. */
static CUresult load_library(CUlibrary *out, const void *image) {
    SIM_ENTER();
    return load((void **)out, image, SIM_OBJECT_LIBRARY, NULL, &sim.devices[0], module_bytes());
}

CUresult cuLibraryLoadData(CUlibrary *out, const void *image, CUjit_option *jit_options,
                           void **jit_values, unsigned int jit_count, CUlibraryOption *options,
                           void **values, unsigned int count) {
    (void)jit_options;
    (void)jit_values;
    (void)jit_count;
    (void)options;
    (void)values;
    (void)count;
    return load_library(out, image);
}

CUresult cuLibraryLoadFromFile(CUlibrary *out, const char *file, CUjit_option *jit_options,
                               void **jit_values, unsigned int jit_count, CUlibraryOption *options,
                               void **values, unsigned int count) {
    (void)jit_options;
    (void)jit_values;
    (void)jit_count;
    (void)options;
    (void)values;
    (void)count;
    return load_library(out, file);
}

static CUresult unload(const void *handle, enum sim_object_kind kind) {
    SIM_ENTER();
    struct sim_module *module = sim_object_get(handle, kind);
    if (module == NULL)
        return CUDA_ERROR_INVALID_HANDLE;
    sim_object_drop(module);
    return CUDA_SUCCESS;
}

CUresult cuModuleUnload(CUmodule module) {
    return unload(module, SIM_OBJECT_MODULE);
}
CUresult cuLibraryUnload(CUlibrary library) {
    return unload(library, SIM_OBJECT_LIBRARY);
}

/* A handle that may be a module or a library, as the two are to most of these calls. */
static struct sim_module *module_of(const void *handle) {
    struct sim_module *module = sim_object_get(handle, SIM_OBJECT_MODULE);
    return module != NULL ? module : sim_object_get(handle, SIM_OBJECT_LIBRARY);
}

CUresult cuModuleGetLoadingMode(CUmoduleLoadingMode *mode) {
    SIM_ENTER();
    if (mode == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *mode = CU_MODULE_LAZY_LOADING;
    return CUDA_SUCCESS;
}

/* ---- functions ---- */

static CUresult function(void **out, const void *handle, const char *name) {
    SIM_ENTER();
    struct sim_module *module = module_of(handle);
    if (module == NULL)
        return CUDA_ERROR_INVALID_HANDLE;
    if (out == NULL || name == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    for (struct sim_function *it = module->functions; it != NULL; it = it->next) {
        if (strcmp(it->name, name) == 0) {
            *out = it;
            return CUDA_SUCCESS;
        }
    }
    size_t length = strlen(name) + 1;
    struct sim_function *made =
        sim_object_new(sizeof *made + length, SIM_OBJECT_FUNCTION, NULL, NULL);
    if (made == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    memcpy(made->name, name, length);
    made->module = module;
    made->next = module->functions;
    module->functions = made;
    *out = made;
    return CUDA_SUCCESS;
}

CUresult cuModuleGetFunction(CUfunction *out, CUmodule module, const char *name) {
    return function((void **)out, module, name);
}

CUresult cuLibraryGetKernel(CUkernel *out, CUlibrary library, const char *name) {
    return function((void **)out, library, name);
}

CUresult cuLibraryGetModule(CUmodule *out, CUlibrary library) {
    SIM_ENTER();
    struct sim_module *module = module_of(library);
    if (module == NULL || out == NULL)
        return module == NULL ? CUDA_ERROR_INVALID_HANDLE : CUDA_ERROR_INVALID_VALUE;
    *out = (CUmodule)(void *)module;
    return CUDA_SUCCESS;
}

/* A kernel and its function are one object here. */
CUresult cuKernelGetFunction(CUfunction *out, CUkernel kernel) {
    SIM_ENTER();
    if (out == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *out = sim_object_get(kernel, SIM_OBJECT_FUNCTION);
    return *out != NULL ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

static CUresult get_name(const char **out, const void *handle) {
    SIM_ENTER();
    struct sim_function *function = sim_object_get(handle, SIM_OBJECT_FUNCTION);
    if (function == NULL || out == NULL)
        return function == NULL ? CUDA_ERROR_INVALID_HANDLE : CUDA_ERROR_INVALID_VALUE;
    *out = function->name;
    return CUDA_SUCCESS;
}

CUresult cuFuncGetName(const char **out, CUfunction function) {
    return get_name(out, function);
}
CUresult cuKernelGetName(const char **out, CUkernel kernel) {
    return get_name(out, kernel);
}

CUresult cuFuncGetModule(CUmodule *out, CUfunction handle) {
    SIM_ENTER();
    struct sim_function *function = sim_object_get(handle, SIM_OBJECT_FUNCTION);
    if (function == NULL || out == NULL)
        return function == NULL ? CUDA_ERROR_INVALID_HANDLE : CUDA_ERROR_INVALID_VALUE;
    *out = (CUmodule)(void *)function->module;
    return CUDA_SUCCESS;
}

static CUresult get_attribute(int *value, CUfunction_attribute attribute, const void *handle) {
    SIM_ENTER();
    if (sim_object_get(handle, SIM_OBJECT_FUNCTION) == NULL)
        return CUDA_ERROR_INVALID_HANDLE;
    if (value == NULL || attribute >= CU_FUNC_ATTRIBUTE_MAX)
        return CUDA_ERROR_INVALID_VALUE;
    switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
        *value = 1024;
        break;
    case CU_FUNC_ATTRIBUTE_NUM_REGS:
        *value = 32;
        break;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION:
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
        *value = 80;
        break;
    default:
        *value = 0;
        break;
    }
    return CUDA_SUCCESS;
}

CUresult cuFuncGetAttribute(int *value, CUfunction_attribute attribute, CUfunction function) {
    return get_attribute(value, attribute, function);
}

CUresult cuKernelGetAttribute(int *value, CUfunction_attribute attribute, CUkernel kernel,
                              CUdevice device) {
    (void)device;
    return get_attribute(value, attribute, kernel);
}

static CUresult accept_for(const void *handle) {
    SIM_ENTER();
    return sim_object_get(handle, SIM_OBJECT_FUNCTION) != NULL ? CUDA_SUCCESS
                                                               : CUDA_ERROR_INVALID_HANDLE;
}

CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value) {
    (void)attribute;
    (void)value;
    return accept_for(function);
}

CUresult cuKernelSetAttribute(CUfunction_attribute attribute, int value, CUkernel kernel,
                              CUdevice device) {
    (void)attribute;
    (void)value;
    (void)device;
    return accept_for(kernel);
}

CUresult cuFuncSetCacheConfig(CUfunction function, CUfunc_cache config) {
    (void)config;
    return accept_for(function);
}

CUresult cuFuncSetSharedMemConfig(CUfunction function, CUsharedconfig config) {
    (void)config;
    return accept_for(function);
}

CUresult cuKernelSetCacheConfig(CUkernel kernel, CUfunc_cache config, CUdevice device) {
    (void)config;
    (void)device;
    return accept_for(kernel);
}

/* ---- variables ---- */

static CUresult variable(CUdeviceptr *out, size_t *bytes, const void *handle, const char *name) {
    SIM_ENTER();
    struct sim_module *module = module_of(handle);
    struct sim_variable *it;
    if (module == NULL)
        return CUDA_ERROR_INVALID_HANDLE;
    if (name == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    for (it = module->variables; it != NULL && strcmp(it->name, name) != 0;)
        it = it->next;
    if (it == NULL) {
        size_t length = strlen(name) + 1;
        it = calloc(1, sizeof *it + length);
        if (it == NULL ||
            sim_memory_alloc(NULL, module->device, VARIABLE_BYTES, VRAMTRACE_SIM_MANAGED,
                             SIM_OWNER_GLOBAL, false, &it->block) != CUDA_SUCCESS) {
            free(it);
            return CUDA_ERROR_OUT_OF_MEMORY;
        }
        memcpy(it->name, name, length);
        it->next = module->variables;
        module->variables = it;
    }
    if (out != NULL)
        *out = it->block->start;
    if (bytes != NULL)
        *bytes = it->block->bytes;
    return CUDA_SUCCESS;
}

CUresult cuModuleGetGlobal_v2(CUdeviceptr *out, size_t *bytes, CUmodule module, const char *name) {
    return variable(out, bytes, module, name);
}

CUresult cuLibraryGetGlobal(CUdeviceptr *out, size_t *bytes, CUlibrary library, const char *name) {
    return variable(out, bytes, library, name);
}

CUresult cuLibraryGetManaged(CUdeviceptr *out, size_t *bytes, CUlibrary library, const char *name) {
    return variable(out, bytes, library, name);
}
