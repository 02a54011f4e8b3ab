/* SPDX-License-Identifier: MIT */
/*
 * The start of a simulated runtime: it finds the driver like NVIDIA's (one dlopen, one dlsym, then
 * everything through the cuGetProcAddress that cuGetProcAddress returns), reads the devices'
 * attributes, and creates the primary context at first use. At exit it releases the context and
 * frees nothing. Also the last error.
 */
#include "runtime.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct rt_driver rt;
struct rt_device rt_devices[RT_MAX_DEVICES];
int rt_device_count;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static cudaError_t started = cudaErrorInitializationError;
static __thread int current_device;
static __thread cudaError_t last_error;

/* ---- errors ---- */

cudaError_t rt_fail(cudaError_t error) {
    if (error != cudaSuccess)
        last_error = error;
    return error;
}

cudaError_t cudaGetLastError(void) {
    cudaError_t error = last_error;
    last_error = cudaSuccess;
    return error;
}

cudaError_t cudaPeekAtLastError(void) {
    return last_error;
}

/* ---- finding the driver ---- */

/* Stands where the driver has no such function: it may be older than this runtime. */
static CUresult absent(void) {
    return CUDA_ERROR_NOT_SUPPORTED;
}

static void ask(void *field, const char *name, int version, cuuint64_t flags) {
    CUdriverProcAddressQueryResult status;
    void *function = NULL;
    if (version > RT_VERSION)
        return;
    CUresult result = rt.getProcAddress(name, &function, version, flags, &status);
    if (result != CUDA_SUCCESS || function == NULL) {
        CUresult (*stand_in)(void) = absent;
        memcpy(&function, &stand_in, sizeof function);
    }
    if (field != NULL)
        memcpy(field, &function, sizeof function);
}

