/* SPDX-License-Identifier: MIT */
/*
 * fork: the child must not write into its parent's log, nor wait for locks that its parent's threads held
 * (base/locks.h). Right after the call it drops its parent's unfinished record (vt_log_child). At its first event,
 * base/process.c finds the guard word cleared, and vt_fork_happened resets the inherited state of each module; the
 * child then starts a log of its own. Only the guard word detects a child made by a bare system call.
 *
 * A vfork child runs in its parent's memory, guard included: it writes into its parent's log, but must not end that
 * log. So we wrap vfork (base/vfork_entry.S) and clone, and compare pids (vt_log_is_mine). Under a seccomp filter the
 * pid is unavailable: then we mistake a child in its parent's memory for the parent if a bare instruction made it, or
 * if the parent does not wait for it.
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

/* A child of fork, forkpty or daemon continues where its parent was, possibly in the middle of a record. */
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

/* A child that shares this memory and that this thread waits for counts as a vfork child. It runs on another stack, so
 * our frame is harmless. The C library's own threads and posix_spawn do not call this function. */
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
    /* Only the forking thread exists in the child. */
    memset(&vt_tls, 0, sizeof vt_tls);
}
