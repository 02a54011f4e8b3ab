/* SPDX-License-Identifier: MIT */
/*
 * What the C programs of the corpus share. Each is one scene with two endings: called with "leak"
 * it makes a mistake that is made in earnest, without it does the same work rightly. Allocations
 * are macros, so that the line which allocates is the scene's own; the line that a report must name
 * has LEAK in a comment.
 */
#ifndef VT_TESTS_SCENE_H
#define VT_TESTS_SCENE_H

#include "../cuda_case.h"

#include "vramtrace.h"

#include <string.h>

static int leaking; /* whether this is the ending that leaks */

#define KIB ((size_t)1024)
#define MIB (KIB * 1024)

/* A device pointer from now on: `CUdeviceptr x = ALLOC(MIB);` */
#define ALLOC(bytes)                                                                               \
    ({                                                                                             \
        CUdeviceptr made_;                                                                         \
        CHECK(cuMemAlloc_v2(&made_, bytes));                                                       \
        made_;                                                                                     \
    })
#define FREE(pointer) CHECK(cuMemFree_v2(pointer))

/* What a step of real work does beside: something is made, filled and given back. */
#define WORK()                                                                                     \
    do {                                                                                           \
        CUdeviceptr work_ = ALLOC(2 * MIB);                                                        \
        FREE(work_);                                                                               \
    } while (0)

/* A scene's beginning. */
#define SCENE(argc, argv)                                                                          \
    CUcontext context = start_cuda();                                                              \
    (void)context;                                                                                 \
    leaking = (argc) > 1 && !strcmp((argv)[1], "leak")

/* For the compiler, a variable that is read: what is only written is left out of optimized code. */
#define KEEP(variable) __asm__ volatile("" : : "r"(&(variable)) : "memory")

/* Kept where the exit scan finds it. */
static inline CUdeviceptr *new_list(size_t room) {
    CUdeviceptr *list = (CUdeviceptr *)calloc(room, sizeof *list);
    if (!list)
        _Exit(97);
    return list;
}

/* The same numbers in every run. */
static inline unsigned dice(unsigned *state) {
    *state = *state * 1103515245u + 12345u;
    return *state >> 16;
}

#endif
