/* SPDX-License-Identifier: MIT */
/*
 * `vramtrace run --check`: the leak gate at the end of a command, and what its exit status is then.
 * For cmd_run.c and run_inject.c.
 */
#ifndef VRAMTRACE_ANALYZER_RUN_CHECK_H
#define VRAMTRACE_ANALYZER_RUN_CHECK_H

#include "gate/gate.h"
#include "run_child.h"
#include "run_logs.h"

/* Makes a folder for logs that nobody asked to keep. Free it. NULL: it cannot be made, and why was
 * said. */
char *vt_run_check_folder(void);

/* Removes the folder and what is in it, two levels deep. */
void vt_run_check_remove(const char *folder);

/* Judges the logs of a command that has ended; the text goes to the standard error, with `quiet`
 * only where it fails. Returns the exit status: the command's own where it failed; else what the
 * gate says; VT_STATUS_CANNOT_TRACE where there was nothing to judge. */
int vt_run_check_judge(struct vt_check *check, const struct vt_run_child *child,
                       const struct vt_run_logs *logs, bool quiet);

#endif
