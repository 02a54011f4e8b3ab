/* SPDX-License-Identifier: MIT */
/*
 * The program's questions to the driver about devices; our own are in ask_driver.c. The log gets the driver's answer;
 * the program gets this answer reduced to VRAMTRACE_LIMIT.
 */
#include "wrap.h"

static unsigned current_device(void) {
    return vt_context_device(vt_context_current());
}

VT_EXPORT CUresult cuMemGetInfo(unsigned int *free, unsigned int *total) {
    VT_ENTER_DRIVER(cuMemGetInfo);
    CUresult result = real(free, total);
    if (result == CUDA_SUCCESS && free && total) {
        vt_event_meminfo(&call, *free, *total);
        if (VT_UNLIKELY(vt_limit_on)) {
            *free = (unsigned)vt_limit_free(current_device(), *free);
            *total = (unsigned)vt_limit_total(current_device(), *total);
        }
    }
    return result;
}

VT_EXPORT CUresult cuMemGetInfo_v2(size_t *free, size_t *total) {
    VT_ENTER_DRIVER(cuMemGetInfo_v2);
    CUresult result = real(free, total);
    if (result == CUDA_SUCCESS && free && total) {
        vt_event_meminfo(&call, *free, *total);
        if (VT_UNLIKELY(vt_limit_on)) {
            *free = vt_limit_free(current_device(), *free);
            *total = vt_limit_total(current_device(), *total);
        }
    }
    return result;
}

VT_EXPORT CUresult cuDeviceGetName(char *name, int len, CUdevice dev) {
    VT_ENTER_DRIVER(cuDeviceGetName);
    CUresult result = real(name, len, dev);
    if (result == CUDA_SUCCESS && name && len > 0)
        vt_event_device((unsigned)dev, name, 0, NULL);
    return result;
}

#define TOTAL_MEM(name, size)                                                                      \
    VT_EXPORT CUresult name(size *bytes, CUdevice dev) {                                           \
        VT_ENTER_DRIVER(name);                                                                     \
        CUresult result = real(bytes, dev);                                                        \
        if (result == CUDA_SUCCESS && bytes) {                                                     \
            vt_event_device((unsigned)dev, NULL, *bytes, NULL);                                    \
            if (VT_UNLIKELY(vt_limit_on))                                                          \
                *bytes = (size)vt_limit_total((unsigned)dev, *bytes);                              \
        }                                                                                          \
        return result;                                                                             \
    }
TOTAL_MEM(cuDeviceTotalMem, unsigned int)
TOTAL_MEM(cuDeviceTotalMem_v2, size_t)

#define GET_UUID(name)                                                                             \
    VT_EXPORT CUresult name(CUuuid *uuid, CUdevice dev) {                                          \
        VT_ENTER_DRIVER(name);                                                                     \
        CUresult result = real(uuid, dev);                                                         \
        if (result == CUDA_SUCCESS && uuid)                                                        \
            vt_event_device((unsigned)dev, NULL, 0, uuid);                                         \
        return result;                                                                             \
    }
GET_UUID(cuDeviceGetUuid)
GET_UUID(cuDeviceGetUuid_v2)
