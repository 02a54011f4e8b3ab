/* SPDX-License-Identifier: MIT */
/*
 * Compacts the logs of a run while their processes run (compact/compact.h). For cmd_run.c.
 */
#ifndef VRAMTRACE_ANALYZER_RUN_COMPACT_H
#define VRAMTRACE_ANALYZER_RUN_COMPACT_H

#include "run_beside.h"

/* Starts compacting the logs that the lists name, now or later. Errors are reported on stderr, and the log concerned
 * is left unchanged. */
void vt_run_compact_start(struct vt_run_beside *beside, const char *list);

#endif
