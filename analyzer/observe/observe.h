/* SPDX-License-Identifier: MIT */
/*
 * The door of observe/: a run once more -> what pictures show of it (model/timeline.h).
 *
 * Law: bounded by slots, moments and pieces, however long the run; exact at each moment that is
 * shown; no peak is lost. It reads what the judge has found, and finds nothing itself. Uses base,
 * log, model, replay and judge.
 *
 *     course.c         memory by line and class, in equal slots of the run
 *     address_maps.c   what lay where at chosen moments
 *     observe.c        the walk that feeds both, and the last allocations and frees
 */
#ifndef VRAMTRACE_ANALYZER_OBSERVE_H
#define VRAMTRACE_ANALYZER_OBSERVE_H

#include "judge/judge.h"

/* Fills process->timeline with `parts` (enum vt_timeline_part). The process's sites, leaks, devices
 * and ooms are there. Returns 0, or -errno with `message` if the log could not be read again. */
int vt_observe_run(const struct vt_sources *sources, unsigned parts, struct vt_process *process,
                   struct vt_string *message);

#endif
