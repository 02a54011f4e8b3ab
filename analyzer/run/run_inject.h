/* SPDX-License-Identifier: MIT */
/*
 * `vramtrace run --inject each`: rehearses the error paths of a command. It runs once as it is, which
 * tells where it allocates; then once for each of these places, whose first allocation is refused.
 * Reported is each place where the command then crashes, hangs, or leaks what it did not leak
 * before. For cmd_run.c.
 */
#ifndef VRAMTRACE_ANALYZER_RUN_INJECT_H
#define VRAMTRACE_ANALYZER_RUN_INJECT_H

#include "gate/gate.h"
#include "run_child.h"

struct vt_run_inject {
    const char *program; /* path */
    char **argv;
    const char *tracer;
    bool simulated, quiet;
    const char *folder;  /* where the logs and outputs go */
    uint32_t max_runs;   /* after the first; 0: as many as there are places */
    uint32_t timeout_ms; /* a run that takes longer hangs; 0: ten times the first one, a minute at
                            least */
    struct vt_check *check;
};

/* Returns the exit status: VT_STATUS_OK where every place was survived, VT_STATUS_GATE where one was
 * not; the command's own where it fails by itself; VT_STATUS_CANNOT_TRACE where it cannot be
 * rehearsed, and why was said. */
int vt_run_inject_each(const struct vt_run_inject *inject);

#endif
