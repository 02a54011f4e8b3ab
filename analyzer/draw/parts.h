/* SPDX-License-Identifier: MIT */
/*
 * What the files of draw/ share.
 */
#ifndef VRAMTRACE_ANALYZER_DRAW_PARTS_H
#define VRAMTRACE_ANALYZER_DRAW_PARTS_H

#include "draw.h"

/* course.c: chooses the bands of each device, and fills timeline->courses. */
void vt_draw_courses(const struct vt_sources *sources, const struct vt_pictures *pictures,
                     const struct vt_process *process, struct vt_timeline *timeline);

#endif
