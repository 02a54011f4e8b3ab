/* SPDX-License-Identifier: MIT */
/* What the program asks the driver about devices, overheard: we make no CUDA call of our own. */
#include "wrap.h"

VT_EXPORT CUresult cuMemGetInfo(unsigned int *free, unsigned int *total) {
    VT_ENTER_DRIVER(cuMemGetInfo);
    CUresult result = real(free, total);
    if (result == CUDA_SUCCESS && free && total)
        vt_event_meminfo(&call, *free, *total);
    return result;
}

VT_EXPORT CUresult cuMemGetInfo_v2(size_t *free, size_t *total) {
    VT_ENTER_DRIVER(cuMemGetInfo_v2);
    CUresult result = real(free, total);
    if (result == CUDA_SUCCESS && free && total)
        vt_event_meminfo(&call, *free, *total);
    return result;
}

VT_EXPORT CUresult cuDeviceGetName(char *name, int len, CUdevice dev) {
    VT_ENTER_DRIVER(cuDeviceGetName);
    CUresult result = real(name, len, dev);
    if (result == CUDA_SUCCESS && name && len > 0)
        vt_event_device((unsigned)dev, name, 0, NULL);
    (void)call;
    return result;
}

VT_EXPORT CUresult cuDeviceTotalMem(unsigned int *bytes, CUdevice dev) {
    VT_ENTER_DRIVER(cuDeviceTotalMem);
    CUresult result = real(bytes, dev);
    if (result == CUDA_SUCCESS && bytes)
        vt_event_device((unsigned)dev, NULL, *bytes, NULL);
    (void)call;
    return result;
}

VT_EXPORT CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice dev) {
    VT_ENTER_DRIVER(cuDeviceTotalMem_v2);
    CUresult result = real(bytes, dev);
    if (result == CUDA_SUCCESS && bytes)
        vt_event_device((unsigned)dev, NULL, *bytes, NULL);
    (void)call;
    return result;
}

VT_EXPORT CUresult cuDeviceGetUuid(CUuuid *uuid, CUdevice dev) {
    VT_ENTER_DRIVER(cuDeviceGetUuid);
    CUresult result = real(uuid, dev);
    if (result == CUDA_SUCCESS && uuid)
        vt_event_device((unsigned)dev, NULL, 0, uuid);
    (void)call;
    return result;
}

VT_EXPORT CUresult cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice dev) {
    VT_ENTER_DRIVER(cuDeviceGetUuid_v2);
    CUresult result = real(uuid, dev);
    if (result == CUDA_SUCCESS && uuid)
        vt_event_device((unsigned)dev, NULL, 0, uuid);
    (void)call;
    return result;
}
