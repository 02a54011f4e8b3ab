/* SPDX-License-Identifier: MIT */
/*
 * Code in the simulated runtime: registration by nvcc's start-up code, kernels by their host
 * functions, launches (which run nothing), and libraries. An image is loaded at the first use of
 * its contents; managed variables load it before any context exists.
 */
#include "runtime.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct entry {
    struct entry *next;
    const void *host;
    const char *name;
    struct image *image;
    CUkernel kernel; /* for a function, once requested */
    void **managed;  /* of a managed variable: where its address goes */
    size_t bytes;
};

struct image {
    struct image *next;
    const void *data;
    CUlibrary library; /* NULL: not loaded yet */
    bool has_managed;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct image *images;
static struct entry *functions, *variables;

/* ---- registration ---- */

void **__cudaRegisterFatBinary(void *data) {
    struct image *image = calloc(1, sizeof *image);
    if (image == NULL)
        return NULL;
    image->data = data;
    pthread_mutex_lock(&lock);
    image->next = images;
    images = image;
    pthread_mutex_unlock(&lock);
    return (void **)(void *)image;
}

static struct entry *add_entry(struct entry **list, void **handle, const void *host,
                               const char *name) {
    struct entry *entry = calloc(1, sizeof *entry);
    if (entry == NULL)
        return NULL;
    entry->host = host;
    entry->name = name;
    entry->image = (struct image *)(void *)handle;
    pthread_mutex_lock(&lock);
    entry->next = *list;
    *list = entry;
    pthread_mutex_unlock(&lock);
    return entry;
}

void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name,
                            int limit, void *tid, void *bid, void *block, void *grid, int *warp) {
    (void)device;
    (void)limit;
    (void)tid;
    (void)bid;
    (void)block;
    (void)grid;
    (void)warp;
    add_entry(&functions, handle, host, name);
}

void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int external,
                       size_t bytes, int constant, int global) {
    (void)device;
    (void)external;
    (void)constant;
    (void)global;
    struct entry *entry = add_entry(&variables, handle, host, name);
    if (entry != NULL)
        entry->bytes = bytes;
}

void __cudaRegisterHostVar(void **handle, const char *name, char *host, size_t bytes) {
    struct entry *entry = add_entry(&variables, handle, host, name);
    if (entry != NULL)
        entry->bytes = bytes;
}

void __cudaRegisterManagedVar(void **handle, void **host, char *device, const char *name,
                              int external, size_t bytes, int constant, int global) {
    (void)device;
    (void)external;
    (void)constant;
    (void)global;
    struct entry *entry = add_entry(&variables, handle, host, name);
    if (entry == NULL)
        return;
    entry->bytes = bytes;
    entry->managed = host;
    entry->image->has_managed = true;
}

/* With the lock held. */
static cudaError_t load(struct image *image) {
    if (image->library != NULL)
        return cudaSuccess;
    cudaError_t error = rt_start();
    if (error != cudaSuccess)
        return error;
    return (cudaError_t)rt.libraryLoadData(&image->library, image->data, NULL, NULL, 0, NULL, NULL,
                                           0);
}

static void place_managed(struct image *image) {
    pthread_mutex_lock(&lock);
    for (struct entry *it = variables; it != NULL; it = it->next) {
        CUdeviceptr address;
        size_t bytes;
        if (it->image == image && it->managed != NULL && load(image) == cudaSuccess &&
            rt.libraryGetManaged(&address, &bytes, image->library, it->name) == CUDA_SUCCESS)
            *it->managed = (void *)(uintptr_t)address;
    }
    pthread_mutex_unlock(&lock);
}

void __cudaRegisterFatBinaryEnd(void **handle) {
    struct image *image = (struct image *)(void *)handle;
    if (image != NULL && image->has_managed)
        place_managed(image);
}

char __cudaInitModule(void **handle) {
    __cudaRegisterFatBinaryEnd(handle);
    return 1;
}

void __cudaRegisterUnifiedTable(void **handle, void *table) {
    (void)handle;
    (void)table;
}

static void forget(struct entry **list, const struct image *image) {
    while (*list != NULL) {
        struct entry *it = *list;
        if (it->image == image) {
            *list = it->next;
            free(it);
        } else {
            list = &it->next;
        }
    }
}

