/* SPDX-License-Identifier: MIT */
/*
 * Objects that hold device memory of unknown size: modules and libraries (code, `__device__` variables), limits for the
 * sizes of a context's heaps and stacks, green contexts. They are recorded with their stacks, so that a rise in
 * untracked memory can be compared with what the program did at that time. Wrappers that only record a creation or a
 * destruction, including those for imported memory (wrap_share.c), are generated from their rows in hooks.def.
 */
#include "state/state.h"
#include "wrap.h"

#define VT_MAKES(id, symbol, base, since, stream, role, prototype, object, arguments)              \
    VT_EXPORT CUresult symbol prototype {                                                          \
        VT_ENTER_DRIVER(symbol);                                                                   \
        return vt_object_made(&call, real arguments, VT_OBJECT_##object, VT_FIRST arguments);      \
    }
#define VT_ENDS(id, symbol, base, since, stream, role, prototype, object, arguments)               \
    VT_EXPORT CUresult symbol prototype {                                                          \
        VT_ENTER_DRIVER(symbol);                                                                   \
        return vt_object_gone(&call, real arguments, VT_OBJECT_##object,                           \
                              (uint64_t)(uintptr_t)(VT_FIRST arguments));                          \
    }
#include "vramtrace/hooks.def"

VT_EXPORT CUresult cuCtxSetLimit(CUlimit limit, size_t value) {
    VT_ENTER_DRIVER(cuCtxSetLimit);
    CUresult result = real(limit, value);
    if (result == CUDA_SUCCESS)
        vt_event_object(&call, VT_OBJECT_LIMIT,
                        (uint64_t)limit << 56 | (value & 0x00ffffffffffffffull), 0,
                        vt_context_current());
    return result;
}

VT_EXPORT CUresult cuGreenCtxCreate(CUgreenCtx *phCtx, CUdevResourceDesc desc, CUdevice dev,
                                    unsigned int flags) {
    VT_ENTER_DRIVER(cuGreenCtxCreate);
    CUresult result = real(phCtx, desc, dev, flags);
    if (result == CUDA_SUCCESS && phCtx)
        vt_event_object(&call, VT_OBJECT_CONTEXT, (uint64_t)(uintptr_t)*phCtx, 0,
                        vt_context_green_made(*phCtx, (unsigned)dev & 0xff));
    return result;
}

VT_EXPORT CUresult cuGreenCtxDestroy(CUgreenCtx hCtx) {
    VT_ENTER_DRIVER(cuGreenCtxDestroy);
    unsigned number = vt_context_green(hCtx);
    vt_context_green_gone(hCtx);
    CUresult result = real(hCtx);
    if (result == CUDA_SUCCESS)
        vt_event_object(&call, VT_OBJECT_CONTEXT, (uint64_t)(uintptr_t)hCtx, VT_OBJECT_DESTROYED,
                        number);
    return result;
}

/* A green context as a CUcontext: its allocations belong to the primary context. */
VT_EXPORT CUresult cuCtxFromGreenCtx(CUcontext *pContext, CUgreenCtx hCtx) {
    VT_ENTER_DRIVER(cuCtxFromGreenCtx);
    CUresult result = real(pContext, hCtx);
    if (result == CUDA_SUCCESS && pContext)
        vt_context_alias(*pContext, vt_context_green(hCtx));
    return result;
}
