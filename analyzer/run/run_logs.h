/* SPDX-License-Identifier: MIT */
/*
 * The logs of a run's processes: finds them, completes the log of a command that could not record its end, and prints
 * the lines at the end. For cmd_run.c.
 */
#ifndef VRAMTRACE_ANALYZER_RUN_LOGS_H
#define VRAMTRACE_ANALYZER_RUN_LOGS_H

#include "run_child.h"

struct vt_run_logs {
    char **paths;
    size_t count, room;
    size_t failed; /* logs that could not be created */
};

/* The message if no process made a CUDA call; without NVIDIA's driver, the message suggests --sim. Free it. */
char *vt_run_logs_why_none(bool simulated);

/* Reads the lists (run_list.h); missing ones count as empty. Free with vt_run_logs_free. */
void vt_run_logs_read(const char *list, struct vt_run_logs *logs);
void vt_run_logs_free(struct vt_run_logs *logs);

/* A process cannot record its end if a signal kills it, or if it exits by a bare system call (Go's runtime, or a
 * sanitizer after an error). If the command's own log has no end, this writes the signal or the status into it. */
void vt_run_logs_mark_end(const struct vt_run_logs *logs, const struct vt_run_child *child);

/* Prints a line for each process that used CUDA, at most VT_RUN_LINES, for those that hold most. If there are
 * several, then prints their total, and the one command that reports them all. */
#define VT_RUN_LINES 8
void vt_run_logs_print(const struct vt_run_logs *logs, FILE *out);

/* Reports a log whose name got a number, because a file of the requested name existed before the run. `asked`:
 * VRAMTRACE_OUTPUT; may be NULL. */
void vt_run_logs_print_renamed(const struct vt_run_logs *logs, const char *asked, FILE *out);

#endif
