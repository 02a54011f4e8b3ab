/* SPDX-License-Identifier: MIT */
/*
 * Which verdicts fail by default, and so which sites are leaks (see model.h). analysis/leaks.c asks for reports and pictures, gate/ for the exit
 * status: both must give the same answer, so there is one rule.
 *
 * What is lost or grows is a leak only as far as the log proves it: where events were lost, each could
 * have been a free. A CUDA library's own memory is none, too: vt_site.library_own, which the gate finds
 * among its suppressions.
 */
#include "model.h"

bool vt_verdict_fails(const struct vt_process *p, enum vt_verdict verdict,
                      const bool chosen[VT_VERDICTS]) {
    if (verdict > VT_VERDICT_UNFREED)
        return false;
    /* A Python interpreter does not free all objects at exit. */
    return chosen ? chosen[verdict] : verdict != VT_VERDICT_UNFREED || !p->python;
}

bool vt_site_may_fail(const struct vt_process *p, const struct vt_site *site,
                      const bool chosen[VT_VERDICTS]) {
    if (site->verdict == VT_VERDICT_UNFREED && vt_site_is_fixtures(site))
        return false;
    if (site->verdict == VT_VERDICT_UNFREED && site->bound && !site->bound->too_large && !chosen)
        return false;
    return vt_verdict_fails(p, site->verdict, chosen);
}

/* Whether a site that grew while the log had room must have grown on: it holds as much at the end as
 * it would at that rate, with the events as a clock. A cache that filled meanwhile holds less. */
static bool grew_on(const struct vt_process *p, const struct vt_site *site) {
    double seen = (double)(site->live_count - site->unrecorded_count);
    double events = (double)p->events, all = events + (double)p->quality.missing_growth;
    return (double)site->live_count * events >= 0.95 * seen * all;
}

bool vt_site_fails(const struct vt_process *p, const struct vt_site *site,
                   const bool chosen[VT_VERDICTS]) {
    if (!vt_site_may_fail(p, site, chosen))
        return false;
    if (site->verdict ==
        VT_VERDICT_LOST) /* the exit scan looked for it in the tracer's own table */
        return true;
    uint64_t missing = vt_log_doubtful_live(&p->quality);
    if (missing && site->live_count <= missing)
        return false;
    bool fails_as_unfreed = site->live_count && vt_verdict_fails(p, VT_VERDICT_UNFREED, chosen) &&
                            !vt_site_is_fixtures(site);
    return site->verdict != VT_VERDICT_GROWING || !p->quality.missing_growth || fails_as_unfreed ||
           grew_on(p, site);
}
