/* SPDX-License-Identifier: MIT */
/*
 * What all numb libraries share (see numb.h): handles, and device memory. Compiled into each of them.
 */
#include "numb.h"

#include "vramtrace/cuda_abi.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define MARK UINT64_C(0x6e756d6268616e64)

static struct {
    CUresult (*init)(unsigned flags);
    CUresult (*ctxGetCurrent)(CUcontext *context);
    CUresult (*ctxSetCurrent)(CUcontext context);
    CUresult (*ctxGetDevice)(CUdevice *device);
    CUresult (*primaryCtxRetain)(CUcontext *context, CUdevice device);
    CUresult (*memAlloc)(CUdeviceptr *address, size_t bytes);
    CUresult (*memFree)(CUdeviceptr address);
    CUresult (*memcpyAsync)(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream);
} driver;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool usable;

/* As the CUDA runtime does it: one dlsym, then everything through the pointer that it gives. */
static void find_driver(void) {
    static const struct {
        const char *name;
        int version;
        void *field;
    } wanted[] = {
        {"cuInit", 2000, &driver.init},
        {"cuCtxGetCurrent", 4000, &driver.ctxGetCurrent},
        {"cuCtxSetCurrent", 4000, &driver.ctxSetCurrent},
        {"cuCtxGetDevice", 2000, &driver.ctxGetDevice},
        {"cuDevicePrimaryCtxRetain", 7000, &driver.primaryCtxRetain},
        {"cuMemAlloc", 3020, &driver.memAlloc},
        {"cuMemFree", 3020, &driver.memFree},
        {"cuMemcpyDtoDAsync", 3020, &driver.memcpyAsync},
    };
    CUresult (*get)(const char *, void **, int, cuuint64_t, CUdriverProcAddressQueryResult *);
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    void *function = library != NULL ? dlsym(library, "cuGetProcAddress_v2") : NULL;
    if (function == NULL)
        return;
    memcpy(&get, &function, sizeof get);
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        CUdriverProcAddressQueryResult status;
        if (get(wanted[i].name, &function, wanted[i].version, 0, &status) != CUDA_SUCCESS ||
            function == NULL)
            return;
        memcpy(wanted[i].field, &function, sizeof function);
    }
    usable = driver.init(0) == CUDA_SUCCESS;
}

/* Whether there is a current context now. */
static bool have_context(void) {
    CUcontext context = NULL;
    pthread_once(&once, find_driver);
    if (!usable || driver.ctxGetCurrent(&context) != CUDA_SUCCESS)
        return false;
    return context != NULL || (driver.primaryCtxRetain(&context, 0) == CUDA_SUCCESS &&
                               driver.ctxSetCurrent(context) == CUDA_SUCCESS);
}

bool numb_device_allocate(uint64_t *address, size_t bytes) {
    CUdeviceptr got = 0;
    if (!have_context() || driver.memAlloc(&got, bytes) != CUDA_SUCCESS)
        return false;
    *address = got;
    return true;
}

void numb_device_free(uint64_t address) {
    if (address != 0 && have_context())
        driver.memFree(address);
}

bool numb_copy(const void *from, void *to, size_t bytes, void *stream) {
    return from == to || bytes == 0 ||
           (have_context() &&
            driver.memcpyAsync((uintptr_t)to, (uintptr_t)from, bytes, stream) == CUDA_SUCCESS);
}

int numb_device(void) {
    CUdevice device = -1;
    return have_context() && driver.ctxGetDevice(&device) == CUDA_SUCCESS ? device : -1;
}

struct numb_handle *numb_new(size_t more) {
    struct numb_handle *handle = calloc(1, sizeof *handle + more);
    if (handle != NULL)
        handle->mark = MARK;
    return handle;
}

struct numb_handle *numb_handle(void *handle) {
    struct numb_handle *known = handle;
    return known != NULL && (uintptr_t)handle % sizeof known->mark == 0 && known->mark == MARK
               ? known
               : NULL;
}

bool numb_allocate(struct numb_handle *handle, int slot, size_t bytes) {
    return numb_device_allocate(&handle->memory[slot], bytes);
}

void numb_end(void *handle) {
    struct numb_handle *known = numb_handle(handle);
    if (known == NULL)
        return;
    if (known->end != NULL)
        known->end(known);
    for (int i = 0; i < NUMB_MEMORY; i++)
        numb_device_free(known->memory[i]);
    known->mark = 0;
    free(known);
}
