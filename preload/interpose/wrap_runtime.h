/* SPDX-License-Identifier: MIT */
/* The start of every runtime wrapper (wrap_runtime*.c), explained in wrap_runtime.c. event.c decides how a result,
 * including a failure, changes the state. */
#ifndef VT_PRELOAD_WRAP_RUNTIME_H
#define VT_PRELOAD_WRAP_RUNTIME_H

#include "wrap.h"

#define PASTE3_(a, b, c, d) a##b##c##d
#define PASTE3(a, b, c, d)  PASTE3_(a, b, c, d)
#define TEXT_(x)            #x
#define TEXT(x)             TEXT_(x)
#if VT_CUDART == 13
#define AT "@@libcudart.so.13" /* for programs linked without versions */
#else
#define AT "@libcudart.so." TEXT(VT_CUDART)
#endif

/* Begins the definition of vt_cudart12_cudaMalloc, exported as cudaMalloc@libcudart.so.12. */
#define OURS(symbol)    PASTE3(vt_cudart, VT_CUDART, _, symbol)
#define WRAPPER(symbol) WRAPPER_AS(symbol, symbol, 12, 13)
#define WRAPPER_AS(symbol, exported, since, until)                                                 \
    __asm__(".if " #since " <= " TEXT(VT_CUDART) " && " TEXT(                                      \
        VT_CUDART) " <= " #until "\n"                                                              \
                   ".symver " TEXT(OURS(symbol)) "," #exported AT "\n.endif");                     \
    VT_EXPORT cudaError_t OURS(symbol)

#define VT_RUNTIME(id, symbol, since, until, role, prototype) cudaError_t OURS(symbol) prototype;
#include "vramtrace/hooks.def"

/* Declares `call` and `real`, and begins the label. */
#define ENTER(symbol)                                                                              \
    const struct vt_call call = VT_CALL(symbol);                                                   \
    __typeof__(vt_real_cudart(VT_CUDART)->symbol) real = vt_real_cudart(VT_CUDART)->symbol;        \
    if (VT_UNLIKELY(!real)) {                                                                      \
        vt_log_drop(VT_DROP_UNKNOWN);                                                              \
        return cudaErrorInitializationError;                                                       \
    }                                                                                              \
    const struct vt_label label = vt_event_label_begin(call)

/* `out`: where the call stores the address. */
static inline cudaError_t allocated(const struct vt_label *label, cudaError_t result, unsigned kind,
                                    void *const *out, uint64_t size) {
    if (vt_event_label_end(label))
        vt_event_alloc(&label->call, (int)result, kind, VT_OUT(result, out), size);
    return result;
}

/* If no driver event happened inside, the free is recorded with the time before the call. */
static inline cudaError_t freed(const struct vt_label *label, uint64_t ticks, cudaError_t result,
                                const void *pointer, unsigned kind) {
    if (vt_event_label_end(label) && pointer) {
        struct vt_freeing freeing = vt_event_free_begin((uint64_t)(uintptr_t)pointer, kind);
        freeing.ticks = ticks;
        vt_event_free_end(&label->call, &freeing, (int)result);
    }
    vt_event_after_call(ticks);
    return result;
}

#endif
