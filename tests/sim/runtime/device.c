/* SPDX-License-Identifier: MIT */
/*
 * Devices and whole contexts in the simulated runtime. cudaDeviceProp is stored in the layout of
 * version 13; runtime 12 converts it to its own, and for the unsuffixed name to CUDA 11's.
 */
#include "runtime.h"

#include <string.h>

cudaError_t cudaDriverGetVersion(int *version) {
    if (version == NULL)
        return rt_fail(cudaErrorInvalidValue);
    *version = 0; /* a missing driver is not an error here */
    cudaError_t error = rt_start();
    return error == cudaErrorInsufficientDriver ? cudaSuccess
                                                : rt_result(rt.driverGetVersion(version));
}

cudaError_t cudaRuntimeGetVersion(int *version) {
    if (version == NULL)
        return rt_fail(cudaErrorInvalidValue);
    *version = RT_VERSION;
    return cudaSuccess;
}

cudaError_t cudaGetDeviceCount(int *count) {
    if (count == NULL)
        return rt_fail(cudaErrorInvalidValue);
    *count = 0;
    RT_ENTER();
    return rt_result(rt.deviceGetCount(count)); /* fails in the child of a CUDA parent */
}

cudaError_t cudaGetDevice(int *device) {
    if (device == NULL)
        return rt_fail(cudaErrorInvalidValue);
    RT_ENTER();
    *device = rt_current_device();
    return cudaSuccess;
}

cudaError_t cudaSetDevice(int device) {
    return rt_fail(rt_use_device(device, true));
}

cudaError_t cudaInitDevice(int device, unsigned int device_flags, unsigned int flags) {
    (void)device_flags;
    (void)flags;
    int before = rt_current_device();
    cudaError_t error = rt_use_device(device, true);
    if (error == cudaSuccess)
        error = rt_use_device(before, before == device);
    return rt_fail(error);
}

cudaError_t cudaSetValidDevices(int *devices, int count) {
    RT_ENTER();
    if (devices == NULL && count != 0)
        return rt_fail(cudaErrorInvalidValue);
    for (int i = 0; i < count; i++) {
        if (devices[i] < 0 || devices[i] >= rt_device_count)
            return rt_fail(cudaErrorInvalidDevice);
    }
    return cudaSuccess;
}

cudaError_t cudaSetDeviceFlags(unsigned int flags) {
    RT_ENTER();
    return rt_result(rt.primarySetFlags(rt_devices[rt_current_device()].handle, flags & ~8U));
}

cudaError_t cudaGetDeviceFlags(unsigned int *flags) {
    RT_ENTER();
    int active;
    if (flags == NULL)
        return rt_fail(cudaErrorInvalidValue);
    CUresult result = rt.primaryGetState(rt_devices[rt_current_device()].handle, flags, &active);
    *flags |= 8; /* host memory can always be mapped */
    return rt_result(result);
}

/* ---- what a device is ---- */

#if SIM_CUDART == 12

static void fill_v12(struct vt_cudaDeviceProp_v12 *out, const struct rt_device *device) {
    const struct vt_cudaDeviceProp_v13 *prop = &device->prop;
    memset(out, 0, sizeof *out);
#define KEEP(field) memcpy(&out->field, &prop->field, sizeof out->field);
#include "tests/sim/runtime/properties_kept.def"
#undef KEEP
    out->clockRate = device->clock_rate;
    out->deviceOverlap = device->overlap;
    out->kernelExecTimeoutEnabled = device->kernel_timeout;
    out->computeMode = device->compute_mode;
    out->maxTexture1DLinear = 1 << 28;
    out->memoryClockRate = device->memory_clock_rate;
    out->singleToDoublePrecisionPerfRatio = device->precision_ratio;
    out->cooperativeMultiDeviceLaunch = 1;
}

static cudaError_t properties(void *out, int device, size_t bytes) {
    struct vt_cudaDeviceProp_v12 prop;
    RT_ENTER();
    if (out == NULL)
        return rt_fail(cudaErrorInvalidValue);
    if (device < 0 || device >= rt_device_count)
        return rt_fail(cudaErrorInvalidDevice);
    fill_v12(&prop, &rt_devices[device]);
    memcpy(out, &prop, bytes);
    return cudaSuccess;
}

