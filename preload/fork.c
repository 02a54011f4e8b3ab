/* SPDX-License-Identifier: MIT */
/*
 * fork: the child must not write into its parent's log, nor wait for what its parent's threads were in the middle of
 * (base/locks.h). Right after the call it drops what the parent was in the middle of (vt_log_child). At its first
 * event, base/process.c finds the guard word wiped, and vt_fork_happened lets each room forget what it inherited; the
 * child then starts a log of its own. A child of a system call is found by the guard word alone. A vfork child runs in
 * its parent's memory, with its guard: it writes into its parent's log, and does not end it: vfork is ours
 * (base/vfork_entry.S), as is clone, and pids are compared (vt_log_is_mine). Under a seccomp filter no pid can be asked for:
 * then a child in its parent's memory that a bare instruction made, or that its parent does not wait for, is not told from it.
 */
#define _GNU_SOURCE
#include "state/state.h"
#include "base/base.h"
#include "life.h"
#include "instrument/instrument.h"
#include "snapshot/snapshot.h"
#include "stack/stack.h"

#include <errno.h>
#include <sched.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

extern int __register_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void),
                             void *dso);

/* A child of fork, forkpty or daemon continues where its parent was, which may be in the middle of a record. */
static void child_begins(void) {
    vt_locks_fork_in_child(true);
    vt_descriptors_forked();
    vt_log_child();
}

void vt_fork_load(void) {
    vt_locks_load();
    __register_atfork(vt_locks_fork_begins, vt_locks_fork_in_parent, child_begins, NULL);
}

/* fork without the handlers of pthread_atfork, since glibc 2.34. */
VT_EXPORT pid_t _Fork(void) {
    pid_t (*real)(void) = __extension__(pid_t(*)(void)) vt_libc_end(VT_LIBC__FORK);
    if (!real) {
        errno = ENOSYS;
        return -1;
    }
    vt_locks_fork_begins();
    pid_t child = real();
    if (child == 0) {
        vt_locks_fork_in_child(false);
        vt_descriptors_forked();
        vt_log_child();
    } else {
        vt_locks_fork_in_parent();
    }
    return child;
}

/* A child in this memory, while this thread waits for it, is counted as vfork's is. It runs on another stack, so a frame of ours
 * does no harm. The C library's own threads and posix_spawn do not come here. */
typedef int clone_function(int (*function)(void *), void *stack, int flags, void *data, ...);
VT_EXPORT int clone(int (*function)(void *), void *stack, int flags, void *data, ...) {
    const int kind = flags & (CLONE_VM | CLONE_VFORK | CLONE_THREAD);
    const uint32_t child = kind == (CLONE_VM | CLONE_VFORK);
    clone_function *real = __extension__(clone_function *) vt_libc_end(VT_LIBC_CLONE);
    va_list list;
    va_start(list, data);
    void *parent_tid = va_arg(list, void *), *tls = va_arg(list, void *),
         *child_tid = va_arg(list, void *);
    va_end(list);
    if (!real) {
        errno = ENOSYS;
        return -1;
    }
    vt_locks_vforks += child;
    int result = real(function, stack, flags, data, parent_tid, tls, child_tid);
    vt_locks_vforks -= child;
    return result;
}

void vt_fork_happened(void) {
    vt_locks_check();
    vt_log_forked();
    vt_log_due_forked();
    vt_log_live_forked();
    vt_live_forked();
    vt_stack_forked();
    vt_context_forked();
    vt_vmm_forked();
    vt_pool_forked();
    vt_graph_forked();
    vt_share_forked();
    vt_limit_forked();
    vt_peak_forked();
    vt_growth_trigger_forked();
    vt_phases_forked();
    vt_torch_forked();
    vt_torch_backward_forked();
    vt_thread_forked();
    vt_snapshot_forked();
    vt_triggers_forked();
    vt_exit_forked();
    /* Only the forking thread lives on. */
    memset(&vt_tls, 0, sizeof vt_tls);
}
