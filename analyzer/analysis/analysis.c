/* SPDX-License-Identifier: MIT */
/*
 * The order in which conclusions are drawn. Each step takes its subject, and reads the members filled by earlier steps
 * (listed in steps.h). Only these three functions call steps.
 */
#include "steps.h"

void vt_analysis_blocks(const struct vt_sources *from, struct vt_process *p) {
    vt_lifetime_measure(from, p);
    vt_tests_find_blocks(from, p);
}

void vt_analysis_snapshots(const struct vt_sources *from, struct vt_process *p) {
    vt_oom_find(from, p);
    vt_owners_find(from, p);
}

void vt_analysis_process(const struct vt_sources *from, struct vt_process *p) {
    /* growth */
    vt_growth_find(from, p);
    vt_tests_find_left(from, p);
    vt_bounds_judge(p);
    struct vt_courses *courses = vt_in_step_adopt(from, p);
    vt_helpers_find(p);
    /* verdicts of sites, and leaks: sites that share one cause */
    vt_verdicts_give(p);
    vt_leaks_gather(courses, p);
    vt_in_step_close(courses);
    for (uint32_t i = 0; i < p->found_count; i++)
        vt_owners_of_leak(p, &p->leaks[i]);
    /* why memory ran out */
    for (uint32_t i = 0; i < p->oom_count; i++)
        vt_oom_explain(p, &p->ooms[i]);
    vt_oom_try_settings(from, p->ooms, p->oom_count);
}
