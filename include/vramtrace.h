/* SPDX-License-Identifier: MIT */
/*
 * vramtrace.h: marks and phases for programs that want them in the report.
 *
 *     #include <vramtrace.h>
 *
 *     for (int epoch = 0; epoch < 20; epoch++) {
 *         vramtrace_push("epoch");           a name that repeats is an iteration: growth is
 *         ...                                measured from one to the next
 *         vramtrace_pop();
 *     }
 *
 * Nothing to link. In a process that is not traced each call is a test of a pointer and does
 * nothing, so the calls can stay in the program. C99 and C++11; GCC and Clang on Linux. All of it
 * may be called from any thread, before CUDA is used and after; a program that never uses CUDA
 * leaves no trace file whatever it marks.
 *
 * In a program linked fully static the calls do nothing: there is no preloading into it.
 */
#ifndef VRAMTRACE_H
#define VRAMTRACE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* libvramtrace.so's own functions. Weak: absent where it is not preloaded. Not to be called
 * directly, but as below: their addresses are read from the dynamic linker's table, because in a
 * program that is not position-independent the linker takes a weak function that nobody defines to
 * be absent for ever. */
extern void vramtrace_v1_mark(const char *name) __attribute__((weak));
extern void vramtrace_v1_push(const char *name) __attribute__((weak));
extern void vramtrace_v1_pop(void) __attribute__((weak));
extern int64_t vramtrace_v1_live_bytes(int device) __attribute__((weak));
extern int vramtrace_v1_active(void) __attribute__((weak));
extern int vramtrace_v1_simulated(void) __attribute__((weak));

#if defined(__x86_64__)
#define VRAMTRACE_FIND_(function, pointer)                                                         \
    __asm__(".weak " #function "\n\tmovq " #function "@GOTPCREL(%%rip), %0" : "=r"(pointer))
#elif defined(__aarch64__)
#define VRAMTRACE_FIND_(function, pointer)                                                         \
    __asm__(".weak " #function "\n\tadrp %0, :got:" #function                                      \
            "\n\tldr %0, [%0, :got_lo12:" #function "]"                                            \
            : "=r"(pointer))
#else
#define VRAMTRACE_FIND_(function, pointer) ((pointer) = &function)
#endif

/* A moment with a name: a line in the timeline. The name is copied; at most 200 bytes are kept. */
static inline void vramtrace_mark(const char *name) {
    void (*call)(const char *);
    VRAMTRACE_FIND_(vramtrace_v1_mark, call);
    if (call)
        call(name);
}

/* A phase of the calling thread begins. Phases nest; at most 64 deep. The name is copied. */
static inline void vramtrace_push(const char *name) {
    void (*call)(const char *);
    VRAMTRACE_FIND_(vramtrace_v1_push, call);
    if (call)
        call(name);
}

/* The innermost phase that this thread began ends. Without one: nothing. */
static inline void vramtrace_pop(void) {
    void (*call)(void);
    VRAMTRACE_FIND_(vramtrace_v1_pop, call);
    if (call)
        call();
}

/* Bytes of device memory that this process holds on a device now, by its ordinal; -1: on all. As
 * the driver handed them out: not managed memory, not pinned host memory. 0 when not traced. Walks
 * the tracer's table: for an assertion in a test or a line a step, not for an inner loop. */
static inline int64_t vramtrace_live_bytes(int device) {
    int64_t (*call)(int);
    VRAMTRACE_FIND_(vramtrace_v1_live_bytes, call);
    return call ? call(device) : 0;
}

/* 1 in a traced process, else 0. */
static inline int vramtrace_active(void) {
    int (*call)(void);
    VRAMTRACE_FIND_(vramtrace_v1_active, call);
    return call ? call() : 0;
}

/* 1 when the process runs on vramtrace's simulated GPU (`vramtrace run --sim`), else 0; 0 when not
 * traced. */
static inline int vramtrace_simulated(void) {
    int (*call)(void);
    VRAMTRACE_FIND_(vramtrace_v1_simulated, call);
    return call ? call() : 0;
}

#ifdef __cplusplus
}
#endif

#endif