void __cudaUnregisterFatBinary(void **handle) {
    struct image *image = (struct image *)(void *)handle;
    pthread_mutex_lock(&lock);
    for (struct image **it = &images; *it != NULL; it = &(*it)->next) {
        if (*it != image)
            continue;
        *it = image->next;
        forget(&functions, image);
        forget(&variables, image);
        if (image->library != NULL)
            rt.libraryUnload(image->library);
        free(image);
        break;
    }
    pthread_mutex_unlock(&lock);
}

void rt_unload_all(void) {
    pthread_mutex_lock(&lock);
    for (struct image *it = images; it != NULL; it = it->next) {
        if (it->library != NULL)
            rt.libraryUnload(it->library);
        it->library = NULL;
    }
    pthread_mutex_unlock(&lock);
}

/* ---- look-up ---- */

static cudaError_t kernel_of(const void *host, CUkernel *out) {
    cudaError_t error = cudaErrorInvalidDeviceFunction;
    pthread_mutex_lock(&lock);
    for (struct entry *it = functions; it != NULL; it = it->next) {
        if (it->host != host)
            continue;
        error = load(it->image);
        if (error == cudaSuccess && it->kernel == NULL)
            error = (cudaError_t)rt.libraryGetKernel(&it->kernel, it->image->library, it->name);
        *out = it->kernel;
        break;
    }
    pthread_mutex_unlock(&lock);
    return error;
}

cudaError_t rt_kernel_of(const void *host, CUfunction *out) {
    CUkernel kernel;
    cudaError_t error = kernel_of(host, &kernel);
    return error == cudaSuccess ? (cudaError_t)rt.kernelGetFunction(out, kernel) : error;
}

cudaError_t rt_symbol_of(const void *host, CUdeviceptr *address, size_t *bytes) {
    cudaError_t error = cudaErrorInvalidSymbol;
    pthread_mutex_lock(&lock);
    for (struct entry *it = variables; it != NULL; it = it->next) {
        if (it->host != host)
            continue;
        error = load(it->image);
        if (error == cudaSuccess)
            error = (cudaError_t)rt.libraryGetGlobal(address, NULL, it->image->library, it->name);
        *bytes = it->bytes;
        break;
    }
    pthread_mutex_unlock(&lock);
    return error;
}

cudaError_t cudaGetSymbolAddress(void **out, const void *symbol) {
    CUdeviceptr address;
    size_t bytes;
    RT_ENTER_CONTEXT();
    if (out == NULL)
        return rt_fail(cudaErrorInvalidValue);
    cudaError_t error = rt_symbol_of(symbol, &address, &bytes);
    if (error == cudaSuccess)
        *out = (void *)(uintptr_t)address;
    return rt_fail(error);
}

cudaError_t cudaGetSymbolSize(size_t *out, const void *symbol) {
    CUdeviceptr address;
    RT_ENTER_CONTEXT();
    return out == NULL ? rt_fail(cudaErrorInvalidValue)
                       : rt_fail(rt_symbol_of(symbol, &address, out));
}

cudaError_t cudaGetFuncBySymbol(cudaFunction_t *out, const void *symbol) {
    RT_ENTER_CONTEXT();
    return out == NULL ? rt_fail(cudaErrorInvalidValue) : rt_fail(rt_kernel_of(symbol, out));
}

cudaError_t cudaGetKernel(cudaKernel_t *out, const void *symbol) {
    RT_ENTER_CONTEXT();
    return out == NULL ? rt_fail(cudaErrorInvalidValue) : rt_fail(kernel_of(symbol, out));
}

cudaError_t __cudaGetKernel(cudaKernel_t *out, const void *symbol) {
    RT_ENTER_CONTEXT();
    return out == NULL ? rt_fail(cudaErrorInvalidValue) : rt_fail(kernel_of(symbol, out));
}

/* ---- launch ---- */

static __thread struct {
    dim3 grid, block;
    size_t shared;
    void *stream;
} pending[8];
static __thread unsigned pending_count;

