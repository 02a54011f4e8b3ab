/* SPDX-License-Identifier: MIT */
/*
 * Some programs restrict their system calls (seccomp). A filter may end the process for any call that it does not list,
 * and it does not list ours. So before the filter takes effect, we map space for more records. From then on we make no
 * system call (base/sys.h), write only into mapped memory, and count records that do not fit. That holds for all
 * threads, because a new thread inherits the filter of its creator.
 *
 * We intercept prctl and syscall, which libraries for seccomp use. A bare system-call instruction cannot be
 * intercepted. But a program without root's rights must first give up new privileges (PR_SET_NO_NEW_PRIVS). If it does
 * so while it uses CUDA, we assume that a filter follows. If it did so earlier, we check at its first use of CUDA
 * whether a filter exists. From then on we ask the kernel before each of our calls (PR_GET_SECCOMP, which is cheap and
 * opens nothing). Records that do not fit into memory mapped by then are lost.
 *
 * A filter that a bare instruction sets is not covered if it also kills for PR_GET_SECCOMP, or if it is added to an
 * earlier filter, as in a container. No system call is safe under every filter.
 *
 * syscall is entered in seccomp_entry.S: a call that makes a child or a thread must not return through a frame of ours.
 */
#define _GNU_SOURCE
#include "base/base.h"
#include "event.h"
#include "instrument/instrument.h"

#include <fcntl.h>
#include <linux/seccomp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/prctl.h>

static bool noted; /* atomic: the program set its filter through an intercepted call */

/* `strict`: seccomp's strict mode also disables the time stamp counter. */
static void seal(bool strict) {
    vt_put(&noted, true);
    if (!vt_get(&vt_sys_sealed) && vt_process_is_armed() && !vt_process_is_fresh_child()) {
        struct vt_recording rec = vt_event_open();
        if (rec.thread) {
            vt_log_keep_room(rec.thread);
            vt_event_close(&rec);
        }
    }
    vt_log_stop_clock(strict);
    vt_sys_seal(true);
}

#define FROM_THEN_ON                                                                               \
    "from then on only mapped memory was written, and no pointers were searched for at the end"

static void write_note(const char *text) {
    if (!vt_log_is_open() || vt_process_is_fresh_child())
        return;
    struct vt_recording rec = vt_event_open();
    if (!rec.thread)
        return;
    vt_log_note(text);
    vt_event_close(&rec);
}

/* The kernel's lines about the thread's filters: the mode and the number of filters. */
struct filters {
    char text[48];
};
/* At the time when new privileges were given up, if that was before CUDA was used. */
static struct filters filters_then;

static struct filters ask_filters(void) {
    char status[2048]; /* small, because the first CUDA call may be on a small stack */
    struct filters filters = {""};
    long fd = VT_SYS4(SYS_openat, AT_FDCWD, "/proc/thread-self/status", O_RDONLY | O_CLOEXEC, 0);
    if (fd < 0)
        return filters;
    long n = VT_SYS3(SYS_read, fd, status, sizeof status - sizeof filters);
    VT_SYS1(SYS_close, fd);
    status[n > 0 ? n : 0] = 0;
    const char *found = strstr(status, "\nSeccomp:");
    if (found)
        memcpy(&filters, found, sizeof filters);
    return filters;
}

static void expect_filter(void) {
    if (vt_get(&vt_sys_sealed) || vt_locks_vforks ||
        vt_process_pid != (uint32_t)VT_SYS0(SYS_getpid))
        return; /* sealed, or a vfork child, which must not seal its parent */
    if (!vt_process_is_armed()) {
        if (!vt_see(&vt_sys_unsure)) /* else a filter may now forbid the question */
            filters_then = ask_filters();
        vt_publish(&vt_sys_unsure, true);
        return;
    }
    if (vt_process_is_fresh_child())
        return;
    seal(false);
    write_note("the program gave up new privileges, as before a seccomp filter: " FROM_THEN_ON);
}

