/* SPDX-License-Identifier: MIT */
/*
 * What the C programs of tests/cases need to use CUDA's driver: declarations (from hooks.def, so a
 * program that calls with the wrong types does not compile), a check that says what failed and
 * where, and the simulated driver's own count. Linked with $SIM/libcuda.so.1 directly (the case's
 * `cflags`), or looked up by the program itself.
 */
#ifndef VT_TESTS_CUDA_CASE_H
#define VT_TESTS_CUDA_CASE_H

#include "../tests/sim/cuda_abi_sim.h"
#include "../tests/sim/sim.h"

#include <stdio.h>
#include <stdlib.h>

#ifdef __cplusplus
extern "C" {
#endif

#define VT_DRIVER(id, symbol, base, since, stream, role, prototype) CUresult symbol prototype;
#include "vramtrace/hooks.def"
CUresult cuInit(unsigned int flags);

#ifdef __cplusplus
}
#endif

#define CHECK(what)                                                                                \
    do {                                                                                           \
        int result_ = (int)(what);                                                                 \
        if (result_ != 0) {                                                                        \
            fprintf(stderr, "%s:%d: %s: answered %d\n", __FILE__, __LINE__, #what, result_);       \
            _Exit(99);                                                                             \
        }                                                                                          \
    } while (0)

#define EXPECT(condition)                                                                          \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: is not so: %s\n", __FILE__, __LINE__, #condition);             \
            _Exit(98);                                                                             \
        }                                                                                          \
    } while (0)

/* A context on device 0, current on the calling thread. */
static inline CUcontext start_cuda(void) {
    CUcontext context;
    CHECK(cuInit(0));
    CHECK(cuCtxCreate_v2(&context, 0, 0));
    return context;
}

#endif
