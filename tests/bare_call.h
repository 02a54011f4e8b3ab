/* SPDX-License-Identifier: MIT */
/* A system call as a program without a C library makes it: by the instruction. The other arguments are 0. */
#ifndef BARE_CALL_H
#define BARE_CALL_H

#include <signal.h>
#include <sys/syscall.h>

static inline long bare_call(long number, long a, long b, long c) {
#if defined(__x86_64__)
    long result;
    __asm__ volatile("xorl %%r10d, %%r10d\n\txorl %%r8d, %%r8d\n\tsyscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c)
                     : "rcx", "r8", "r10", "r11", "memory");
    return result;
#else
    register long x8 __asm__("x8") = number, x0 __asm__("x0") = a, x1 __asm__("x1") = b,
                     x2 __asm__("x2") = c, x3 __asm__("x3") = 0, x4 __asm__("x4") = 0;
    __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4) : "memory");
    return x0;
#endif
}

/* Newer architectures have no call fork; this clone does the same. */
#ifdef SYS_fork
#define FORK_CALL SYS_fork, 0, 0
#else
#define FORK_CALL SYS_clone, SIGCHLD, 0
#endif

#endif
