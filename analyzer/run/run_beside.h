/* SPDX-License-Identifier: MIT */
/*
 * Processes beside the command that work on its logs, as soon as each appears (run_list.h). For
 * run_nvml.c and run_compact.c.
 */
#ifndef VRAMTRACE_ANALYZER_RUN_BESIDE_H
#define VRAMTRACE_ANALYZER_RUN_BESIDE_H

#include "base/base.h"

#include <sys/types.h>

struct vt_run_beside {
    pid_t pid; /* 0: none */
};

/* The work of a process beside the command. */
struct vt_run_care {
    const char *name;                       /* up to 15 characters */
    void (*add)(void *of, const char *log); /* a log has appeared; its path may be another user's */
    uint64_t (*work)(
        void *of,
        uint64_t
            now); /* does the due work; returns when to call it again (ns; UINT64_MAX: when a log appears) */
    bool keeps_stderr;
};

/* Starts the process, a copy of this one. `of`: passed to the functions. */
void vt_run_beside_start(struct vt_run_beside *beside, const struct vt_run_care *care, void *of,
                         const char *list);
void vt_run_beside_stop(struct vt_run_beside *beside);

#endif
