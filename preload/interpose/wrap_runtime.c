/* SPDX-License-Identifier: MIT */
/*
 * Wrappers of the runtime's functions, which only label the driver calls inside. A cudaMalloc is one event: the
 * driver's allocation, recorded with the name and stack of the runtime call. The wrapper reports the event itself only
 * if no driver event happened inside. event.c handles a failed call (cudaFree of an unknown pointer, cudaMalloc without
 * memory) like any other.
 *
 * Compiled once per major version (VT_CUDART = 12, 13) and exported under that version's node. A program linked against
 * libcudart.so.12 asks for cudaMalloc@libcudart.so.12, finds our wrapper for 12, and reaches that runtime, whatever
 * else is loaded. A runtime of another version has another node, so its calls do not reach us; its driver calls are
 * still recorded.
 */
#include "wrap_runtime.h"

WRAPPER(cudaMallocPitch)(void **devPtr, size_t *pitch, size_t width, size_t height) {
    ENTER(cudaMallocPitch);
    cudaError_t result = real(devPtr, pitch, width, height);
    uint64_t row = VT_OUT(result, pitch);
    return allocated(&label, result, VT_KIND_DEVICE, devPtr, (row ? row : width) * height);
}

WRAPPER(cudaMalloc3D)(struct cudaPitchedPtr *pitchedDevPtr, struct cudaExtent extent) {
    ENTER(cudaMalloc3D);
    cudaError_t result = real(pitchedDevPtr, extent);
    bool made = result == cudaSuccess && pitchedDevPtr;
    return allocated(&label, result, VT_KIND_DEVICE, made ? &pitchedDevPtr->ptr : NULL,
                     (made ? pitchedDevPtr->pitch : extent.width) * extent.height * extent.depth);
}

#define VT_ALLOCATES(id, symbol, since, until, role, prototype, kind, arguments)                   \
    WRAPPER(symbol) prototype {                                                                    \
        ENTER(symbol);                                                                             \
        return allocated(&label, real arguments, VT_KIND_##kind, VT_FIRST arguments,               \
                         VT_SECOND arguments);                                                     \
    }
#define VT_FREES(id, symbol, since, until, role, prototype, kind, arguments)                       \
    WRAPPER(symbol) prototype {                                                                    \
        ENTER(symbol);                                                                             \
        const uint64_t ticks = vt_event_before_call(VT_FIRST arguments != NULL);                   \
        return freed(&label, ticks, real arguments, VT_FIRST arguments, VT_KIND_##kind);           \
    }

/* Inside such a call, the driver's wrappers record everything; the call itself is only a label. */
#define VT_LABEL(id, symbol, since, until, role, prototype, arguments)                             \
    VT_LABEL_AS(id, symbol, symbol, since, until, role, prototype, arguments)
#define VT_LABEL_AS(id, symbol, exported, since, until, role, prototype, arguments)                \
    WRAPPER_AS(symbol, exported, since, until) prototype {                                         \
        ENTER(symbol);                                                                             \
        cudaError_t result = real arguments;                                                       \
        vt_event_label_end(&label);                                                                \
        return result;                                                                             \
    }
#include "vramtrace/hooks.def"
