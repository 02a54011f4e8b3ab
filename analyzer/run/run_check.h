/* SPDX-License-Identifier: MIT */
/*
 * `vramtrace run --check`: the leak gate after a command has ended, and the exit status. For
 * cmd_run.c and run_inject.c.
 */
#ifndef VRAMTRACE_ANALYZER_RUN_CHECK_H
#define VRAMTRACE_ANALYZER_RUN_CHECK_H

#include "gate/gate.h"
#include "run_child.h"
#include "run_logs.h"

/* Creates a folder for temporary logs and returns its path (see vt_run_places_temporary). NULL: failed, and an error
 * was printed. */
char *vt_run_check_folder(void);

/* Judges the logs of a command that has ended, and writes the text to stderr; if the plan is quiet, only after a
 * failure. Returns the exit status: the command's own if it failed, else the gate's, or VT_STATUS_CANNOT_TRACE if no
 * log can be judged. */
int vt_run_check_judge(struct vt_run_plan *plan, const struct vt_run_child *child,
                       const struct vt_run_logs *logs);

#endif
