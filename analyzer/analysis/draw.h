/* SPDX-License-Identifier: MIT */
/*
 * Turns the data that a replay collected for pictures into the model's timeline (model/timeline.h). The data stays
 * unchanged, so a running process can be drawn again.
 *
 *     course.c     memory by line and class, in slots of the run
 *     draw.c       address maps, the last allocations and frees, alarms
 */
#ifndef VRAMTRACE_ANALYZER_DRAW_H
#define VRAMTRACE_ANALYZER_DRAW_H

#include "analysis.h"

/* Fills process->timeline. The process's sites, leaks, devices and ooms must be filled in. */
void vt_draw_timeline(const struct vt_sources *sources, const struct vt_pictures *pictures,
                      struct vt_process *process);

/* course.c, for draw.c: chooses the bands of each device, and fills timeline->courses. */
void vt_draw_courses(const struct vt_sources *sources, const struct vt_pictures *pictures,
                     const struct vt_process *process, struct vt_timeline *timeline);

#endif
