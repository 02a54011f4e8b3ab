/* SPDX-License-Identifier: MIT */
/*
 * What the programs of this folder have in common. The sizes say what the scan must find: those that begin with 3 are kept,
 * those that begin with 4 are lost.
 */
#ifndef VT_TESTS_GPU_SCAN_PROGRAMS_H
#define VT_TESTS_GPU_SCAN_PROGRAMS_H

#include <cuda_runtime_api.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(what)                                                                                \
    do {                                                                                           \
        int result_ = (int)(what);                                                                 \
        if (result_) {                                                                             \
            fprintf(stderr, "%s:%d: %s: %d\n", __FILE__, __LINE__, #what, result_);                \
            exit(99);                                                                              \
        }                                                                                          \
    } while (0)
#define APART __attribute__((noinline, unused)) static

static void *volatile none;

APART void *take(size_t bytes) {
    void *p;
    CHECK(cudaMalloc(&p, bytes));
    return p;
}

static inline void lose(void *p) {
    none = p;
    none = NULL;
}

/* Nothing is left of it on the stack. */
APART void wipe(void) {
    char stack[65536];
    memset(stack, 1, sizeof stack);
    lose(stack);
}

static inline int end(void) {
    wipe();
    CHECK(cudaDeviceSynchronize());
    wipe();
    return 0;
}

#endif