#undef cudaGetDeviceProperties

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *out, int device) {
    return properties(out, device, VT_DEVICE_PROP_V11_BYTES);
}

cudaError_t cudaGetDeviceProperties_v2(struct cudaDeviceProp *out, int device) {
    return properties(out, device, sizeof(struct vt_cudaDeviceProp_v12));
}

#else

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *out, int device) {
    RT_ENTER();
    if (out == NULL)
        return rt_fail(cudaErrorInvalidValue);
    if (device < 0 || device >= rt_device_count)
        return rt_fail(cudaErrorInvalidDevice);
    memcpy((void *)out, &rt_devices[device].prop, sizeof rt_devices[device].prop);
    return cudaSuccess;
}

#endif

cudaError_t cudaChooseDevice(int *device, const struct cudaDeviceProp *prop) {
    RT_ENTER();
    if (device == NULL || prop == NULL)
        return rt_fail(cudaErrorInvalidValue);
    *device = 0; /* they are all alike */
    return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device) {
    RT_ENTER();
    if (value == NULL)
        return rt_fail(cudaErrorInvalidValue);
    if (device < 0 || device >= rt_device_count)
        return rt_fail(cudaErrorInvalidDevice);
    /* Numbered alike in both interfaces. */
    return rt_result(
        rt.deviceGetAttribute(value, (CUdevice_attribute)attribute, rt_devices[device].handle));
}

cudaError_t cudaDeviceGetPCIBusId(char *text, int length, int device) {
    RT_ENTER();
    return rt_result(rt.deviceGetPCIBusId(text, length, device));
}

cudaError_t cudaDeviceGetByPCIBusId(int *device, const char *text) {
    RT_ENTER();
    return rt_result(rt.deviceGetByPCIBusId(device, text));
}

cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int peer) {
    RT_ENTER();
    return rt_result(rt.deviceCanAccessPeer(can, device, peer));
}

cudaError_t cudaDeviceGetP2PAttribute(int *value, enum cudaDeviceP2PAttr attribute, int source,
                                      int destination) {
    RT_ENTER();
    return rt_result(
        rt.deviceGetP2PAttribute(value, (CUdevice_P2PAttribute)attribute, source, destination));
}

/* The peer's primary context is what access is given to; it is made when there is none. */
static cudaError_t peer_context(int peer, CUcontext *context) {
    int before = rt_current_device();
    cudaError_t error = rt_use_device(peer, true);
    if (error != cudaSuccess)
        return error;
    *context = rt_devices[peer].primary;
    return rt_use_device(before, true);
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned int flags) {
    CUcontext context;
    RT_ENTER_CONTEXT();
    cudaError_t error = peer_context(peer, &context);
    return error != cudaSuccess ? rt_fail(error)
                                : rt_result(rt.ctxEnablePeerAccess(context, flags));
}

cudaError_t cudaDeviceDisablePeerAccess(int peer) {
    CUcontext context;
    RT_ENTER_CONTEXT();
    cudaError_t error = peer_context(peer, &context);
    return error != cudaSuccess ? rt_fail(error) : rt_result(rt.ctxDisablePeerAccess(context));
}

/* ---- the current context ---- */

static cudaError_t synchronize(void) {
    RT_ENTER_CONTEXT();
#if SIM_CUDART >= 13
    CUcontext context;
    CUresult result = rt.ctxGetCurrent(&context);
    return rt_result(result != CUDA_SUCCESS ? result : rt.ctxSynchronize(context));
#else
    return rt_result(rt.ctxSynchronize_v1());
#endif
}

static cudaError_t reset(void) {
    RT_ENTER();
    return rt_fail(rt_reset_device());
}

cudaError_t cudaDeviceSynchronize(void) {
    return synchronize();
}
cudaError_t cudaDeviceReset(void) {
    return reset();
}

RT_FORWARD(cudaDeviceGetLimit, (size_t * value, enum cudaLimit limit), ctxGetLimit,
           (value, (CUlimit)limit))
RT_FORWARD(cudaDeviceSetLimit, (enum cudaLimit limit, size_t value), ctxSetLimit,
           ((CUlimit)limit, value))
