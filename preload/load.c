/* SPDX-License-Identifier: MIT */
/*
 * The start of the library in a process.
 *
 *   load    The constructor notes the time, finds the functions behind _exit and exec*, and
 *           registers the end handlers. Nothing else: most processes that inherit LD_PRELOAD never
 *           use CUDA.
 *   arming  At the first use of CUDA: options, fork guard, unwinder (base/process.c, which calls
 *           the steps below).
 *
 * fork.c, exec.c and exit.c have the rest of a process's life.
 */
#include "books/books.h"
#include "base/base.h"
#include "life.h"
#include "listen/listen.h"
#include "scan/scan.h"
#include "stack/stack.h"

extern int __cxa_at_quick_exit(void (*function)(void *), void *dso);

__attribute__((constructor)) static void load(void) {
    vt_log_start_clock();
    vt_nvtx_load();
    vt_libc_find_ends();
    vt_seal_load();
    vt_libc_on_exit(vt_exit_handler, NULL);
    __cxa_at_quick_exit(vt_exit_quick_handler, NULL);
}

/* By each thread that arms. */
static void open(void) {
    static uint32_t registered; /* atomic */
    vt_stack_arm();
    if (vt_claim(&registered, 0, 1))
        vt_libc_on_exit(vt_exit_begins, NULL);
}

VT_PROCESS_STEPS static const struct vt_process_steps steps = {
    .armed = vt_limit_arm, .open = open, .forked = vt_fork_happened, .due = vt_moments_due};
