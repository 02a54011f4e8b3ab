/* SPDX-License-Identifier: MIT */
/*
 * The start of the library in a process.
 *
 *   load    The constructor notes the time and the folder, finds the functions behind _exit and exec*, and registers
 *           the exit handlers. Nothing else: most processes that inherit LD_PRELOAD never use CUDA.
 *   arming  At the first use of CUDA: options, fork guard, unwinder (base/process.c, which calls the steps below).
 *
 * fork.c, exec.c and exit.c handle the rest of a process's life.
 */
#include "state/state.h"
#include "base/base.h"
#include "life.h"
#include "instrument/instrument.h"
#include "snapshot/snapshot.h"
#include "stack/stack.h"

#include <string.h>

extern int __cxa_at_quick_exit(void (*function)(void *), void *dso);

/* glibc passes main's arguments to constructors. */
__attribute__((constructor)) static void load(int argc, char **argv) {
    if (argc > 0) {
        vt_process_command = argv[0];
        vt_process_command_bytes = (size_t)(argv[argc - 1] - argv[0]) + strlen(argv[argc - 1]) + 1;
    }
    vt_message_begin();
    vt_log_start_clock();
    vt_log_start_folder();
    vt_nvtx_load();
    vt_libc_find_ends();
    vt_seccomp_load();
    vt_fork_load();
    vt_libc_on_exit(vt_exit_handler, NULL);
    __cxa_at_quick_exit(vt_exit_quick_handler, NULL);
}

/* Called by each thread that arms the library. */
static void open(void) {
    if (vt_get(&vt_sys_sealed)) /* opening the unwinder takes system calls */
        return;
    vt_stack_arm();
    vt_exit_watch();
}

VT_PROCESS_STEPS static const struct vt_process_steps steps = {.begins = vt_seccomp_arm,
                                                               .armed = vt_limit_arm,
                                                               .open = open,
                                                               .forked = vt_fork_happened,
                                                               .due = vt_triggers_run};