unsigned int __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared,
                                         struct CUstream_st *stream) {
    if (pending_count == sizeof pending / sizeof *pending)
        return cudaErrorLaunchMaxDepthExceeded;
    pending[pending_count].grid = grid;
    pending[pending_count].block = block;
    pending[pending_count].shared = shared;
    pending[pending_count].stream = stream;
    pending_count++;
    return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream) {
    if (pending_count == 0)
        return rt_fail(cudaErrorMissingConfiguration);
    pending_count--;
    *grid = pending[pending_count].grid;
    *block = pending[pending_count].block;
    *shared = pending[pending_count].shared;
    *(void **)stream = pending[pending_count].stream;
    return cudaSuccess;
}

static cudaError_t launch(bool pt, CUfunction function, dim3 grid, dim3 block, void **args,
                          size_t shared, cudaStream_t stream, bool cooperative) {
    unsigned bytes = (unsigned)shared;
    if (cooperative)
        return rt_result(RT_PICK(pt, launchCooperativeKernel)(
            function, grid.x, grid.y, grid.z, block.x, block.y, block.z, bytes, stream, args));
    return rt_result(RT_PICK(pt, launchKernel)(function, grid.x, grid.y, grid.z, block.x, block.y,
                                               block.z, bytes, stream, args, NULL));
}

static cudaError_t launch_host(bool pt, const void *host, dim3 grid, dim3 block, void **args,
                               size_t shared, cudaStream_t stream, bool cooperative) {
    CUfunction function;
    RT_ENTER_CONTEXT();
    cudaError_t error = rt_kernel_of(host, &function);
    return error != cudaSuccess
               ? rt_fail(error)
               : launch(pt, function, grid, block, args, shared, stream, cooperative);
}

static cudaError_t launch_kernel(bool pt, cudaKernel_t kernel, dim3 grid, dim3 block, void **args,
                                 size_t shared, cudaStream_t stream) {
    CUfunction function;
    RT_ENTER_CONTEXT();
    CUresult result = rt.kernelGetFunction(&function, kernel);
    return result != CUDA_SUCCESS ? rt_result(result)
                                  : launch(pt, function, grid, block, args, shared, stream, false);
}

#define P_LAUNCH                                                                                   \
    const void *host, dim3 grid, dim3 block, void **args, size_t shared, cudaStream_t stream
#define P_KERNEL                                                                                   \
    cudaKernel_t kernel, dim3 grid, dim3 block, void **args, size_t shared, cudaStream_t stream

cudaError_t cudaLaunchKernel(P_LAUNCH) {
    return launch_host(false, host, grid, block, args, shared, stream, false);
}

cudaError_t cudaLaunchKernel_ptsz(P_LAUNCH) {
    return launch_host(true, host, grid, block, args, shared, stream, false);
}

cudaError_t cudaLaunchCooperativeKernel(P_LAUNCH) {
    return launch_host(false, host, grid, block, args, shared, stream, true);
}

cudaError_t cudaLaunchCooperativeKernel_ptsz(P_LAUNCH) {
    return launch_host(true, host, grid, block, args, shared, stream, true);
}

cudaError_t __cudaLaunchKernel(P_KERNEL) {
    return launch_kernel(false, kernel, grid, block, args, shared, stream);
}

cudaError_t __cudaLaunchKernel_ptsz(P_KERNEL) {
    return launch_kernel(true, kernel, grid, block, args, shared, stream);
}

static cudaError_t cudaLaunchKernelExC_on(bool pt, const cudaLaunchConfig_t *config,
                                          const void *host, void **args) {
    if (config == NULL)
        return rt_fail(cudaErrorInvalidValue);
    return launch_host(pt, host, config->gridDim, config->blockDim, args, config->dynamicSmemBytes,
                       config->stream, false);
}

RT_TWINS(cudaLaunchKernelExC, _ptsz, (const cudaLaunchConfig_t *c, const void *host, void **args),
         (false, c, host, args), (true, c, host, args))

/* ---- about functions ---- */

cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *out, const void *host) {
    CUfunction function;
    RT_ENTER_CONTEXT();
    if (out == NULL)
        return rt_fail(cudaErrorInvalidValue);
    cudaError_t error = rt_kernel_of(host, &function);
    if (error != cudaSuccess)
        return rt_fail(error);
    int values[CU_FUNC_ATTRIBUTE_MAX] = {0};
    for (int i = 0; i <= CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT; i++)
        rt.funcGetAttribute(&values[i], (CUfunction_attribute)i, function);
    memset(out, 0, sizeof *out);
    out->maxThreadsPerBlock = values[CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK];
    out->sharedSizeBytes = (size_t)values[CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES];
    out->constSizeBytes = (size_t)values[CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES];
    out->localSizeBytes = (size_t)values[CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES];
    out->numRegs = values[CU_FUNC_ATTRIBUTE_NUM_REGS];
    out->ptxVersion = values[CU_FUNC_ATTRIBUTE_PTX_VERSION];
    out->binaryVersion = values[CU_FUNC_ATTRIBUTE_BINARY_VERSION];
    return cudaSuccess;
}

cudaError_t cudaFuncSetAttribute(const void *host, enum cudaFuncAttribute attribute, int value) {
    CUfunction function;
    RT_ENTER_CONTEXT();
    cudaError_t error = rt_kernel_of(host, &function);
    return error != cudaSuccess
               ? rt_fail(error)
               : rt_result(rt.funcSetAttribute(function, (CUfunction_attribute)attribute, value));
}

cudaError_t cudaFuncSetCacheConfig(const void *host, enum cudaFuncCache config) {
    CUfunction function;
    RT_ENTER_CONTEXT();
    cudaError_t error = rt_kernel_of(host, &function);
    return error != cudaSuccess ? rt_fail(error)
                                : rt_result(rt.funcSetCacheConfig(function, (CUfunc_cache)config));
}

cudaError_t cudaFuncGetName(const char **name, const void *host) {
    CUfunction function;
    RT_ENTER_CONTEXT();
    cudaError_t error = rt_kernel_of(host, &function);
    return error != cudaSuccess ? rt_fail(error) : rt_result(rt.funcGetName(name, function));
}

static cudaError_t occupancy(int *blocks, const void *host, int threads, size_t shared,
                             unsigned int flags) {
    CUfunction function;
    RT_ENTER_CONTEXT();
    cudaError_t error = rt_kernel_of(host, &function);
    return error != cudaSuccess
               ? rt_fail(error)
               : rt_result(rt.occupancyMaxActiveBlocks(blocks, function, threads, shared, flags));
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *host,
                                                          int threads, size_t shared) {
    return occupancy(blocks, host, threads, shared, 0);
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, const void *host,
                                                                   int threads, size_t shared,
                                                                   unsigned int flags) {
    return occupancy(blocks, host, threads, shared, flags);
}

/* ---- libraries ---- */

#define P_LOAD                                                                                     \
    enum cudaJitOption *jit_options, void **jit_values, unsigned int jit_count,                    \
        enum cudaLibraryOption *options, void **values, unsigned int count
#define A_LOAD                                                                                     \
    (CUjit_option *)(void *)jit_options, jit_values, jit_count,                                    \
        (CUlibraryOption *)(void *)options, values, count

RT_FORWARD(cudaLibraryLoadData, (cudaLibrary_t * out, const void *image, P_LOAD), libraryLoadData,
           (out, image, A_LOAD))
RT_FORWARD(cudaLibraryLoadFromFile, (cudaLibrary_t * out, const char *file, P_LOAD),
           libraryLoadFromFile, (out, file, A_LOAD))
RT_FORWARD(cudaLibraryUnload, (cudaLibrary_t library), libraryUnload, (library))
RT_FORWARD(cudaLibraryGetKernel, (cudaKernel_t * out, cudaLibrary_t library, const char *name),
           libraryGetKernel, (out, library, name))
RT_FORWARD(cudaLibraryGetGlobal,
           (void **out, size_t *bytes, cudaLibrary_t library, const char *name), libraryGetGlobal,
           ((CUdeviceptr *)(void *)out, bytes, library, name))
RT_FORWARD(cudaLibraryGetManaged,
           (void **out, size_t *bytes, cudaLibrary_t library, const char *name), libraryGetManaged,
           ((CUdeviceptr *)(void *)out, bytes, library, name))
