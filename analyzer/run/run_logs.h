/* SPDX-License-Identifier: MIT */
/*
 * The logs that a run's processes made: which they are, how the command's own is finished when it
 * was killed, and the lines at the end. For cmd_run.c.
 *
 * Which they are is told by the processes: the tracer appends the absolute path of each log that it
 * makes, and a newline, to the file that VRAMTRACE_RUN_LIST names; "!" and a path where it could
 * not make one (it says why itself).
 */
#ifndef VRAMTRACE_ANALYZER_RUN_LOGS_H
#define VRAMTRACE_ANALYZER_RUN_LOGS_H

#include "run_child.h"

struct vt_run_logs {
    char **paths;
    size_t count, room;
    size_t failed; /* that could not be made */
};

/* Makes the empty list file in TMPDIR (/tmp) and returns its path (free it), NULL with errno set:
 * it cannot be made. The caller unlinks it. */
char *vt_run_logs_make_list(void);

/* Reads the list file; one that is not there is empty. Free with vt_run_logs_free. */
void vt_run_logs_read(const char *list, struct vt_run_logs *logs);
void vt_run_logs_free(struct vt_run_logs *logs);

/* A process that a signal kills writes no end. Where the command's own log has none, writes that
 * it was `child->signal`. */
void vt_run_logs_mark_killed(const struct vt_run_logs *logs, const struct vt_run_child *child);

/* Prints the line of each process that used CUDA, VT_RUN_LINES at most (those that hold most) and
 * then a total. */
#define VT_RUN_LINES 8
void vt_run_logs_say(const struct vt_run_logs *logs, FILE *out);

#endif
