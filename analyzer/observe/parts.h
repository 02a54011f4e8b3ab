/* SPDX-License-Identifier: MIT */
/*
 * What the files of observe/ share: the run that they observe.
 */
#ifndef VRAMTRACE_ANALYZER_OBSERVE_PARTS_H
#define VRAMTRACE_ANALYZER_OBSERVE_PARTS_H

#include "observe.h"

/* --- course.c --- */

struct vt_course_maker;

/* Chooses the bands. Free with vt_course_end. */
struct vt_course_maker *vt_course_begin(const struct vt_sources *sources,
                                        const struct vt_process *process);
/* The window begins at `ticks`, with what the replay's sites hold. */
void vt_course_restart(struct vt_course_maker *maker, const struct vt_replay *replay,
                       uint64_t ticks);
void vt_course_change(struct vt_course_maker *maker, const struct vt_replay *replay,
                      const struct vt_observed *change);
/* Gives the courses to the timeline, and frees the maker. */
void vt_course_end(struct vt_course_maker *maker, struct vt_timeline *timeline);

/* --- address_maps.c --- */

struct vt_maps_maker;

/* Chooses the moments. Free with vt_maps_end. */
struct vt_maps_maker *vt_maps_begin(const struct vt_sources *sources,
                                    const struct vt_process *process, bool whole_end);
/* The ticks of the next moment; UINT64_MAX: none. */
uint64_t vt_maps_next(const struct vt_maps_maker *maker);
/* Draws the map of that moment, or holds it until physical memory that was created for it is mapped. */
void vt_maps_draw(struct vt_maps_maker *maker, const struct vt_replay *replay,
                  struct vt_timeline *timeline);
/* An allocation or a free follows: draws the map that is held. */
void vt_maps_settle(struct vt_maps_maker *maker, const struct vt_replay *replay,
                    struct vt_timeline *timeline);
void vt_maps_end(struct vt_maps_maker *maker, struct vt_timeline *timeline);

#endif
