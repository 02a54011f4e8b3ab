/* SPDX-License-Identifier: MIT */
/*
 * A program that gives up system calls (seccomp). Its filter may end the process for any call that it does not
 * list, and it cannot know ours. So before the filter comes into force, room for more records is taken. From then on
 * we make no system call (base/sys.h), write into memory that is mapped already, and count what does not fit. That
 * holds for all threads, because a new one inherits the filter of its creator.
 *
 * Seen are prctl and syscall, which is how libraries for seccomp do it too. A filter that was set before the
 * program was started is not seen. syscall is entered in seal_entry.S: a call that makes a child or a thread must
 * not return through a frame of ours.
 */
#define _GNU_SOURCE
#include "base/base.h"
#include "event.h"
#include "listen/listen.h"

#include <linux/seccomp.h>
#include <stdarg.h>
#include <sys/prctl.h>

/* `strict`: seccomp's strict mode takes the time stamp counter away, too. */
static void seal(bool strict) {
    if (vt_get(&vt_sys_sealed))
        return;
    if (vt_process_is_armed()) {
        struct vt_recording rec = vt_event_open();
        if (rec.thread) {
            vt_log_keep_room(rec.thread);
            vt_event_close(&rec);
        }
    }
    vt_log_stop_clock(strict);
    vt_publish(&vt_sys_sealed, true);
}

static void say(void) {
    if (!vt_log_is_open())
        return;
    struct vt_recording rec = vt_event_open();
    if (!rec.thread)
        return;
    vt_log_note("the program set a seccomp filter: from then on only memory that was mapped "
                "already was written, "
                "and its end was not looked through");
    vt_event_close(&rec);
}

typedef long syscall_function(long n, long a, long b, long c, long d, long e, long f);

syscall_function *vt_seal_real_syscall __attribute__((visibility("hidden"))); /* atomic */

static syscall_function *real_syscall(void) {
    if (VT_UNLIKELY(!vt_see(&vt_seal_real_syscall)))
        vt_publish(&vt_seal_real_syscall, __extension__(syscall_function *) vt_libc_own("syscall"));
    return vt_see(&vt_seal_real_syscall);
}

void vt_seal_load(void) {
    real_syscall();
}

/* Returns the real call's result. If it failed there is no filter. */
static long sealed_if(bool filters, bool strict, long n, long a, long b, long c, long d, long e,
                      long f) {
    bool was = vt_get(&vt_sys_sealed);
    if (filters)
        seal(strict);
    long result = real_syscall()(n, a, b, c, d, e, f);
    if (filters && result == -1)
        vt_publish(&vt_sys_sealed, was);
    else if (filters && !was)
        say();
    return result;
}

/* Jumped to from seal_entry.S: seccomp, prctl, or the first call of all. */
syscall_function vt_seal_syscall;
long vt_seal_syscall(long n, long a, long b, long c, long d, long e, long f) {
    bool strict = (n == SYS_seccomp && a == SECCOMP_SET_MODE_STRICT) ||
                  (n == SYS_prctl && a == PR_SET_SECCOMP && b == SECCOMP_MODE_STRICT);
    if (n == SYS_prctl && a == PR_SET_TSC && b == PR_TSC_SIGSEGV)
        vt_log_stop_clock(true);
    bool filters =
        (n == SYS_seccomp && (a == SECCOMP_SET_MODE_STRICT || a == SECCOMP_SET_MODE_FILTER)) ||
        (n == SYS_prctl && a == PR_SET_SECCOMP);
    return sealed_if(filters, strict, n, a, b, c, d, e, f);
}

VT_EXPORT int prctl(int option, ...) {
    va_list list;
    va_start(list, option);
    long a = va_arg(list, long), b = va_arg(list, long), c = va_arg(list, long),
         d = va_arg(list, long);
    va_end(list);
    typedef int prctl_function(int, long, long, long, long);
    prctl_function *real = __extension__(prctl_function *) vt_libc_end(VT_LIBC_PRCTL);
    if (real && option != PR_SET_SECCOMP && option != PR_SET_TSC)
        return real(option, a, b, c, d);
    return (int)vt_seal_syscall(SYS_prctl, option, a, b, c, d, 0);
}
