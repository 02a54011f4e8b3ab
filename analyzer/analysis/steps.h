/* SPDX-License-Identifier: MIT */
/*
 * Calls between the files of this module; those between growth*.c are in growth_search.h.
 */
#ifndef VRAMTRACE_ANALYZER_STEPS_H
#define VRAMTRACE_ANALYZER_STEPS_H

#include "analysis.h"

enum { DRIVER_PAGE = 2 << 20 }; /* bytes of the driver's pages */

/* A time ahead, in ns; VT_UNKNOWN: beyond 64 bits. */
static inline uint64_t vt_analysis_ahead(double ns) {
    return ns < 0x1p63 ? (uint64_t)ns : VT_UNKNOWN;
}

/* --- the steps, in the order of analysis.c, with the members that each fills --- */

/* oom.c: the process's ooms with their figures, outcomes, and causes recorded in the log; vt_site.bytes_at_oom. */
void vt_oom_find(const struct vt_sources *from, struct vt_process *p);
/* owners.c: the process's snapshots, vt_site.owned and bound. */
void vt_owners_find(const struct vt_sources *from, struct vt_process *p);
/* lifetime.c: vt_site.longest_life and oldest_age. */
void vt_lifetime_measure(const struct vt_sources *from, struct vt_process *p);
/* pytest_sites.c: vt_site.tested: memory held by fixtures and models. */
void vt_tests_find_blocks(const struct vt_sources *from, struct vt_process *p);
/* growth.c: vt_site.growth of each site that grows; in Python processes, vt_site.inconclusive; vt_site.held_* of each
 * site that allocated. */
void vt_growth_find(const struct vt_sources *from, struct vt_process *p);
/* pytest_sites.c: vt_site.tested and `inconclusive`: memory that tests left behind; the growth of sites whose test failed. */
void vt_tests_find_left(const struct vt_sources *from, struct vt_process *p);
/* bound.c: finalizes vt_site.bound, and removes the growth of sites whose owners will fit into the device when full. */
void vt_bounds_judge(struct vt_process *p);
/* in_step.c: computes the course of each growing site, and marks sites that rise in step with one as growing. Close the
 * result. */
struct vt_courses *vt_in_step_adopt(const struct vt_sources *from, struct vt_process *p);
void vt_in_step_close(struct vt_courses *courses);
/* helper_lines.c: vt_site.caller of the sites of a helper's line. */
void vt_helpers_find(struct vt_process *p);
/* verdicts.c: every site's verdict. */
void vt_verdicts_give(struct vt_process *p);
/* leaks.c: groups failing sites into leaks, the worst first. */
void vt_leaks_gather(const struct vt_courses *courses, struct vt_process *p);
/* owners.c: the owners of a leak. */
void vt_owners_of_leak(const struct vt_process *p, struct vt_leak *leak);
/* oom_cause.c: the failure's cause, unless the log has it, and the bytes that leaks held. */
void vt_oom_explain(const struct vt_process *p, struct vt_oom *oom);
/* oom_setting.c: a setting of PyTorch's allocator under which the process would not have run out of memory. */
void vt_oom_try_settings(const struct vt_sources *from, struct vt_oom *ooms, uint32_t count);

/* --- between files --- */

/* growth_describe.c: adds a growth to the sum over a leak, and returns the sum. `sum` NULL: there is none yet. */
struct vt_growth *vt_growth_sum(struct vt_growth *sum, const struct vt_growth *growth);

/* growth_describe.c: a site's growth within the test that failed for it. Free it. */
struct vt_growth *vt_growth_of_test(const struct vt_tested *tested, const struct vt_site *site);

/* in_step.c: the courses of a process's growing sites, and the order in which blocks were freed after its last
 * allocation. The history must outlive them. */
struct vt_courses {
    struct vt_site_course {
        uint32_t first, count; /* in `steps` */
        uint64_t kept;         /* blocks kept since the site began to grow */
    } * of;                    /* by site */
    struct vt_course_step {
        uint16_t
            part; /* of COURSE_PARTS equal ones of the run's events, in which it kept more blocks */
        uint16_t share; /* of `kept`, up to the part's end: UINT16_MAX is all */
    } * steps;          /* even if there are a million sites, most have one step */
    uint32_t step_count, step_room;
    const struct vt_freed *freed; /* the history's */
    size_t *first;                /* each site's index in `at`, and the end of the last one's */
    size_t *at;                   /* indices in `freed` */
};

/* Whether two growing sites rise in the same iterations; and whether they are one leak. */
bool vt_in_step(const struct vt_courses *courses, uint32_t a, uint32_t b);
bool vt_in_step_one(const struct vt_process *process, const struct vt_courses *courses, uint32_t a,
                    uint32_t b);

/* bound.c: for each step, the innermost bounded container through whose entries the step's path leads; VT_MAP_NONE:
 * none. Free it. */
uint32_t *vt_bounds_containers(const struct vt_log *log);

/* Marks the owners of a snapshot that have a bound, and sets the bounds of the sites that the snapshot represents. */
void vt_bounds_mark(const struct vt_sources *from, uint32_t snapshot, const uint32_t *containers,
                    const bool *speaks, struct vt_process *process);

/* owners.c: the number of the owner that has nearly all of a site's owned memory. VT_MAP_NONE: no owner has, or none is
 * known. */
uint32_t vt_owners_main_container(const struct vt_site *site);

/* owners.c: the step of the owner; VT_MAP_NONE: it has no name. */
uint32_t vt_owners_named_step(const struct vt_sources *from, const struct vt_owned_sum *sum);

/* untracked.c: the sample of the device's GPU that is nearest to a moment and comparable with the replay; NULL: none.
 * It belongs to the replay. *tracked: the bytes recorded at that time. */
const struct vt_replay_sample *vt_untracked_near(const struct vt_sources *sources, unsigned ordinal,
                                                 uint64_t ticks, uint64_t *tracked);

#endif
