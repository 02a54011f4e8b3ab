/* SPDX-License-Identifier: MIT */
/*
 * Handles truncation of the log while it is written. A store to the mapping then causes a SIGBUS, which would kill the
 * program; no mapping of a file is safe from that. So our handler replaces the page by private memory, where the store
 * is repeated, and the log counts as lost.
 *
 * The handler is installed when the log opens, and only if the program has none, so that a SIGBUS would end the
 * process. A SIGBUS outside our mappings still does. A handler that the program installs later replaces ours; from then
 * on, a truncated log is a fault like any other.
 *
 * Called by log.c. The handler makes only system calls and loads.
 */
#define _GNU_SOURCE
#include "log_file.h"
#include "base/base.h"

#include <signal.h>
#include <sys/mman.h>

/* The kernel's struct sigaction. */
struct action {
    uintptr_t handler;
    unsigned long flags;
    void (*restorer)(void);
    uint64_t mask;
};

static uint32_t truncated; /* atomic */

static void on_fault(int number, siginfo_t *info, void *context) {
    (void)context;
    uintptr_t page = (uintptr_t)info->si_addr & ~(vt_machine_page() - 1);
    if (info->si_code == BUS_ADRERR && vt_mappings_hold((uintptr_t)info->si_addr) &&
        vt_sys_anyway(SYS_mmap, (long)page, (long)vt_machine_page(), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == (long)page) {
        vt_put(&truncated, 1);
        return;
    }
    /* Not our mapping: the process ends as it would without us. A fault happens again; we send a sent signal again,
     * with its data. */
    static const struct action none = {0};
    if (vt_sys_anyway(SYS_rt_sigaction, number, (long)&none, 0, sizeof none.mask, 0, 0) != 0)
        /* A seccomp filter forbids the call, and the fault would repeat for ever. */
        VT_SYS1(SYS_exit_group, 128 + number);
    if (info->si_code <= 0 || info->si_code == SI_KERNEL)
        vt_sys_anyway(SYS_rt_tgsigqueueinfo, vt_sys_anyway(SYS_getpid, 0, 0, 0, 0, 0, 0),
                      vt_sys_anyway(SYS_gettid, 0, 0, 0, 0, 0, 0), number, (long)info, 0, 0);
}

void vt_log_fault_watch(void) {
    struct action now,
        ours = {.handler = (uintptr_t)on_fault,
                .flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER | SA_RESTART | VT_MACHINE_SA_RESTORER,
                .restorer = VT_MACHINE_RESTORER};
    vt_put(&truncated, 0);
    if (VT_SYS4(SYS_rt_sigaction, SIGBUS, NULL, &now, sizeof now.mask) == 0 &&
        now.handler == (uintptr_t)SIG_DFL)
        VT_SYS4(SYS_rt_sigaction, SIGBUS, &ours, NULL, sizeof ours.mask);
}

bool vt_log_fault_seen(void) {
    return vt_get(&truncated) != 0;
}
