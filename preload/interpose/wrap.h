/* SPDX-License-Identifier: MIT */
/*
 * One wrapper per hook of hooks.def, grouped by family, exported under the name
 * of the function that it wraps. This header has the start of every wrapper.
 *
 * Invariants: a wrapper enters, calls the real function, checks, reports the event, and returns the
 * driver's answer unchanged.
 */
#ifndef VT_PRELOAD_WRAP_H
#define VT_PRELOAD_WRAP_H

#include "event.h"
#include "interpose/real.h"

#include <string.h>

/* Declares `call` (the caller) and `real` (the real function). Makes the wrapper fail if `real` is NULL. */
#define VT_ENTER_DRIVER(symbol)                                                                    \
    struct vt_call call __attribute__((unused)) = VT_CALL(symbol);                                 \
    __typeof__(vt_real_driver()->symbol) real = vt_real_driver()->symbol;                          \
    if (VT_UNLIKELY(!real)) {                                                                      \
        vt_log_drop(VT_DROP_UNKNOWN);                                                              \
        return CUDA_ERROR_NOT_INITIALIZED;                                                         \
    }

/* In a wrapper that allocates, before the real call: a limit or an injection may refuse the allocation before it
 * reaches the driver. The refusal is recorded. */
#define VT_MAY_ALLOC(kind, bytes)                                                                  \
    VT_MAY_ALLOC_ON(kind, bytes, vt_context_device(vt_context_current()))

/* The same for a device other than the current context's. */
#define VT_MAY_ALLOC_ON(kind, bytes, device)                                                       \
    if (VT_UNLIKELY(vt_limit_on) && !vt_event_may_alloc(&call, (kind), (bytes), (device)))         \
    return CUDA_ERROR_OUT_OF_MEMORY

/* vt_ask_alloc and vt_ask_allocated (ask_driver.c) record as vt_event_alloc and vt_event_allocated do, then ask the
 * driver about the device if the event set vt_tls.ask. They return `result`. */
CUresult vt_ask_allocated(const struct vt_call *call, CUresult result, struct vt_live what);
void vt_ask_(const struct vt_call *call);
static inline void vt_ask(const struct vt_call *call) {
    if (VT_UNLIKELY(vt_tls.ask))
        vt_ask_(call);
}
static inline CUresult vt_ask_alloc(const struct vt_call *call, CUresult result, unsigned kind,
                                    uint64_t address, uint64_t size) {
    vt_event_alloc(call, (int)result, kind, address, size);
    vt_ask(call);
    return result;
}

/* The value that a successful call stored in its out-parameter. After a failure 0, because the parameter must not be
 * read. */
#define VT_OUT(result, pointer) ((result) == 0 && (pointer) ? (uint64_t)(uintptr_t) * (pointer) : 0)

/* The first and second argument of a wrapper that is generated from its row in hooks.def. */
#define VT_FIRST(...)                  VT_FIRST_(__VA_ARGS__, )
#define VT_FIRST_(first, ...)          first
#define VT_SECOND(...)                 VT_SECOND_(__VA_ARGS__, )
#define VT_SECOND_(first, second, ...) second

/* The end of a wrapper whose call makes or destroys an object: memory of unknown size, or of another process. `out`:
 * where the call stores the object's 64-bit handle or address. Both return `result`. */
static inline CUresult vt_object_made(const struct vt_call *call, CUresult result, unsigned kind,
                                      const void *out) {
    uint64_t handle = 0;
    if (result == CUDA_SUCCESS && out)
        memcpy(&handle, out, sizeof handle);
    if (handle)
        vt_event_object(call, kind, handle, 0, vt_context_current());
    return result;
}

static inline CUresult vt_object_gone(const struct vt_call *call, CUresult result, unsigned kind,
                                      uint64_t handle) {
    if (result == CUDA_SUCCESS)
        vt_event_object(call, kind, handle, VT_OBJECT_DESTROYED, vt_context_current());
    return result;
}

#ifdef VT_CUDART
#include "wrap_runtime.h"
#endif

#endif