/* If no filter was added since, the privileges were given up for another reason. Our three system calls are safe,
 * because the driver also makes them when it starts. */
void vt_seccomp_arm(void) {
    if (vt_process_is_armed())
        return;
    if (vt_see(&vt_sys_unsure)) {
        struct filters now = ask_filters();
        if (memcmp(&now, &filters_then, sizeof now) != 0) {
            vt_sys_seal(true);
            return;
        }
        vt_publish(&vt_sys_unsure, false);
    }
    vt_sys_watch();
}

void vt_seccomp_ends(void) {
    static uint32_t said; /* atomic */
    if (vt_get(&vt_sys_sealed) && !vt_get(&noted) && vt_claim(&said, 0, 1))
        write_note("a seccomp filter was in force at a system call of this library: " FROM_THEN_ON);
}

typedef long syscall_function(long n, long a, long b, long c, long d, long e, long f);

syscall_function *vt_seccomp_real_syscall __attribute__((visibility("hidden"))); /* atomic */

static syscall_function *real_syscall(void) {
    if (VT_UNLIKELY(!vt_see(&vt_seccomp_real_syscall)))
        vt_publish(&vt_seccomp_real_syscall,
                   __extension__(syscall_function *) vt_libc_own("syscall"));
    return vt_see(&vt_seccomp_real_syscall);
}

void vt_seccomp_load(void) {
    real_syscall();
}

/* Returns the real call's result. If the call failed, there is no filter. A vfork child's filter ends with the child:
 * only the child is sealed, and no record is written. */
static long sealed_if(bool filters, bool strict, long n, long a, long b, long c, long d, long e,
                      long f) {
    bool was = vt_get(&vt_sys_sealed);
    if (filters && !vt_locks_vforks)
        seal(strict);
    long result = real_syscall()(n, a, b, c, d, e, f);
    if (vt_locks_vforks) {
        if (filters && result != -1)
            vt_sys_seal(true);
        return result;
    }
    if (filters && result == -1)
        vt_sys_seal(was);
    else if (filters && !was)
        write_note("the program set a seccomp filter: " FROM_THEN_ON);
    return result;
}

/* seccomp_entry.S jumps here for seccomp, prctl, and the first system call. */
syscall_function vt_seccomp_syscall;
long vt_seccomp_syscall(long n, long a, long b, long c, long d, long e, long f) {
    bool strict = (n == SYS_seccomp && a == SECCOMP_SET_MODE_STRICT) ||
                  (n == SYS_prctl && a == PR_SET_SECCOMP && b == SECCOMP_MODE_STRICT);
    if (n == SYS_prctl && a == PR_SET_TSC && b == PR_TSC_SIGSEGV)
        vt_log_stop_clock(true);
    bool filters =
        (n == SYS_seccomp && (a == SECCOMP_SET_MODE_STRICT || a == SECCOMP_SET_MODE_FILTER)) ||
        (n == SYS_prctl && a == PR_SET_SECCOMP);
    long result = sealed_if(filters, strict, n, a, b, c, d, e, f);
    if (n == SYS_prctl && a == PR_SET_NO_NEW_PRIVS && result == 0)
        expect_filter();
    return result;
}

VT_EXPORT int prctl(int option, ...) {
    va_list list;
    va_start(list, option);
    long a = va_arg(list, long), b = va_arg(list, long), c = va_arg(list, long),
         d = va_arg(list, long);
    va_end(list);
    typedef int prctl_function(int, long, long, long, long);
    prctl_function *real = __extension__(prctl_function *) vt_libc_end(VT_LIBC_PRCTL);
    if (real && option != PR_SET_SECCOMP && option != PR_SET_TSC && option != PR_SET_NO_NEW_PRIVS)
        return real(option, a, b, c, d);
    return (int)vt_seccomp_syscall(SYS_prctl, option, a, b, c, d, 0);
}
