/* SPDX-License-Identifier: MIT */
/*
 * Verdicts: exactly one for each site, from the exit scan (replay), growth (growth.c) and classes (symbols/). analysis.c
 * calls; content/why.c words the evidence.
 *
 * The first match counts: memory without a pointer to it is `lost`, even if it grew; memory that grew is `growing`, in
 * Python processes even if all of it was freed at exit; live memory is `unfreed`.
 */
#include "steps.h"

#include <stdlib.h>

/* The exit scan looks neither for a framework's blocks nor for handles of physical memory. */
static bool looked_for(const struct vt_process *p, const struct vt_site *site) {
    return p->scan_bytes != VT_UNKNOWN && vt_site_still_count(&site->figures) && !site->before &&
           site->layer != VT_LAYER_FRAMEWORK;
}

static void give_verdict(const struct vt_process *p, struct vt_site *site) {
    bool bounded = site->bound && site->bound->growth;
    site->reachable = VT_NOT_SEARCHED;
    /* A cache grows with the blocks inside, which have their own verdicts. A CUDA library keeps memory for the
     * life of the process, but a constant amount. */
    if (site->class == VT_CLASS_CACHE) {
        free(site->growth);
        site->growth = NULL;
    }
    if (site->growth || bounded) {
        free(site->suspected);
        site->suspected = NULL;
        site->inconclusive = VT_RULE_NONE;
    }
    if (site->class != VT_CLASS_PROGRAM && site->live_count && !site->growth && !bounded) {
        site->verdict = site->class == VT_CLASS_CACHE ? VT_VERDICT_CACHE : VT_VERDICT_RUNTIME;
        return;
    }
    if (site->growth &&
        vt_site_freed_at_exit(p, site)) { /* it freed all: it lost track of nothing */
        site->freed_at_exit = site->growth;
        site->growth = NULL;
    }
    enum vt_verdict kept = vt_process_ended_itself(p) ? VT_VERDICT_UNFREED : VT_VERDICT_HELD;
    if (bounded) /* even if an interpreter freed it at exit */
        site->verdict = kept;
    else if (site->growth)
        site->verdict = VT_VERDICT_GROWING;
    else if (site->suspected)
        site->verdict = VT_VERDICT_SUSPECT;
    else
        site->verdict = site->live_count ? kept : VT_VERDICT_FREED;
    if (!looked_for(p, site))
        return;
    bool named = site->owned.count && !site->unowned_bytes;
    site->reachable = p->scan_unknown && !named ? VT_REACHABLE_UNKNOWN : VT_REACHABLE_YES;
    if (site->lost_count) {
        site->reachable = VT_REACHABLE_NO;
        site->verdict = VT_VERDICT_LOST;
        site->inconclusive = VT_RULE_NONE;
        free(site->suspected);
        site->suspected = NULL;
    }
}

/* Marks sites that would fail, or are inconclusive, but belong to a CUDA library: the gate suppresses them. */
static void find_library_own(struct vt_process *p) {
    struct vt_suppressions own = {0};
    vt_suppress_add_builtin(&own);
    for (uint32_t i = 0; i < p->site_count; i++) {
        struct vt_site *site = &p->sites[i];
        if (site->inconclusive || vt_site_may_fail(p, site, NULL))
            site->library_own = vt_suppress_find(&own, site->stack, site->verdict) >= 0;
    }
    vt_suppress_free(&own);
}

void vt_verdicts_give(struct vt_process *p) {
    for (uint32_t i = 0; i < p->site_count; i++) {
        struct vt_site *site = &p->sites[i];
        give_verdict(p, site);
        if (site->verdict != VT_VERDICT_CACHE && site->verdict != VT_VERDICT_RUNTIME)
            p->context_freed_bytes += site->context_freed_bytes;
    }
    find_library_own(p);
}
