/* SPDX-License-Identifier: MIT */
/*
 * vramtrace.h: marks and phases in the report, for programs that want them.
 *
 *     #include <vramtrace.h>
 *
 *     for (int epoch = 0; epoch < 20; epoch++) {
 *         vramtrace_push("epoch");           each repetition of a name is an iteration;
 *         ...                                growth is measured from one to the next
 *         vramtrace_pop();
 *     }
 *
 * There is nothing to link. In a process that is not traced, each call tests a pointer and does
 * nothing, so the calls can stay in the program. C99 and C++11; GCC and Clang on Linux. Every
 * function may be called from any thread, before or after the first use of CUDA. A program
 * without CUDA calls leaves no trace file, whatever it marks.
 *
 * In a statically linked program, the calls do nothing, because nothing can be preloaded into it.
 */
#ifndef VRAMTRACE_H
#define VRAMTRACE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* libvramtrace.so's functions. Weak: absent without the preload. Call the functions below instead. They read the
 * addresses from the dynamic linker's table, because in a program that is not position-independent, the linker resolves
 * an undefined weak function to NULL for good. */
extern void vramtrace_v1_mark(const char *name) __attribute__((weak));
extern void vramtrace_v1_push(const char *name) __attribute__((weak));
extern void vramtrace_v1_pop(void) __attribute__((weak));
extern int vramtrace_v1_snapshot(const char *name) __attribute__((weak));
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

/* Adds a mark to the timeline. The name is copied; at most 200 bytes are kept. */
static inline void vramtrace_mark(const char *name) {
    void (*call)(const char *);
    VRAMTRACE_FIND_(vramtrace_v1_mark, call);
    if (call)
        call(name);
}

/* Begins a phase of the calling thread. Phases nest, at most 64 deep. The name is copied. */
static inline void vramtrace_push(const char *name) {
    void (*call)(const char *);
    VRAMTRACE_FIND_(vramtrace_v1_push, call);
    if (call)
        call(name);
}

/* Ends the innermost phase that this thread began. Does nothing if there is none. */
static inline void vramtrace_pop(void) {
    void (*call)(void);
    VRAMTRACE_FIND_(vramtrace_v1_pop, call);
    if (call)
        call();
}

/* Looks for the owners of all memory that is live now: which variable, list or attribute holds it.
 * The report shows the owners under this name, which is copied; NULL: no name. Returns 1 if the search was done, 0 if
 * not: nothing is live, VRAMTRACE_SNAPSHOT=off, or the process is not traced. It takes milliseconds or more, depending
 * on the size of the process. */
static inline int vramtrace_snapshot(const char *name) {
    int (*call)(const char *);
    VRAMTRACE_FIND_(vramtrace_v1_snapshot, call);
    return call ? call(name) : 0;
}

/* Bytes of device memory that this process now holds on the device with this ordinal, or on all
 * devices (-1), as allocated from the driver: without managed memory and pinned host memory. 0 when
 * not traced. It walks the tracer's table: use it in a test's assertion or once per step, not in an inner loop. */
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

/* 1 if the process runs on vramtrace's simulated GPU (`vramtrace run --sim`), else 0. 0 when
 * not traced. */
static inline int vramtrace_simulated(void) {
    int (*call)(void);
    VRAMTRACE_FIND_(vramtrace_v1_simulated, call);
    return call ? call() : 0;
}

#ifdef __cplusplus
}
#endif

#endif
