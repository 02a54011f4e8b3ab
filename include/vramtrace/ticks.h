/* SPDX-License-Identifier: MIT */
/*
 * The processor's counter, which stamps the log's records (VT_CLOCK_TSC): x86's time stamp counter, AArch64's virtual
 * counter. For the library, and for who reads or completes the log of a process of this machine.
 */
#ifndef VRAMTRACE_TICKS_H
#define VRAMTRACE_TICKS_H

#include <stdint.h>

/* The barrier: it is read after everything before it was done. */
static inline uint64_t vt_ticks(void) {
#if defined(__x86_64__)
    __builtin_ia32_lfence();
    return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
    uint64_t ticks;
    __asm__ volatile("isb\n\tmrs %0, cntvct_el0" : "=r"(ticks) : : "memory");
    return ticks;
#else
#error                                                                                             \
    "vramtrace is written for Linux on x86-64 and AArch64; see CONTRIBUTING.md for what another machine needs"
#endif
}

#endif
