/* SPDX-License-Identifier: MIT */
/*
 * The traced command as a process: starts it, passes signals on, waits for its end. For cmd_run.c
 * and run_inject.c.
 */
#ifndef VRAMTRACE_ANALYZER_RUN_CHILD_H
#define VRAMTRACE_ANALYZER_RUN_CHILD_H

#include "run_plan.h"

#include <sys/types.h>

struct vt_run_child {
    pid_t pid;
    uint64_t started;    /* field 22 of /proc/PID/stat; 0: unknown, as there is no /proc */
    int signal;          /* that ended it; 0: none */
    int status;          /* as in a shell: its exit status, or 128 + signal */
    uint64_t ended_ns;   /* CLOCK_MONOTONIC */
    uint64_t ended_tsc;  /* the time stamp counter; 0: none on this machine */
    uint32_t timeout_ms; /* set by the caller: after this time it is killed, with all its children;
                            0: never */
    bool timed_out;
    struct vt_string refused;  /* why a library of the program did not run on the simulated GPU;
                                  empty: none asked for a real one. Free with vt_string_free. */
    struct vt_string untraced; /* why the process ran without the tracer at the last check; empty:
                                  it had it. Free with vt_string_free. */
};

/* Call it once, before any output: sets this process's signal dispositions. The program gets the original ones. */
void vt_run_child_set_signals(void);

/* Runs the plan's command with our environment, in our process group, and waits for its end. Returns 0, or an exit
 * status with `message` if it did not start. */
int vt_run_child_run(const struct vt_run_plan *plan, struct vt_run_child *child,
                     struct vt_string *message);

#endif
