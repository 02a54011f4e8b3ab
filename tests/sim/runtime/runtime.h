/* SPDX-License-Identifier: MIT */
/*
 * The internals of the simulated CUDA runtimes. The sources are compiled once for each version,
 * with SIM_CUDART=12 or 13: libcudart.so.12 and .13 differ in symbols, in a few prototypes and in
 * the
 * layouts that cuda_abi.h gives a version suffix.
 *
 * Like the real one, the runtime is a thin layer: it finds the driver (start.c), creates the
 * primary context at first use, translates calls, and keeps the last error of each thread. Every
 * exported function begins with RT_ENTER or RT_ENTER_CONTEXT and ends with rt_result or rt_fail.
 */
#ifndef SIM_RUNTIME_H
#define SIM_RUNTIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tests/sim/cuda_abi_sim.h"

#if SIM_CUDART == 12
#define RT_VERSION 12090
#elif SIM_CUDART == 13
#define RT_VERSION 13000
#else
#error "compile with -DSIM_CUDART=12 or 13"
#endif

#define RT_MAX_DEVICES 64

/* The driver's functions, each the variant that this runtime asked for. */
struct rt_driver {
    CUresult (*getProcAddress)(const char *, void **, int, cuuint64_t,
                               CUdriverProcAddressQueryResult *);
    CUresult (*init)(unsigned int);
#define SIM_CALL(field, name, version, params) CUresult(*field) params;
#define SIM_TWIN(field, name, version, pt_version, params)                                         \
    CUresult(*field) params;                                                                       \
    CUresult(*field##_pt) params;
#if SIM_CUDART >= 13
#define SIM_CALL_13(field, name, version, params) CUresult(*field) params;
#else
#define SIM_CALL_13(field, name, version, params)
#endif
#define SIM_ASK(name, version, flags)
#include "tests/sim/runtime/calls.def"
#undef SIM_CALL
#undef SIM_CALL_13
#undef SIM_TWIN
#undef SIM_ASK
};
extern struct rt_driver rt;

struct rt_device {
    CUdevice handle;
    CUcontext primary;
    bool retained;
    struct vt_cudaDeviceProp_v13 prop; /* asked once, at the start */
    int clock_rate, memory_clock_rate, compute_mode, kernel_timeout, overlap, precision_ratio;
};
extern struct rt_device rt_devices[RT_MAX_DEVICES];
extern int rt_device_count;

/* The driver is loaded and initialised, or why not. */
cudaError_t rt_start(void);
/* The same, and there is a current context: the program's own, or the thread's device's primary. */
cudaError_t rt_start_context(void);
int rt_current_device(void);
cudaError_t rt_use_device(int device, bool make_context);
/* Forgets that the primary context is held: the next use retains it again. */
cudaError_t rt_reset_device(void);

/* Keeps an error for cudaGetLastError and hands it through. */
cudaError_t rt_fail(cudaError_t error);
static inline cudaError_t rt_result(CUresult result) {
    /* The numbers are the same in both interfaces wherever an error has a counterpart. */
    return result == CUDA_SUCCESS ? cudaSuccess : rt_fail((cudaError_t)result);
}

#define RT_ENTER()                                                                                 \
    do {                                                                                           \
        cudaError_t rt_entered_ = rt_start();                                                      \
        if (rt_entered_ != cudaSuccess)                                                            \
            return rt_fail(rt_entered_);                                                           \
    } while (0)
#define RT_ENTER_CONTEXT()                                                                         \
    do {                                                                                           \
        cudaError_t rt_entered_ = rt_start_context();                                              \
        if (rt_entered_ != cudaSuccess)                                                            \
            return rt_fail(rt_entered_);                                                           \
    } while (0)

/* A runtime function that is one driver call. */
#define RT_FORWARD(name, params, field, args)                                                      \
    cudaError_t name params {                                                                      \
        RT_ENTER_CONTEXT();                                                                        \
        return rt_result(rt.field args);                                                           \
    }
/* The same with its per-thread twin. */
#define RT_FORWARD_TWINS(name, suffix, params, field, args)                                        \
    RT_FORWARD(name, params, field, args)                                                          \
    RT_FORWARD(name##suffix, params, field##_pt, args)
/* A function and its twin from one static name_on(bool per_thread, …). */
#define RT_TWINS(name, suffix, params, legacy_args, per_thread_args)                               \
    cudaError_t name params {                                                                      \
        return name##_on legacy_args;                                                              \
    }                                                                                              \
    cudaError_t name##suffix params {                                                              \
        return name##_on per_thread_args;                                                          \
    }
#define RT_PICK(per_thread, field) ((per_thread) ? rt.field##_pt : rt.field)
#define RT_ADDRESS(pointer)        ((CUdeviceptr)(uintptr_t)(pointer))

/* The kernel behind a host function that the program registered (launch.c). */
cudaError_t rt_kernel_of(const void *host, CUfunction *out);
/* The device address and size of a registered variable. */
cudaError_t rt_symbol_of(const void *host, CUdeviceptr *address, size_t *bytes);
void rt_unload_all(void);
/* The driver's description of a 3D copy, and of a straight one. False: the program's is wrong. */
bool rt_copy_deep(const struct cudaMemcpy3DParms *p, CUDA_MEMCPY3D *out);
bool rt_copy_straight(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                      CUDA_MEMCPY3D *out);
/* CUDA_ARRAY3D_DESCRIPTOR from the runtime's description. False: no such format. */
bool rt_array_format(const struct cudaChannelFormatDesc *desc, CUarray_format *format,
                     unsigned *channels);

#endif /* SIM_RUNTIME_H */
