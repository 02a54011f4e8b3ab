/* SPDX-License-Identifier: MIT */
/*
 * Verdicts: exactly one for each site, with the evidence in one sentence. The evidence comes from
 * elsewhere: the exit scan from the replay, growth from growth.c, lifetimes from lifetime.c.
 * build.c calls.
 *
 * The first that fits counts: memory without a pointer to it is `lost`, even if it grew; memory
 * that grew is `growing`, in Python processes even if all of it was freed at exit; live memory is
 * `unfreed`.
 */
#include "parts.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

const char *vt_verdicts_end(const struct vt_process *p) {
    if (p->window_until != VT_UNKNOWN)
        return "when the window ends";
    if (p->ending.how == VT_END_RUNNING)
        return "when the log was read (the process was still running)";
    if (p->ending.how == VT_END_UNKNOWN)
        return "where the log ends (the end of the process is not in it)";
    if (p->ending.how == VT_END_SIGNALED)
        return "when the process was killed";
    if (p->ending.how == VT_END_EXEC)
        return "when the process replaced itself";
    return "when the process ended";
}

void vt_verdicts_went(uint64_t went, uint64_t live, const char *by, struct vt_string *why) {
    if (!went)
        return;
    vt_string_format(why, "; %s released ", by ? by : "an unknown call");
    if (live == 1)
        vt_string_add(why, "it with its context");
    else if (went == live)
        vt_string_add(why, "them with their context");
    else
        vt_string_format(why, "%s of them with %s context", VT_NUMBER(went),
                         went == 1 ? "its" : "their");
}

/* The exit scan looks neither for a framework's blocks nor for handles of physical memory. */
static bool looked_for(const struct vt_process *p, const struct vt_site *site) {
    return p->scan_bytes != VT_UNKNOWN && site->live_count > site->went_count && !site->before &&
           site->layer != VT_LAYER_FRAMEWORK;
}

static void say_lost(const struct vt_process *p, const struct vt_site *site,
                     struct vt_string *why) {
    uint64_t searched = site->live_count - site->went_count;
    const char *bytes = VT_BYTES(p->scan_bytes);
    if (searched == 1)
        vt_string_add(why, "no pointer to it");
    else if (site->lost_count == searched)
        vt_string_format(why, "no pointer to any of its %s live allocations", VT_NUMBER(searched));
    else
        vt_string_format(why, "no pointer to %s of its %s live allocations",
                         VT_NUMBER(site->lost_count), VT_NUMBER(searched));
    vt_string_format(why, " was left in the process's memory (%s searched in %llu ms)", bytes,
                     (unsigned long long)((p->scan_ns + 999999) / 1000000));
}

/* Adds "by 5.00 MiB in each iteration of 'step', ...". */
static void say_growth(const struct vt_growth *g, struct vt_string *why) {
    const char *bytes = VT_BYTES(vt_growth_bytes(g));
    const char *rises = VT_NUMBER(g->rises);
    if (g->marked)
        vt_string_format(
            why, "live memory grew by %s in each iteration of '%s', from iteration %llu of %s on",
            bytes, g->per, (unsigned long long)g->since_iteration, VT_NUMBER(g->iterations));
    else
        vt_string_format(
            why, "live memory grew by %s in each round of the run, from round %llu of %s on", bytes,
            (unsigned long long)g->since_iteration, VT_NUMBER(g->iterations));
    if (g->appends)
        vt_string_format(why, ": one buffer, which %s makes longer (%s step%s)", g->appends, rises,
                         vt_plural(g->rises));
    else if (g->long_rounds)
        vt_string_format(why, ": as much in each of %s long rounds, to one holder",
                         VT_NUMBER(g->long_rounds));
    else if (g->with_another)
        vt_string_format(why, " (%s rise%s, in step with another call site that grows)", rises,
                         vt_plural(g->rises));
    else
        vt_string_format(why, " (%s rise%s; Mann-Kendall p < %s)", rises, vt_plural(g->rises),
                         vt_growth_chance(g));
}

/* Says what is live by the live list alone: such a site made more allocations than the log has. */
static void say_unrecorded(const struct vt_process *p, const struct vt_site *site,
                           struct vt_string *why) {
    vt_string_format(why, "%s allocation%s still live %s; the log had no room for ",
                     VT_NUMBER(site->live_count), site->live_count == 1 ? " was" : "s were",
                     vt_verdicts_end(p));
    if (site->unrecorded_count < site->live_count)
        vt_string_format(why, "%s of them", VT_NUMBER(site->unrecorded_count));
    else
        vt_string_add(why, site->live_count == 1 ? "it" : "them");
    if (!site->stack->count)
        vt_string_add(why, ", nor for the call stack");
}

