/* SPDX-License-Identifier: MIT */
/*
 * The traced command as a process: started, given the signals that are its, waited for. For
 * cmd_run.c.
 */
#ifndef VRAMTRACE_ANALYZER_RUN_CHILD_H
#define VRAMTRACE_ANALYZER_RUN_CHILD_H

#include "base/base.h"

#include <sys/types.h>

struct vt_run_child {
    pid_t pid;
    uint64_t started;    /* field 22 of its /proc/PID/stat, 0: unknown */
    int signal;          /* that ended it, 0: none */
    int status;          /* for the shell: its exit status, or 128 + signal */
    uint64_t ended_ns;   /* CLOCK_MONOTONIC */
    uint64_t ended_tsc;  /* the time stamp counter then, 0 where there is none */
    uint32_t timeout_ms; /* set it before: killed, with all its children, when it takes longer;
                                  0: never */
    bool timed_out;      /* it was */
    struct vt_string untraced; /* why the process ran without the tracer when it was looked at last;
                                  empty: it did not. Free it. */
};

/* Runs the program at `path` with these arguments and this process's environment, in our process
 * group, and waits until it has ended. `library`: the tracer that must show in it; `simulated`: as
 * for vt_run_program_inspect. 0, or the exit status where it could not be started, and why in
 * `message`. */
int vt_run_child_run(const char *path, char **argv, const char *library, bool simulated,
                     struct vt_run_child *child, struct vt_string *message);

#endif
