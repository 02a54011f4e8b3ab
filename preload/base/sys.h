/* SPDX-License-Identifier: MIT */
/*
 * Direct system calls: no other interposer, sanitizer or cancellation point is involved, and errno is preserved. Each
 * returns the kernel's value: negative errno on failure.
 */
#ifndef VT_PRELOAD_SYS_H
#define VT_PRELOAD_SYS_H

#include "mappings.h"
#include "machine/machine.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#ifndef SYS_close_range
#define SYS_close_range 436 /* glibc before 2.33 does not name it */
#endif

/* For calls that must be made even if the process is sealed. */
static inline long vt_sys_anyway(long n, long a, long b, long c, long d, long e, long f) {
    return vt_machine_call(n, a, b, c, d, e, f);
}

/* Once vt_sys_sealed is set (instrument/seccomp.c), a system call might end the process: every call then fails at once,
 * except exit_group. A filter set by a bare instruction is not reported, so before each call the kernel is asked
 * whether there is one. */
static inline long vt_sys(long n, long a, long b, long c, long d, long e, long f) {
    if (__builtin_expect(__atomic_load_n(&vt_sys_careful, __ATOMIC_RELAXED), 0) &&
        n != SYS_exit_group && !vt_sys_is_free())
        return -1; /* EPERM */
    return vt_sys_anyway(n, a, b, c, d, e, f);
}

#define VT_SYS0(n)             vt_sys((n), 0, 0, 0, 0, 0, 0)
#define VT_SYS1(n, a)          vt_sys((n), (long)(a), 0, 0, 0, 0, 0)
#define VT_SYS2(n, a, b)       vt_sys((n), (long)(a), (long)(b), 0, 0, 0, 0)
#define VT_SYS3(n, a, b, c)    vt_sys((n), (long)(a), (long)(b), (long)(c), 0, 0, 0)
#define VT_SYS4(n, a, b, c, d) vt_sys((n), (long)(a), (long)(b), (long)(c), (long)(d), 0, 0)
#define VT_SYS6(n, a, b, c, d, e, f)                                                               \
    vt_sys((n), (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))

/* Every mapping goes through these two functions, which keep the list in mappings.h. NULL on failure. If the program
 * locks future mappings (MCL_FUTURE), the kernel would fill a large reservation and use up the program's limit, so we
 * unlock the reservation before it becomes usable. */
static inline void *vt_sys_mmap(size_t bytes, int prot, int flags, int fd, uint64_t offset) {
    bool reserve = flags & MAP_NORESERVE && bytes >= 1u << 20;
    long p = VT_SYS6(SYS_mmap, 0, bytes, reserve ? PROT_NONE : prot, flags, fd, offset);
    if (p < 0 && p > -4096)
        return NULL;
    if (reserve &&
        (VT_SYS2(SYS_munlock, p, bytes) < 0 || VT_SYS3(SYS_mprotect, p, bytes, prot) < 0)) {
        VT_SYS2(SYS_munmap, p, bytes);
        return NULL;
    }
    vt_mappings_add((void *)p, bytes);
    return (void *)p;
}

static inline void vt_sys_munmap(void *start, size_t bytes) {
    vt_mappings_remove(start); /* first: once unmapped, the address may be reused at once */
    VT_SYS2(SYS_munmap, start, bytes);
}

/* Blocks signals in the calling thread while a handler must neither jump out nor fork: while the thread holds the
 * loader's lock, a state that other threads wait for, or a chunk that it does not own yet. SIGBUS stays unblocked, for
 * log/log_fault.c. Returns the argument for vt_sys_let_signals. */
#define VT_SIGNALS_NOT_HELD (~0ull)
static inline uint64_t vt_sys_hold_signals(void) {
    uint64_t most = ~(1ull << (7 /* SIGBUS */ - 1)), was = VT_SIGNALS_NOT_HELD;
    VT_SYS4(SYS_rt_sigprocmask, 0 /* SIG_BLOCK */, &most, &was, sizeof most);
    return was;
}

/* Uses vt_sys_anyway: another thread may have sealed the process meanwhile. */
static inline void vt_sys_let_signals(uint64_t was) {
    if (was != VT_SIGNALS_NOT_HELD)
        vt_sys_anyway(SYS_rt_sigprocmask, 2 /* SIG_SETMASK */, (long)&was, 0, sizeof was, 0, 0);
}

/* Tests without a fault whether a page can be read. The kernel copies a signal set from the address before it checks
 * `how`, which is invalid here. So EFAULT means unreadable, and the signal mask never changes. */
static inline bool vt_sys_is_readable(uintptr_t address) {
    return VT_SYS4(SYS_rt_sigprocmask, -1, address & ~(uintptr_t)7, 0, 8) == -22 /* EINVAL */;
}

static inline uint64_t vt_sys_clock_ns(int clock) {
    struct {
        long sec, nsec;
    } t = {0, 0};
    VT_SYS2(SYS_clock_gettime, clock, &t);
    return (uint64_t)t.sec * 1000000000u + (uint64_t)t.nsec;
}

#endif