/* Adds what a test kept: its rounds are its own, not the run's. */
static void say_kept(const struct vt_tested *t, struct vt_string *why) {
    vt_string_format(why, "%s kept %s in %s block%s", t->test, VT_BYTES(t->left_bytes),
                     VT_NUMBER(t->left_count), vt_plural(t->left_count));
    if (t->rounds > 1)
        vt_string_format(why, ", more with each of %s rounds", VT_NUMBER(t->rounds));
    if (t->tests > 1)
        vt_string_format(why, "; %u more test%s left some", t->tests - 1, t->tests > 2 ? "s" : "");
}

/* Adds how many of its allocations are live. */
static void say_live(const struct vt_process *p, const struct vt_site *site,
                     struct vt_string *why) {
    const char *live = VT_NUMBER(site->live_count);
    const char *all = VT_NUMBER(site->alloc_count);
    if (site->unrecorded_count && !site->went_count) {
        say_unrecorded(p, site, why);
    } else if (site->went_count) {
        if (site->live_count == 1)
            vt_string_add(why, site->alloc_count == 1 ? "its only allocation was never freed"
                                                      : "one allocation was never freed");
        else
            vt_string_format(why, "%s of %s allocations were never freed", live, all);
        vt_verdicts_went(site->went_count, site->live_count, site->went_by, why);
    } else if (site->before)
        vt_string_format(why, "allocated before the window; %s still live %s",
                         site->live_count ? live : "none", vt_verdicts_end(p));
    else if (site->live_count && site->alloc_count == 1)
        vt_string_format(why, "its only allocation was still live %s", vt_verdicts_end(p));
    else if (site->live_count == site->alloc_count && site->live_count)
        vt_string_format(why, "all %s allocations were still live %s", all, vt_verdicts_end(p));
    else if (site->live_count)
        vt_string_format(why, "%s of %s allocations %s still live %s", live, all,
                         site->live_count == 1 ? "was" : "were", vt_verdicts_end(p));
    else if (site->alloc_count == 1)
        vt_string_add(why, "its only allocation was freed");
    else
        vt_string_format(why, "all %s allocations were freed", all);
}

/* Adds how a site grew whose holder has a bound, and that bound. */
static void say_bound(const struct vt_process *p, const struct vt_site *site,
                      struct vt_string *why) {
    VT_SCOPED char *text = vt_bound_text(site->bound);
    if (site->bound->growth && !why->length)
        say_growth(site->bound->growth, why);
    else if (!why->length)
        say_live(p, site, why);
    vt_string_format(why, "; %s", text);
}

static void forget_growth(struct vt_site *site) {
    free(site->growth);
    site->growth = NULL;
}

/* A site that rose to the end, all of which the program then freed itself: it lost track of nothing. */
static void say_tidied(const struct vt_process *p, struct vt_site *site, struct vt_string *why) {
    say_live(p, site, why);
    vt_string_add(why, ", after its last allocation; until then ");
    say_growth(site->growth, why);
    forget_growth(site);
}

static void judge(const struct vt_process *p, struct vt_site *site) {
    struct vt_string why = {0};
    site->reachable = -1;
    /* A cache grows because of the blocks inside, which are judged themselves. A CUDA library keeps
     * memory for life, but not more and more. */
    if (site->class == VT_CLASS_CACHE)
        forget_growth(site);
    if (!site->growth && !(site->bound && site->bound->growth) &&
        vt_classes_verdict(site, vt_verdicts_end(p)))
        return;
    site->verdict = site->live_count ? VT_VERDICT_UNFREED : VT_VERDICT_FREED;
    if (site->growth && vt_site_tidied(p, site))
        say_tidied(p, site, &why);
    if (site->growth)
        site->verdict = VT_VERDICT_GROWING;
    if (site->bound && site->bound->growth) /* whatever an interpreter then freed by itself */
        site->verdict = VT_VERDICT_UNFREED;
    bool named = site->owned.count && !site->unowned_bytes;
    bool unknown = p->scan_unknown && !named && !site->lost_count;
    if (looked_for(p, site)) {
        site->reachable = unknown ? -1 : site->lost_count == 0;
        if (site->lost_count)
            site->verdict = VT_VERDICT_LOST;
    }
    if (site->verdict == VT_VERDICT_LOST) {
        site->unjudged = false;
        say_lost(p, site, &why);
    }
    if (site->growth) {
        vt_string_add(&why, why.length ? "; " : "");
        if (site->tested && site->tested->fails)
            say_kept(site->tested, &why);
        else
            say_growth(site->growth, &why);
        if (!site->live_count)
            vt_string_add(&why, "; freed only after the process's last allocation");
        vt_verdicts_went(site->went_count, site->live_count, site->went_by, &why);
    }
    if (site->bound)
        say_bound(p, site, &why);
    if (!why.length)
        say_live(p, site, &why);
    if (unknown && looked_for(p, site))
        vt_string_add(&why,
                      "; whether it is lost is unknown: not all of the process's memory comes "
                      "from the C library's malloc");
    vt_tests_say_fixture(site, &why);
    vt_lifetime_say(site, &why);
    site->why = why.text;
}

