/* SPDX-License-Identifier: MIT */
/*
 * Contexts: created, made current, destroyed. A context's end frees everything that it owns. The current context
 * determines the owner and the device of an allocation.
 *
 * The driver counts references to primary contexts: each retain is matched by a release, and the last one ends the
 * context. We count as well, because a release does not report whether it was the last.
 */
#include "wrap.h"
#include "base/base.h"
#include "scan/scan.h"
#include "snapshot/snapshot.h"
#include "stack/stack.h"

#define DEVICES_MAX 64

static int32_t retained[DEVICES_MAX]; /* atomic */

static void made(const struct vt_call *call, CUcontext context, CUdevice dev, bool primary) {
    unsigned number = vt_context_made(context, (unsigned)dev & 0xff, primary);
    vt_event_object(call, VT_OBJECT_CONTEXT, (uint64_t)(uintptr_t)context,
                    primary ? VT_OBJECT_PRIMARY : 0, number);
}

/* Call this before the driver's function, which may reuse a context's addresses: their entries must be gone by then.
 * When a runtime shuts down inside exit(), its pinned memory disappears. The exit scan needs that memory, so it runs
 * now. Returns the time. */
static uint64_t end_begins(const struct vt_call *call) {
    vt_live_contexts_end();
    if (vt_log_is_open()) {
        vt_triggers_context_ends();
        if (vt_stack_in_exit(&call->caller))
            vt_scan_before_teardown(VT_MACHINE_CALLERS);
    }
    return vt_event_before_call(false);
}

static void ended(const struct vt_call *call, uint64_t ticks, CUcontext context, unsigned number) {
    if (number == VT_CONTEXT_UNKNOWN)
        return;
    vt_event_bulk(call, ticks, number);
    vt_event_object(call, VT_OBJECT_CONTEXT, (uint64_t)(uintptr_t)context, VT_OBJECT_DESTROYED,
                    number);
    vt_context_gone(number);
}

/* The driver pops a context that is current on this thread. */
static void destroyed(const struct vt_call *call, uint64_t ticks, CUcontext context,
                      unsigned number) {
    if (number != VT_CONTEXT_UNKNOWN && vt_context_current() == number)
        vt_context_pop();
    ended(call, ticks, context, number);
}

/* A new context is current on the thread that made it. */
static CUresult made_current(const struct vt_call *call, CUresult result, CUcontext *pctx,
                             CUdevice dev) {
    if (result == CUDA_SUCCESS && pctx) {
        made(call, *pctx, dev, false);
        vt_context_push(*pctx);
    }
    return result;
}

#define CREATE(name)                                                                               \
    VT_EXPORT CUresult name(CUcontext *pctx, unsigned int flags, CUdevice dev) {                   \
        VT_ENTER_DRIVER(name);                                                                     \
        return made_current(&call, real(pctx, flags, dev), pctx, dev);                             \
    }
CREATE(cuCtxCreate)
CREATE(cuCtxCreate_v2)

VT_EXPORT CUresult cuCtxCreate_v3(CUcontext *pctx, CUexecAffinityParam *paramsArray, int numParams,
                                  unsigned int flags, CUdevice dev) {
    VT_ENTER_DRIVER(cuCtxCreate_v3);
    return made_current(&call, real(pctx, paramsArray, numParams, flags, dev), pctx, dev);
}

VT_EXPORT CUresult cuCtxCreate_v4(CUcontext *pctx, CUctxCreateParams *ctxCreateParams,
                                  unsigned int flags, CUdevice dev) {
    VT_ENTER_DRIVER(cuCtxCreate_v4);
    return made_current(&call, real(pctx, ctxCreateParams, flags, dev), pctx, dev);
}

/* Contexts for sharing with OpenGL and VDPAU. CUDA's headers do not define VDPAU's types: a VdpDevice is an unsigned
 * int, and the look-up function is only passed on. */
#define GL_CREATE(name)                                                                            \
    VT_EXPORT CUresult name(CUcontext *pCtx, unsigned int Flags, CUdevice device) {                \
        VT_ENTER_DRIVER(name);                                                                     \
        return made_current(&call, real(pCtx, Flags, device), pCtx, device);                       \
    }
GL_CREATE(cuGLCtxCreate)
GL_CREATE(cuGLCtxCreate_v2)

#define VDPAU_CREATE(name)                                                                         \
    VT_EXPORT CUresult name(CUcontext *pCtx, unsigned int flags, CUdevice device,                  \
                            unsigned int vdpDevice, void *vdpGetProcAddress) {                     \
        VT_ENTER_DRIVER(name);                                                                     \
        return made_current(&call, real(pCtx, flags, device, vdpDevice, vdpGetProcAddress), pCtx,  \
                            device);                                                               \
    }
VDPAU_CREATE(cuVDPAUCtxCreate)
VDPAU_CREATE(cuVDPAUCtxCreate_v2)

