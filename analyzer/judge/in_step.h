/* SPDX-License-Identifier: MIT */
/*
 * Which growing sites rise together (see in_step.c). leaks.c asks.
 */
#ifndef VRAMTRACE_ANALYZER_IN_STEP_H
#define VRAMTRACE_ANALYZER_IN_STEP_H

#include "model/model.h"
#include "replay/replay.h"

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

#endif