RT_FORWARD(cudaDeviceGetCacheConfig, (enum cudaFuncCache * config), ctxGetCacheConfig,
           ((CUfunc_cache *)(void *)config))
RT_FORWARD(cudaDeviceSetCacheConfig, (enum cudaFuncCache config), ctxSetCacheConfig,
           ((CUfunc_cache)config))
RT_FORWARD(cudaDeviceGetSharedMemConfig, (enum cudaSharedMemConfig * config), ctxGetSharedMemConfig,
           ((CUsharedconfig *)(void *)config))
RT_FORWARD(cudaDeviceSetSharedMemConfig, (enum cudaSharedMemConfig config), ctxSetSharedMemConfig,
           ((CUsharedconfig)config))
RT_FORWARD(cudaDeviceGetStreamPriorityRange, (int *least, int *greatest), ctxGetStreamPriorityRange,
           (least, greatest))
RT_FORWARD(cudaCtxResetPersistingL2Cache, (void), ctxResetPersistingL2Cache, ())
RT_FORWARD(cudaProfilerStart, (void), profilerStart, ())
RT_FORWARD(cudaProfilerStop, (void), profilerStop, ())

#if SIM_CUDART == 12
cudaError_t cudaThreadSynchronize(void) {
    return synchronize();
}
cudaError_t cudaThreadExit(void) {
    return reset();
}
RT_FORWARD(cudaThreadGetLimit, (size_t * value, enum cudaLimit limit), ctxGetLimit,
           (value, (CUlimit)limit))
RT_FORWARD(cudaThreadSetLimit, (enum cudaLimit limit, size_t value), ctxSetLimit,
           ((CUlimit)limit, value))
RT_FORWARD(cudaThreadGetCacheConfig, (enum cudaFuncCache * config), ctxGetCacheConfig,
           ((CUfunc_cache *)(void *)config))
RT_FORWARD(cudaThreadSetCacheConfig, (enum cudaFuncCache config), ctxSetCacheConfig,
           ((CUfunc_cache)config))
#endif

/* ---- the way to the driver ---- */

static cudaError_t entry_point(const char *symbol, void **out, int version,
                               unsigned long long flags,
                               enum cudaDriverEntryPointQueryResult *status) {
    CUdriverProcAddressQueryResult found = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    RT_ENTER();
    if (symbol == NULL || out == NULL)
        return rt_fail(cudaErrorInvalidValue);
    CUresult result = rt.getProcAddress(symbol, out, version, flags, &found);
    if (status != NULL)
        *status = (enum cudaDriverEntryPointQueryResult)found;
    if (result == CUDA_SUCCESS && *out == NULL && status == NULL)
        return rt_fail(cudaErrorSymbolNotFound); /* with a status, that says it */
    return rt_result(result);
}

#define ENTRY_PARAMS const char *symbol, void **out

cudaError_t cudaGetDriverEntryPoint(ENTRY_PARAMS, unsigned long long flags,
                                    enum cudaDriverEntryPointQueryResult *status) {
    return entry_point(symbol, out, RT_VERSION, flags, status);
}

cudaError_t cudaGetDriverEntryPoint_ptsz(ENTRY_PARAMS, unsigned long long flags,
                                         enum cudaDriverEntryPointQueryResult *status) {
    return entry_point(symbol, out, RT_VERSION, flags != 0 ? flags : 2, status);
}

cudaError_t cudaGetDriverEntryPointByVersion(ENTRY_PARAMS, unsigned int version,
                                             unsigned long long flags,
                                             enum cudaDriverEntryPointQueryResult *status) {
    return entry_point(symbol, out, (int)version, flags, status);
}

cudaError_t cudaGetDriverEntryPointByVersion_ptsz(ENTRY_PARAMS, unsigned int version,
                                                  unsigned long long flags,
                                                  enum cudaDriverEntryPointQueryResult *status) {
    return entry_point(symbol, out, (int)version, flags != 0 ? flags : 2, status);
}

/* Private tables of NVIDIA's runtime: there are none here. */
cudaError_t cudaGetExportTable(const void **table, const cudaUUID_t *id) {
    (void)id;
    if (table == NULL)
        return rt_fail(cudaErrorInvalidValue);
    *table = NULL;
    return rt_fail(cudaErrorSymbolNotFound);
}
