/* SPDX-License-Identifier: MIT */
/*
 * What the files of this room ask each other; what growth*.c do, growth_search.h.
 */
#ifndef VRAMTRACE_ANALYZER_JUDGE_PARTS_H
#define VRAMTRACE_ANALYZER_JUDGE_PARTS_H

#include "judge.h"

enum { DRIVER_PAGE = 2 << 20 }; /* bytes of the driver's pages */

/* --- in_step.c: which growing sites rise together; leaks.c asks --- */

/* The courses of a process's growing sites, and the order in which blocks were freed after its last
 * allocation. The history must outlive them. */
struct vt_courses {
    struct vt_site_course {
        uint32_t first, count; /* in `steps` */
        uint64_t kept;         /* blocks since it began to grow */
    } * of;                    /* by site */
    struct vt_course_step {
        uint16_t part;  /* of COURSE_PARTS equal ones of the run's events, in which it kept more */
        uint16_t share; /* of `kept`, up to its end: UINT16_MAX is all */
    } * steps;          /* most of a million sites have one */
    uint32_t step_count, step_room;
    const struct vt_freed *freed; /* the history's */
    size_t *first; /* index of each of a process's sites in `at`, and behind the last */
    size_t *at;    /* indices in `freed` */
};

/* Whether two growing sites of a process, by their indices, rise in the same rounds; and whether they
 * are one leak. */
bool vt_in_step(const struct vt_courses *courses, uint32_t a, uint32_t b);
bool vt_in_step_one(const struct vt_process *process, const struct vt_courses *courses, uint32_t a,
                    uint32_t b);

/* --- bound.c: which sites are kept by holders with a bound; owners.c asks --- */

/* For each step the innermost container with a bound among whose entries a way to it goes. VT_MAP_NONE: none.
 * Free it. */
uint32_t *vt_bounds_containers(const struct vt_log *log);

/* Tells which owners of a snapshot have a bound, and gives the sites for which it speaks theirs. */
void vt_bounds_take(const struct vt_sources *from, uint32_t snapshot, const uint32_t *containers,
                    const bool *speaks, struct vt_process *process);

/* owners.c: the step of what holds the memory; VT_MAP_NONE: nothing that could be named. */
uint32_t vt_owners_settled_step(const struct vt_sources *from, const struct vt_owned_sum *sum);

/* --- last_hop.c: what memory without an owner was last seen in; owners.c asks --- */

/* Tells the sites for which a snapshot speaks what holds at least half of what has no owner. */
void vt_last_hops_tell(const struct vt_sources *from, const struct vt_replay_snapshot *snapshot,
                       const bool *speaks, struct vt_process *process);

/* --- untracked.c: oom.c asks --- */

/* The sample of the device's GPU nearest to a moment, among those that can be compared with the
 * books; NULL: none. It belongs to `replay`. *tracked: the bytes in the books at that time. */
const struct vt_replay_sample *vt_untracked_near(const struct vt_sources *sources, unsigned ordinal,
                                                 uint64_t ticks, uint64_t *tracked);

#endif
