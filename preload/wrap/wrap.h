/* SPDX-License-Identifier: MIT */
/*
 * The door of wrap/: one wrapper a hook of hooks.def, by family; exported under the name of what it
 * wraps. Here is what each begins with.
 *
 * Law: nothing but before, call, after: enter, call the real one, check, event, return. The driver's
 * answer is passed on untouched. Uses all rooms before it.
 *
 * Parts: wrap_runtime.h, the same for the runtime's wrappers, which are labels; also for those in
 * route/.
 */
#ifndef VT_PRELOAD_WRAP_H
#define VT_PRELOAD_WRAP_H

#include "event.h"
#include "real/real.h"

/* Declares `call` (who called) and `real` (the function behind us), or answers that there is none.
 */
#define VT_ENTER_DRIVER(symbol)                                                                    \
    struct vt_call call = VT_CALL(symbol);                                                         \
    __typeof__(vt_real_driver()->symbol) real = vt_real_driver()->symbol;                          \
    if (VT_UNLIKELY(!real)) {                                                                      \
        vt_log_drop(VT_DROP_UNKNOWN);                                                              \
        return CUDA_ERROR_NOT_INITIALIZED;                                                         \
    }

/* In a wrapper that allocates, before the real call: with a limit or an
 * injection in force it may be refused in the driver's place, and is recorded as refused. */
#define VT_MAY_ALLOC(kind, bytes)                                                                  \
    VT_MAY_ALLOC_ON(kind, bytes, vt_context_device(vt_context_current()))

/* The same, where the device is not the current context's. */
#define VT_MAY_ALLOC_ON(kind, bytes, device)                                                       \
    if (VT_UNLIKELY(vt_limit_on) && !vt_event_may_alloc(&call, (kind), (bytes), (device)))         \
    return CUDA_ERROR_OUT_OF_MEMORY

/* What a successful call left in its out-parameter; 0 when it failed: then nothing may be read. */
#define VT_OUT(result, pointer) ((result) == 0 && (pointer) ? (uint64_t)(uintptr_t) * (pointer) : 0)

#ifdef VT_CUDART
#include "wrap_runtime.h"
#endif

#endif
