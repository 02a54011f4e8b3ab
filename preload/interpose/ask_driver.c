/* SPDX-License-Identifier: MIT */
/*
 * Our own questions to the driver (none with VRAMTRACE_ASK=off), so that a log shows how large a device is and how much
 * of it others use. After the first allocation on a device, we ask for its name, size and UUID. After a refusal and
 * after a new peak (state/peak.c decides when), we ask for free and total memory.
 *
 * We call the real function on the thread that just allocated, where the program itself has just called the driver. We
 * never ask while a stream is captured, because another call might end the capture, and never inside exit. We never
 * create a context: if the current context is not the device's, we do not ask about memory.
 */
#include "stack/stack.h"
#include "wrap.h"

#include <errno.h>

static void ask_device(unsigned device) {
    const struct vt_real_driver *real = vt_real_driver();
    char name[sizeof((struct vt_rec_device *)0)->name] = "";
    size_t bytes = 0;
    CUuuid uuid;
    bool named = real->cuDeviceGetName &&
                 real->cuDeviceGetName(name, (int)sizeof name, (CUdevice)device) == CUDA_SUCCESS;
    if (!real->cuDeviceTotalMem_v2 ||
        real->cuDeviceTotalMem_v2(&bytes, (CUdevice)device) != CUDA_SUCCESS)
        bytes = 0;
    __typeof__(real->cuDeviceGetUuid_v2) get_uuid =
        real->cuDeviceGetUuid_v2 ? real->cuDeviceGetUuid_v2 : real->cuDeviceGetUuid;
    bool has_uuid = get_uuid && get_uuid(&uuid, (CUdevice)device) == CUDA_SUCCESS;
    if (bytes && vt_limit_on)
        vt_limit_total(device, bytes);
    vt_event_device(device, named ? name : NULL, bytes, has_uuid ? &uuid : NULL);
}

static void ask_memory(const struct vt_call *call) {
    const struct vt_real_driver *real = vt_real_driver();
    size_t free_bytes, total_bytes;
    if (real->cuMemGetInfo_v2 && real->cuMemGetInfo_v2(&free_bytes, &total_bytes) == CUDA_SUCCESS)
        vt_event_meminfo(call, free_bytes, total_bytes);
}

void vt_ask_(const struct vt_call *call) {
    unsigned questions = vt_tls.ask, device = vt_tls.ask_device;
    int saved_errno = errno;
    vt_tls.ask = 0;
    if (vt_settings.ask && vt_get(&vt_graph_captures)) {
        vt_peak_unasked(device);
        return;
    }
    if (!vt_settings.ask || vt_stack_in_exit(&call->caller))
        return;
    if (questions & VT_ASK_DEVICE)
        ask_device(device);
    if ((questions & VT_ASK_MEMORY) && vt_context_device(vt_context_current()) == device)
        ask_memory(call);
    errno = saved_errno;
}

CUresult vt_ask_allocated(const struct vt_call *call, CUresult result, struct vt_live what) {
    vt_event_allocated(call, (int)result, what);
    vt_ask(call);
    return result;
}