static cudaError_t find_driver(void) {
    void *handle = dlopen("libcuda.so.1", RTLD_NOW);
    if (handle == NULL)
        return cudaErrorInsufficientDriver;
    void *function = dlsym(handle, "cuGetProcAddress_v2");
    if (function == NULL)
        return cudaErrorInsufficientDriver;
    memcpy(&rt.getProcAddress, &function, sizeof function);
    rt.getProcAddress("", &function, 0, 0, NULL); /* a probe: any answer will do */
    ask(&rt.init, "cuInit", 2000, 0);
    ask(NULL, "cuGetProcAddress", 11030, 0);
    ask(&rt.getProcAddress, "cuGetProcAddress", 12000, 0);
#define SIM_CALL(field, name, version, params) ask(&rt.field, #name, version, 0);
#define SIM_TWIN(field, name, version, pt_version, params)                                         \
    ask(&rt.field, #name, version, 0);                                                             \
    ask(&rt.field##_pt, #name, pt_version, 2);
#if SIM_CUDART >= 13
#define SIM_CALL_13(field, name, version, params) ask(&rt.field, #name, version, 0);
#else
#define SIM_CALL_13(field, name, version, params)
#endif
#define SIM_ASK(name, version, flags) ask(NULL, #name, version, flags);
#include "tests/sim/runtime/calls.def"
#undef SIM_CALL
#undef SIM_CALL_13
#undef SIM_TWIN
#undef SIM_ASK
    return cudaSuccess;
}

/* ---- the devices ---- */

static const struct {
    size_t offset;
    CUdevice_attribute attribute;
    bool wide; /* a size_t, not an int */
} property_table[] = {
#define INT(field, name)                                                                           \
    {offsetof(struct vt_cudaDeviceProp_v13, field), CU_DEVICE_ATTRIBUTE_##name, false},
#define SIZE(field, name)                                                                          \
    {offsetof(struct vt_cudaDeviceProp_v13, field), CU_DEVICE_ATTRIBUTE_##name, true},
#include "tests/sim/runtime/properties.def"
#undef INT
#undef SIZE
};

static int attribute(CUdevice device, CUdevice_attribute which) {
    int value = 0;
    rt.deviceGetAttribute(&value, which, device);
    return value;
}

static cudaError_t ask_devices(void) {
    int version;
    CUresult result = rt.driverGetVersion(&version);
    if (result == CUDA_SUCCESS && version < RT_VERSION / 1000 * 1000)
        return cudaErrorInsufficientDriver;
    if (result == CUDA_SUCCESS)
        result = rt.deviceGetCount(&rt_device_count);
    if (rt_device_count > RT_MAX_DEVICES)
        rt_device_count = RT_MAX_DEVICES;
    for (int i = 0; i < rt_device_count && result == CUDA_SUCCESS; i++) {
        struct rt_device *device = &rt_devices[i];
        struct vt_cudaDeviceProp_v13 *prop = &device->prop;
        result = rt.deviceGet(&device->handle, i);
        rt.deviceGetName(prop->name, sizeof prop->name, device->handle);
        rt.deviceTotalMem(&prop->totalGlobalMem, device->handle);
        rt.deviceGetUuid(&prop->uuid, device->handle);
        for (size_t j = 0; j < sizeof property_table / sizeof *property_table; j++) {
            int value = attribute(device->handle, property_table[j].attribute);
            char *field = (char *)prop + property_table[j].offset;
            if (property_table[j].wide)
                *(size_t *)(void *)field = (size_t)value;
            else
                *(int *)(void *)field = value;
        }
        device->clock_rate = attribute(device->handle, CU_DEVICE_ATTRIBUTE_CLOCK_RATE);
        device->memory_clock_rate =
            attribute(device->handle, CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE);
        device->compute_mode = attribute(device->handle, CU_DEVICE_ATTRIBUTE_COMPUTE_MODE);
        device->kernel_timeout = attribute(device->handle, CU_DEVICE_ATTRIBUTE_KERNEL_EXEC_TIMEOUT);
        device->overlap = attribute(device->handle, CU_DEVICE_ATTRIBUTE_GPU_OVERLAP);
        device->precision_ratio =
            attribute(device->handle, CU_DEVICE_ATTRIBUTE_SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO);
    }
    return (cudaError_t)result;
}

static void start(void) {
    started = find_driver();
    if (started == cudaSuccess)
        started = (cudaError_t)rt.init(0);
    if (started == cudaSuccess)
        started = ask_devices();
}

cudaError_t rt_start(void) {
    pthread_once(&once, start);
    return started;
}

/* ---- contexts ---- */

int rt_current_device(void) {
    return current_device;
}

static cudaError_t retain(struct rt_device *device) {
    CUresult result = CUDA_SUCCESS;
    pthread_mutex_lock(&lock);
    if (!device->retained) {
        result = rt.primaryRetain(&device->primary, device->handle);
        device->retained = result == CUDA_SUCCESS;
    }
    pthread_mutex_unlock(&lock);
    return (cudaError_t)result;
}

/* Whether the current context will do as it is: a primary one that is held, or the program's own.
 * A primary context that someone else made current (another runtime in this process) is taken a
 * share in, so that a reset is noticed. */
static bool is_usable(CUcontext context) {
    static __thread CUcontext foreign; /* the last one found to be the program's own */
    CUdevice device;
    unsigned int flags;
    int active = 0;
    for (int i = 0; i < rt_device_count; i++) {
        if (context == rt_devices[i].primary)
            return rt_devices[i].retained;
    }
    if (context == foreign)
        return true;
    if (rt.ctxGetDevice_v1(&device) != CUDA_SUCCESS || device >= rt_device_count)
        return false;
    struct rt_device *its = &rt_devices[device];
    if (its->primary == NULL && rt.primaryGetState(its->handle, &flags, &active) == CUDA_SUCCESS &&
        active && retain(its) == cudaSuccess && its->primary == context)
        return true;
    foreign = context;
    return true;
}

cudaError_t rt_start_context(void) {
    CUcontext context = NULL;
    cudaError_t error = rt_start();
    if (error != cudaSuccess)
        return error;
    CUresult result = rt.ctxGetCurrent(&context);
    if (result != CUDA_SUCCESS)
        return (cudaError_t)result;
    if (context != NULL && is_usable(context))
        return cudaSuccess;
    struct rt_device *device = &rt_devices[current_device];
    error = retain(device);
    if (error != cudaSuccess)
        return error;
    result = rt.ctxSetCurrent(device->primary);
#if SIM_CUDART >= 13
    CUdevice asked;
    if (result == CUDA_SUCCESS)
        result = rt.ctxGetDevice(&asked, device->primary);
#endif
    return (cudaError_t)result;
}

cudaError_t rt_use_device(int device, bool make_context) {
    cudaError_t error = rt_start();
    if (error != cudaSuccess)
        return error;
    if (device < 0 || device >= rt_device_count)
        return cudaErrorInvalidDevice;
    current_device = device;
    if (!make_context)
        return cudaSuccess;
    error = retain(&rt_devices[device]);
    return error == cudaSuccess ? (cudaError_t)rt.ctxSetCurrent(rt_devices[device].primary) : error;
}

cudaError_t rt_reset_device(void) {
    struct rt_device *device = &rt_devices[current_device];
    pthread_mutex_lock(&lock);
    CUresult result = rt.primaryReset(device->handle);
    if (device->retained) {
        rt.primaryRelease(device->handle);
        device->retained = false;
    }
    pthread_mutex_unlock(&lock);
    last_error = cudaSuccess;
    return (cudaError_t)result;
}

/* What NVIDIA's shared runtime does when the process ends: no frees, the libraries and the contexts
 * go. As a destructor, so that it comes when the real one's does: after a preload's own. */
__attribute__((destructor)) static void finish(void) {
    if (started != cudaSuccess)
        return;
    rt_unload_all();
    for (int i = 0; i < rt_device_count; i++) {
        if (rt_devices[i].retained)
            rt.primaryRelease(rt_devices[i].handle);
    }
}
