/* SPDX-License-Identifier: MIT */
/*
 * `vramtrace run --inject each`: rehearses the error paths of a command. The first run, without failures, finds the
 * call sites that allocate. Then there is one run per site, in which the site's first allocation fails. A site is
 * reported if the command then crashes, hangs, or has new leaks. For cmd_run.c.
 */
#ifndef VRAMTRACE_ANALYZER_RUN_INJECT_H
#define VRAMTRACE_ANALYZER_RUN_INJECT_H

#include "run_plan.h"

/* `folder`: for the logs and outputs. Prints errors. Returns the exit status: VT_STATUS_OK if every failure was
 * handled, VT_STATUS_GATE if not; the command's own if it fails even without injected failures;
 * VT_STATUS_CANNOT_TRACE if it cannot be rehearsed. */
int vt_run_inject_each(struct vt_run_plan *plan, const char *folder);

#endif
