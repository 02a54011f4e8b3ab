/* SPDX-License-Identifier: MIT */
/*
 * Compacts the logs of a run while their processes run (compact/compact.h). For cmd_run.c.
 */
#ifndef VRAMTRACE_ANALYZER_RUN_COMPACT_H
#define VRAMTRACE_ANALYZER_RUN_COMPACT_H

#include "run_beside.h"

/* Starts it for the logs that the list file names, now or later. What goes wrong with one is said on stderr, and that log
 * is left as it is. `memory`: the folder in memory whose logs are brought to the disk (run_copies.h), also when `run` has ended;
 * NULL: there is none. */
void vt_run_compact_start(struct vt_run_beside *beside, const char *list, const char *memory);

#endif
