/* SPDX-License-Identifier: MIT */
/*
 * The verdicts that fail by default: they define which sites are leaks (see model.h), both for analysis/leaks.c
 * (reports and pictures) and for gate/ (the exit status).
 *
 * Lost and growing memory is a leak only as far as the log proves it: each missing event could have been a free. A CUDA
 * library's own memory (vt_site.library_own) is not a leak: the gate suppresses it.
 */
#include "model.h"

bool vt_verdict_fails(const struct vt_process *p, enum vt_verdict verdict,
                      const bool chosen[VT_VERDICTS]) {
    if (verdict > VT_VERDICT_UNFREED)
        return false;
    if (chosen)
        return chosen[verdict];
    /* A Python interpreter does not free all objects at exit. */
    return verdict <= VT_VERDICT_GROWING || (verdict == VT_VERDICT_UNFREED && !p->python);
}

bool vt_site_may_fail(const struct vt_process *p, const struct vt_site *site,
                      const bool chosen[VT_VERDICTS]) {
    if (site->verdict == VT_VERDICT_UNFREED && vt_site_is_fixtures(site))
        return false;
    return vt_verdict_fails(p, site->verdict, chosen);
}

/* Whether a site that grew while the log had space must have continued to grow: at the end it holds as much as that
 * rate per event predicts. A cache that became full holds less. */
static bool grew_on(const struct vt_process *p, const struct vt_site *site) {
    double seen = (double)(site->live_count - site->unrecorded_count);
    double events = (double)p->events, all = events + (double)p->quality.missing_growth;
    return (double)site->live_count * events >= 0.95 * seen * all;
}

bool vt_site_fails(const struct vt_process *p, const struct vt_site *site,
                   const bool chosen[VT_VERDICTS]) {
    if (!vt_site_may_fail(p, site, chosen))
        return false;
    if (site->verdict == VT_VERDICT_LOST) /* the exit scan found it by the tracer's own table, not
                                             by the log */
        return true;
    uint64_t missing = vt_log_doubtful_live(&p->quality);
    if (missing && site->live_count <= missing)
        return false;
    bool fails_as_unfreed = site->live_count && vt_verdict_fails(p, VT_VERDICT_UNFREED, chosen) &&
                            !vt_site_is_fixtures(site);
    return site->verdict != VT_VERDICT_GROWING || !p->quality.missing_growth || fails_as_unfreed ||
           grew_on(p, site);
}
