/* SPDX-License-Identifier: MIT */
/*
 * The traced command as a process: starts it, passes on signals, waits for its end. For cmd_run.c and run_inject.c.
 */
#ifndef VRAMTRACE_ANALYZER_RUN_CHILD_H
#define VRAMTRACE_ANALYZER_RUN_CHILD_H

#include "run_plan.h"

#include <sys/types.h>

struct vt_run_child {
    pid_t pid;
    uint64_t started;   /* field 22 of /proc/PID/stat; 0: unknown, without /proc */
    int signal;         /* the signal that ended it; 0: none */
    int status;         /* as in a shell: its exit status, or 128 + signal */
    uint64_t ended_ns;  /* CLOCK_MONOTONIC */
    uint64_t ended_tsc; /* the time stamp counter; 0: none on this machine */
    /* set by the caller: after this time the command is killed, with all its children; 0: never */
    uint32_t timeout_ms;
    bool timed_out;
    /* why a library of the program could not use the simulated GPU; empty: all could. Free with vt_string_free. */
    struct vt_string refused;
    /* why the process ran without the tracer at the last check; empty: it was traced. Free with vt_string_free. */
    struct vt_string untraced;
};

/* Call it once, before any output: sets this process's signal dispositions. The program gets the original
 * dispositions. */
void vt_run_child_set_signals(void);

/* Runs the plan's command with our environment, in our process group, and waits for its end. Returns 0, or an exit
 * status with `message` if it did not start. */
int vt_run_child_run(const struct vt_run_plan *plan, struct vt_run_child *child,
                     struct vt_string *message);

#endif
