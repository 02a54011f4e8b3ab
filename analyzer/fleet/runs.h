/* SPDX-License-Identifier: MIT */
/*
 * Which processes of a fleet are one run, and which of them are restarts of one rank. Called by finish.c.
 */
#ifndef VRAMTRACE_ANALYZER_FLEET_RUNS_H
#define VRAMTRACE_ANALYZER_FLEET_RUNS_H

#include "model/model.h"

/* Numbers the runs by their first start: sets vt_fleet_process.run. */
void vt_fleet_find_runs(struct vt_fleet *fleet);

/* Sets vt_fleet_process.restart and next_start; they are in the fleet's order. */
void vt_fleet_count_restarts(struct vt_fleet *fleet);

/* Whether its end is not known: it still runs, or it was killed. */
bool vt_fleet_is_running(const struct vt_fleet_process *process);

#endif