/* What rose to the end and was freed is no leak, but a reader may want to know. */
static void note_tidied(struct vt_process *p, const struct vt_site *largest, uint32_t count) {
    char more[48] = "";
    VT_SCOPED char *text = vt_frame_text(p, vt_stack_main_frame(largest->stack), UINT_MAX);
    if (count > 1)
        snprintf(more, sizeof more, " (and %u more call site%s)", count - 1, count > 2 ? "s" : "");
    vt_model_note(p,
                  "%s%s: rose steadily to %s until the last allocation, then the program freed it.",
                  text, more, VT_BYTES(largest->held_bytes));
}

/* Adds a note about memory that was released with its context, unless it fails the gate, which names it. */
static void note_went(struct vt_process *p) {
    const char *by = NULL;
    for (uint32_t i = 0; i < p->site_count; i++) {
        const struct vt_site *site = &p->sites[i];
        if (site->verdict == VT_VERDICT_CACHE || site->verdict == VT_VERDICT_RUNTIME)
            continue;
        p->went_bytes += site->went_bytes;
        by = by ? by : site->went_by;
    }
    if (!p->went_bytes || vt_verdict_fails(p, VT_VERDICT_UNFREED, NULL))
        return;
    vt_model_note(p, "%s was released only when its context was destroyed (%s).",
                  VT_BYTES(p->went_bytes), by ? by : "an unknown call");
    p->went_note = p->notes[p->note_count - 1];
}

/* Finds what would fail, or is unjudged, and is a CUDA library's own: the gate suppresses that. */
static void find_library_own(struct vt_process *p) {
    struct vt_suppressions own = {0};
    vt_suppress_add_builtin(&own);
    for (uint32_t i = 0; i < p->site_count; i++) {
        struct vt_site *site = &p->sites[i];
        if (site->unjudged || vt_site_may_fail(p, site, NULL))
            site->library_own = vt_suppress_find(&own, site->stack, site->verdict) >= 0;
    }
    vt_suppress_free(&own);
}

/* What is said of a million sites is mostly the same: the process keeps each text once. */
static void share_why(struct vt_process *p, struct vt_map *known, struct vt_site *site) {
    uint64_t hash = vt_hash_bytes(0, site->why, strlen(site->why));
    uint32_t same;
    while ((same = vt_map_get(known, hash)) != VT_MAP_NONE && strcmp(p->whys[same], site->why))
        hash = vt_mix(hash + 1);
    if (same == VT_MAP_NONE) {
        same = (uint32_t)p->why_count;
        vt_map_put(known, hash, same);
        *VT_ADD(p->whys, p->why_count, p->why_room) = vt_strdup(site->why);
    }
    free((char *)site->why);
    site->why = p->whys[same];
}

void vt_verdicts_give(struct vt_process *p) {
    VT_SCOPED_MAP whys = {0};
    const struct vt_site *largest = NULL;
    uint32_t tidied = 0;
    for (uint32_t i = 0; i < p->site_count; i++) {
        struct vt_site *site = &p->sites[i];
        bool grew = site->growth && site->class != VT_CLASS_CACHE && vt_site_tidied(p, site);
        judge(p, site);
        share_why(p, &whys, site);
        tidied += grew;
        if (grew && (!largest || site->held_bytes > largest->held_bytes))
            largest = site;
    }
    if (largest)
        note_tidied(p, largest, tidied);
    note_went(p);
    find_library_own(p);
}
