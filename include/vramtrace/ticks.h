/* SPDX-License-Identifier: MIT */
/*
 * The processor's counter, which stamps the log's records (VT_CLOCK_TSC): x86's time stamp counter, AArch64's virtual
 * counter. For the library, and for programs that read or complete the log of a process on this machine.
 */
#ifndef VRAMTRACE_TICKS_H
#define VRAMTRACE_TICKS_H

#include <stdint.h>

/* The barrier makes the counter wait for the instructions before it; their stores may not be visible yet. */
static inline uint64_t vt_ticks(void) {
#if defined(__x86_64__)
    __builtin_ia32_lfence();
    return __builtin_ia32_rdtsc();
#elif defined(__aarch64__) && defined(__AARCH64EL__) && defined(__LP64__)
    uint64_t ticks;
    __asm__ volatile("isb\n\tmrs %0, cntvct_el0" : "=r"(ticks) : : "memory");
    return ticks;
#else
#error                                                                                             \
    "vramtrace is written for Linux on x86-64 and AArch64; see doc/INTERNALS.md for what another machine needs"
#endif
}

/* Approximate on x86, which does not report its rate. */
static inline uint64_t vt_ticks_per_second(void) {
    uint64_t ticks = 1u << 31;
#ifdef __aarch64__
    __asm__("mrs %0, cntfrq_el0" : "=r"(ticks));
#endif
    return ticks;
}

#endif
