/* SPDX-License-Identifier: MIT */
/*
 * The library's life in a process, from start to end.
 *
 *   load    The constructor notes the time, finds the functions behind _exit and exec*, and
 *           registers the end handler. Nothing else: most processes that inherit LD_PRELOAD never
 *           use CUDA.
 *   arming  At the first use of CUDA: options, fork guard, unwinder (base/process.c).
 *   fork    At its first event, a child finds its guard word wiped. It drops what it inherited, and
 *           starts its own log.
 *   end     The exit scan, the END mark and the exit line.
 *
 * exit runs handlers last-in-first-out. The constructor registers ours early, so it runs after
 * every static destructor and after Python's finalization. A plain destructor of ours would run
 * before those, and late frees would look like leaks. _exit, _Exit, quick_exit and exec* run no
 * handler, so we wrap them.
 */
#define _GNU_SOURCE
#include "books/books.h"
#include "base/base.h"
#include "init.h"
#include "listen/listen.h"
#include "stack/stack.h"
#include "scan/scan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void say_exit_line(void) {
    char line[256], *at = line;
    uint64_t bytes, count, dropped = vt_log_dropped();
    vt_live_total(&bytes, &count);
    at = vt_text_put_number(at, count);
    at = vt_text_put(at, count == 1 ? " live allocation, " : " live allocations, ");
    at = vt_text_put_size(at, bytes);
    if (dropped) {
        at = vt_text_put(at, "; ");
        at = vt_text_put_number(at, dropped);
        at = vt_text_put(at, " events dropped");
    }
    const char *fate = vt_log_fate();
    vt_text_put(at, fate ? "; but its log " : "; vramtrace report ");
    vt_options_say_path(line, vt_log_path(), fate ? fate : "");
}

/* Whether the open log is this process's. A forked child that had no event yet still has its
 * parent's log, and a vfork child runs in its parent's memory. */
static bool log_is_mine(void) {
    return vt_process_is_ours() && vt_log_is_open() &&
           (vt_get(&vt_sys_sealed) || vt_log_pid() == (uint32_t)VT_SYS0(SYS_getpid));
}

static uint32_t said; /* atomic: one line per process, even when two threads end it at once */

static void list_live(const struct vt_live *what, void *unused) {
    (void)unused;
    vt_log_list_add(&(struct vt_log_live){
        .word = vt_word(what->device, what->kind, what->hook, what->stack),
        .address = what->address,
        .size_context = (what->size & VT_SIZE_MASK) | (uint64_t)what->context << 48});
}

/* Where events were dropped, among them frees, the live table has the last word. */
static void list_all_live(void) {
    if (!vt_log_dropped() || !vt_log_list_begin())
        return;
    vt_live_each(list_live, NULL);
    vt_log_list_done();
}

static inline __attribute__((always_inline)) void finish(enum vt_exit kind, int status) {
    if (!log_is_mine())
        return;
    if (kind != VT_EXIT_EXEC && !vt_get(&vt_sys_sealed))
        vt_scan_run(__builtin_frame_address(0));
    list_all_live();
    vt_log_end(kind, status);
    if (!vt_options.quiet && kind != VT_EXIT_EXEC && vt_claim(&said, 0, 1))
        say_exit_line();
}

static void at_exit(int status, void *unused) {
    (void)unused;
    finish(VT_EXIT_EXITED, status & 0xff);
}

static int quick_status;

static void at_quick_exit_(void *unused) {
    (void)unused;
    finish(VT_EXIT_EXITED, quick_status & 0xff);
}

extern int __cxa_at_quick_exit(void (*function)(void *), void *dso);

__attribute__((constructor)) static void load(void) {
    vt_log_start_clock();
    vt_nvtx_load();
    vt_libc_find_ends();
    vt_seal_load();
    vt_libc_on_exit(at_exit, NULL);
    __cxa_at_quick_exit(at_quick_exit_, NULL);
}

/* Safe in a signal handler and in a forked child of many threads, like the C library's: it looks
 * nothing up. */
VT_EXPORT void _exit(int status) {
    finish(VT_EXIT_EXITED, status & 0xff);
    void (*real)(int) = __extension__(void (*)(int)) vt_libc_end(VT_LIBC__EXIT);
    if (real)
        real(status);
    for (;;)
        VT_SYS1(SYS_exit_group, status);
}

VT_EXPORT void _Exit(int status) {
    _exit(status);
}

VT_EXPORT void quick_exit(int status) {
    quick_status = status;
    void (*real)(int) = __extension__(void (*)(int)) vt_libc_end(VT_LIBC_QUICK_EXIT);
    if (real)
        real(status);
    _exit(status);
}

void vt_init_exec_begins(void) {
    finish(VT_EXIT_EXEC, 0);
}

void vt_init_exec_failed(void) {
    if (log_is_mine())
        vt_log_unend();
}

/* A child of fork continues where its parent was, which may be in the middle of a record. */
static pid_t fork_by(enum vt_libc_end function) {
    pid_t (*real)(void) = __extension__(pid_t(*)(void)) vt_libc_end(function);
    if (!real) {
        errno = ENOSYS;
        return -1;
    }
    pid_t child = real();
    if (child == 0)
        vt_log_child();
    return child;
}

VT_EXPORT pid_t fork(void) {
    return fork_by(VT_LIBC_FORK);
}

/* fork without the handlers of pthread_atfork, since glibc 2.34. */
VT_EXPORT pid_t _Fork(void);
VT_EXPORT pid_t _Fork(void) {
    return fork_by(VT_LIBC__FORK);
}

static void forked(void) {
    vt_log_forked();
    vt_live_forked();
    vt_stack_forked();
    vt_context_forked();
    vt_vmm_forked();
    vt_pool_forked();
    vt_graph_forked();
    vt_share_forked();
    vt_limit_forked();
    vt_peak_forked();
    vt_phases_forked();
    vt_torch_forked();
    vt_thread_forked();
    /* Only the forking thread lives on. */
    memset(&vt_tls, 0, sizeof vt_tls);
    vt_put(&said, 0);
}

VT_PROCESS_STEPS static const struct vt_process_steps steps = {
    .armed = vt_limit_arm, .open = vt_stack_arm, .forked = forked};
