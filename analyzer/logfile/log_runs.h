/* SPDX-License-Identifier: MIT */
/*
 * Groups logs into runs: logs with the same run id; logs of a process, its children and its successors by exec; and
 * logs of ranks that were launched together, even on several machines.
 *
 * find_logs.c uses it for the logs of a folder; job/ also for processes in merged files.
 */
#ifndef VRAMTRACE_ANALYZER_LOG_RUNS_H
#define VRAMTRACE_ANALYZER_LOG_RUNS_H

#include "base/base.h"

#include <sys/types.h>

/* A log that was found in a folder. */
struct vt_found_log {
    char *path;
    char run[41], boot[41], host[65]; /* ids as in the header; "": unknown */
    char job[41], launch[65];         /* likewise */
    uint32_t pid, ppid;
    int32_t rank;            /* -1: unknown */
    uint32_t world, restart; /* total ranks (0: unknown); number of earlier restarts */
    uint64_t pid_namespace;  /* of both pids; 0: unknown */
    uint64_t process_start;  /* since boot, in the kernel's clock ticks */
    uint64_t started, ended; /* CLOCK_REALTIME, ns; ended UINT64_MAX: unknown */
    dev_t device;
    ino_t inode;
    /* set by vt_log_runs_find: index of one log of the run, the same for all logs of the run */
    uint32_t run_of;
    bool chosen; /* for the caller */
};

/* Sorts the logs, and sets run_of in each. Takes O(n log n) time. */
void vt_log_runs_find(struct vt_found_log *logs, uint32_t count);

#endif