VT_EXPORT CUresult cuDevicePrimaryCtxRetain(CUcontext *pctx, CUdevice dev) {
    VT_ENTER_DRIVER(cuDevicePrimaryCtxRetain);
    CUresult result = real(pctx, dev);
    if (result != CUDA_SUCCESS || !pctx || dev < 0 || dev >= DEVICES_MAX)
        return result;
    if (vt_add(&retained[dev], 1) <= 0)
        made(&call, *pctx, dev, true);
    else /* the thread that first retained the context may not have reached this line yet */
        vt_context_made(*pctx, (unsigned)dev & 0xff, true);
    return result;
}

static CUresult destroy(const struct vt_call *call, CUresult (*real)(CUcontext), CUcontext ctx) {
    uint64_t ticks = end_begins(call);
    unsigned number = vt_context_number(ctx);
    uint64_t handle = vt_context_ends(number);
    CUresult result = real(ctx);
    if (result == CUDA_SUCCESS)
        destroyed(call, ticks, ctx, number);
    else
        vt_context_stays(number, handle);
    vt_event_after_call(ticks);
    return result;
}

#define DESTROY(name)                                                                              \
    VT_EXPORT CUresult name(CUcontext ctx) {                                                       \
        VT_ENTER_DRIVER(name);                                                                     \
        return destroy(&call, real, ctx);                                                          \
    }
DESTROY(cuCtxDestroy)
DESTROY(cuCtxDestroy_v2)

/* A reset ends the context however often it was retained. A release ends it only with the last reference. */
static CUresult end_primary(const struct vt_call *call, CUresult (*real)(CUdevice), CUdevice dev,
                            bool release) {
    uint64_t ticks = end_begins(call);
    unsigned number = vt_context_primary((unsigned)dev);
    CUresult result = real(dev);
    bool last = !release || (result == CUDA_SUCCESS && dev >= 0 && dev < DEVICES_MAX &&
                             vt_add(&retained[dev], -1) == 1);
    if (result == CUDA_SUCCESS && last)
        ended(call, ticks, NULL, number);
    vt_event_after_call(ticks);
    return result;
}

#define END_PRIMARY(name, release)                                                                 \
    VT_EXPORT CUresult name(CUdevice dev) {                                                        \
        VT_ENTER_DRIVER(name);                                                                     \
        return end_primary(&call, real, dev, release);                                             \
    }
END_PRIMARY(cuDevicePrimaryCtxReset, false)
END_PRIMARY(cuDevicePrimaryCtxReset_v2, false)
END_PRIMARY(cuDevicePrimaryCtxRelease, true)
END_PRIMARY(cuDevicePrimaryCtxRelease_v2, true)

/* Deprecated since CUDA 4: Attach adds a reference to the current context, Detach drops one, and the last Detach ends
 * the context. Programs that still call Detach create one context and never call Attach, so we treat each Detach as the
 * end. */
VT_EXPORT CUresult cuCtxAttach(CUcontext *pctx, unsigned int flags) {
    VT_ENTER_DRIVER(cuCtxAttach);
    CUresult result = real(pctx, flags);
    if (result == CUDA_SUCCESS && pctx)
        vt_context_number(*pctx);
    return result;
}

VT_EXPORT CUresult cuCtxDetach(CUcontext ctx) {
    VT_ENTER_DRIVER(cuCtxDetach);
    uint64_t ticks = end_begins(&call);
    unsigned number = vt_context_number(ctx);
    CUresult result = real(ctx);
    if (result == CUDA_SUCCESS)
        ended(&call, ticks, ctx, number);
    vt_event_after_call(ticks);
    return result;
}

#define PUSH(name)                                                                                 \
    VT_EXPORT CUresult name(CUcontext ctx) {                                                       \
        VT_ENTER_DRIVER(name);                                                                     \
        CUresult result = real(ctx);                                                               \
        if (result == CUDA_SUCCESS)                                                                \
            vt_context_push(ctx);                                                                  \
        return result;                                                                             \
    }
PUSH(cuCtxPushCurrent)
PUSH(cuCtxPushCurrent_v2)

#define POP(name)                                                                                  \
    VT_EXPORT CUresult name(CUcontext *pctx) {                                                     \
        VT_ENTER_DRIVER(name);                                                                     \
        CUresult result = real(pctx);                                                              \
        if (result == CUDA_SUCCESS)                                                                \
            vt_context_pop();                                                                      \
        return result;                                                                             \
    }
POP(cuCtxPopCurrent)
POP(cuCtxPopCurrent_v2)

VT_EXPORT CUresult cuCtxSetCurrent(CUcontext ctx) {
    VT_ENTER_DRIVER(cuCtxSetCurrent);
    CUresult result = real(ctx);
    if (result == CUDA_SUCCESS)
        vt_context_replace(ctx);
    return result;
}

VT_EXPORT CUresult cuCtxGetCurrent(CUcontext *pctx) {
    VT_ENTER_DRIVER(cuCtxGetCurrent);
    CUresult result = real(pctx);
    if (result == CUDA_SUCCESS && pctx && *pctx)
        vt_context_replace(*pctx);
    return result;
}

VT_EXPORT CUresult cuCtxGetDevice(CUdevice *device) {
    VT_ENTER_DRIVER(cuCtxGetDevice);
    CUresult result = real(device);
    if (result == CUDA_SUCCESS && device)
        vt_context_set_device(vt_context_current(), (unsigned)*device);
    return result;
}
