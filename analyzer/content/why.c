/* SPDX-License-Identifier: MIT */
/*
 * The evidence of a verdict: one sentence for each site, and one for each leak. The verdicts are from
 * analysis/verdicts.c and analysis/leaks.c.
 */
#include "sentences.h"

#include <string.h>

/* Phrase for how the log ended, as in "live when the process ended". A constant. */
static const char *end_text(const struct vt_process *p) {
    static const char *const texts[] = {
        [VT_END_UNKNOWN] = "where the log ends (the end of the process is not in it)",
        [VT_END_EXITED] = "when the process ended",
        [VT_END_SIGNALED] = "when the process was killed",
        [VT_END_EXEC] = "when the process replaced itself",
        [VT_END_RUNNING] = "when the log was read (the process was still running)",
    };
    return p->window_until != VT_UNKNOWN ? "when the window ends" : texts[p->ending.how];
}

/* Adds what released `went` of `live` blocks, if the end of a context did: "; cuCtxDestroy released them with their
 * context". `by` NULL: unknown. */
static void say_went(uint64_t went, uint64_t live, const char *by, struct vt_string *why) {
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

/* Adds the memory that a cache or a CUDA library keeps. */
static void say_class(const struct vt_process *p, const struct vt_site *site,
                      struct vt_string *why) {
    const char *bytes = VT_BYTES(site->live_bytes);
    const char *end =
        site->context_freed_count == site->live_count ? "when its context ended" : end_text(p);
    if (site->verdict == VT_VERDICT_RUNTIME)
        vt_string_format(why,
                         "%s keeps such memory for the life of the process; %s was still live %s",
                         site->class_name, bytes, end);
    else if (site->segments)
        vt_string_format(why,
                         "segments of %s's cache: %s %s; the blocks inside are judged one by one",
                         site->class_name, bytes, end);
    else
        vt_string_format(why, "cached by %s, whose blocks are not in the log; %s was still live %s",
                         site->class_name, bytes, end);
}

static void say_lost(const struct vt_process *p, const struct vt_site *site,
                     struct vt_string *why) {
    uint64_t searched = vt_site_still_count(&site->figures);
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

/* Adds "live memory grew by 5.00 MiB per step, from step 3 of 40 on (38 rises, p < 0.001)". */
static void say_growth(const struct vt_growth *g, struct vt_string *why) {
    vt_string_add(why, "live memory grew by ");
    vt_growth_pace(g, why);
    vt_string_format(why, ", from %s %s of %s on (", vt_growth_unit(g),
                     VT_NUMBER(g->since_iteration), VT_NUMBER(g->iterations));
    vt_growth_evidence(g, why);
    vt_string_add(why, ")");
}

/* Adds live blocks that only the live list has: the site made more allocations than the log has records. */
static void say_unrecorded(const struct vt_process *p, const struct vt_site *site,
                           struct vt_string *why) {
    vt_string_format(why, "%s allocation%s still live %s; the log had no room for ",
                     VT_NUMBER(site->live_count), site->live_count == 1 ? " was" : "s were",
                     end_text(p));
    if (site->unrecorded_count < site->live_count)
        vt_string_format(why, "%s of them", VT_NUMBER(site->unrecorded_count));
    else
        vt_string_add(why, site->live_count == 1 ? "it" : "them");
    if (!site->stack->count)
        vt_string_add(why, ", nor for the call stack");
}

/* Adds the memory that a test kept: its rounds are its own, not the run's. */
static void say_kept(const struct vt_tested *t, struct vt_string *why) {
    vt_string_add(why, t->test);
    if (!strcmp(t->per, "test"))
        vt_string_format(why, " and %u more tests", t->rounds - 1);
    vt_string_format(why, " kept %s in %s block%s", VT_BYTES(t->left_bytes),
                     VT_NUMBER(t->left_count), vt_plural(t->left_count));
    if (t->rounds > 1)
        vt_string_format(why, ", more with each of %s %ss", VT_NUMBER(t->rounds), t->per);
    if (t->tests > 1 && !strcmp(t->per, "round"))
        vt_string_format(why, "; %u more test%s left some", t->tests - 1, t->tests > 2 ? "s" : "");
}

/* Adds how many of its allocations are live. */
static void say_live(const struct vt_process *p, const struct vt_site *site,
                     struct vt_string *why) {
    const char *live = VT_NUMBER(site->live_count);
    const char *all = VT_NUMBER(site->alloc_count);
    if (site->unrecorded_count && !site->context_freed_count) {
        say_unrecorded(p, site, why);
    } else if (site->context_freed_count) {
        if (site->live_count == 1)
            vt_string_add(why, site->alloc_count == 1 ? "its only allocation was never freed"
                                                      : "one allocation was never freed");
        else
            vt_string_format(why, "%s of %s allocations were never freed", live, all);
        say_went(site->context_freed_count, site->live_count, site->context_freed_by, why);
    } else if (site->before)
        vt_string_format(why, "allocated before the window; %s still live %s",
                         site->live_count ? live : "none", end_text(p));
    else if (site->live_count && site->alloc_count == 1)
        vt_string_format(why, "its only allocation was still live %s", end_text(p));
    else if (site->live_count == site->alloc_count && site->live_count)
        vt_string_format(why, "all %s allocations were still live %s", all, end_text(p));
    else if (site->live_count)
        vt_string_format(why, "%s of %s allocations %s still live %s", live, all,
                         site->live_count == 1 ? "was" : "were", end_text(p));
    else if (site->alloc_count == 1)
        vt_string_add(why, "its only allocation was freed");
    else
        vt_string_format(why, "all %s allocations were freed", all);
}

/* Adds "; held by fixture `model` (module scope)". */
static void say_fixture(const struct vt_site *site, struct vt_string *why) {
    const struct vt_tested *t = site->tested;
    if (!t || !t->fixture || !site->live_count)
        return;
    vt_string_add(why, "; ");
    if (t->fixture_count < site->live_count)
        vt_string_format(why, "%s of them ", VT_NUMBER(t->fixture_count));
    vt_string_format(why, "held by fixture `%s` (%s scope)", t->fixture, t->scope);
}

/* Adds why it is unknown whether this is a leak. */
static void say_inconclusive(const struct vt_site *site, struct vt_string *why) {
    if (site->inconclusive)
        vt_string_format(why, "; %s: %s",
                         site->verdict == VT_VERDICT_SUSPECT ? "a suspect" : "not judged",
                         vt_growth_rules[site->inconclusive].sentence);
}

/* How much older than the freed blocks live ones must be to be mentioned: a single one forgotten among thousands. */
enum {
    SIBLINGS = 8, /* freed blocks that show the usual lifetime */
    BY_FAR = 16   /* times the longest of their lifetimes */
};

static void say_lifetime(const struct vt_site *site, struct vt_string *why) {
    if (!site->live_count || site->free_count < SIBLINGS || site->longest_life == VT_UNKNOWN ||
        site->oldest_age == VT_UNKNOWN || site->oldest_age / BY_FAR < site->longest_life)
        return;
    vt_string_format(why, "; %s %s old, while the freed ones lived at most %s",
                     site->live_count == 1 ? "it is" : "the oldest is",
                     VT_DURATION(site->oldest_age), VT_DURATION(site->longest_life));
}

/* Adds the behaviour of a site of the program itself. */
static void say_own(const struct vt_process *p, const struct vt_site *site, struct vt_string *why) {
    if (site->freed_at_exit) {
        say_live(p, site, why);
        vt_string_add(why, ", after its last allocation; until then ");
        say_growth(site->freed_at_exit, why);
    }
    if (site->verdict == VT_VERDICT_LOST)
        say_lost(p, site, why);
    if (site->growth) {
        vt_string_add(why, why->length ? "; " : "");
        if (site->tested && site->tested->fails)
            say_kept(site->tested, why);
        else
            say_growth(site->growth, why);
        if (!site->live_count)
            vt_string_add(why, "; freed only after the process's last allocation");
        say_went(site->context_freed_count, site->live_count, site->context_freed_by, why);
    }
    if (site->bound && site->bound->growth && !why->length)
        say_growth(site->bound->growth, why);
    if (!why->length)
        say_live(p, site, why);
    VT_SCOPED char *bound = site->bound ? vt_bound_text(site->bound) : NULL;
    if (bound)
        vt_string_format(why, "; %s", bound);
    if (site->reachable == VT_REACHABLE_UNKNOWN)
        vt_string_add(why, "; whether it is lost is unknown: not all of the process's memory comes "
                           "from the C library's malloc");
    say_inconclusive(site, why);
    say_fixture(site, why);
    say_lifetime(site, why);
}

/* A million sites have mostly the same sentences: the process stores each text once. */
static void write_site(struct vt_process *p, struct vt_map *known, struct vt_site *site) {
    VT_SCOPED_STRING why = {0};
    if (site->verdict == VT_VERDICT_CACHE || site->verdict == VT_VERDICT_RUNTIME)
        say_class(p, site, &why);
    else
        say_own(p, site, &why);
    uint64_t hash = vt_hash_bytes(0, why.text, why.length);
    uint32_t count = (uint32_t)p->why_count, same;
    while ((same = vt_map_add(known, hash, count)) < count && strcmp(p->whys[same], why.text) != 0)
        hash = vt_mix(hash + 1);
    if (same == count)
        *VT_ADD(p->whys, p->why_count, p->why_room) = vt_strdup(why.text);
    site->why = p->whys[same];
}

static void write_leak(const struct vt_process *p, struct vt_leak *leak) {
    uint64_t allocations = 0, lost = 0, went = 0;
    struct vt_string why = {0};
    const struct vt_site *largest = &p->sites[leak->sites[0]];
    for (uint32_t i = 0; i < leak->site_count; i++) {
        allocations += p->sites[leak->sites[i]].alloc_count;
        lost += p->sites[leak->sites[i]].lost_count;
        went += p->sites[leak->sites[i]].context_freed_count;
    }
    if (leak->site_count == 1 || leak->verdict == VT_VERDICT_GROWING) {
        vt_string_add(&why, largest->why);
        if (leak->site_count > 1)
            vt_string_format(&why, "; %u more call site%s grew with it", leak->site_count - 1,
                             leak->site_count > 2 ? "s" : "");
    } else if (leak->verdict == VT_VERDICT_LOST) {
        vt_string_format(&why,
                         "no pointer to %s of %s live allocations, from %u call sites, was "
                         "left in the process's memory",
                         VT_NUMBER(lost), VT_NUMBER(leak->live_count - went), leak->site_count);
    } else {
        vt_string_format(&why, "%s of %s allocations, from %u call sites, were %s%s",
                         VT_NUMBER(leak->live_count), VT_NUMBER(allocations), leak->site_count,
                         went ? "never freed" : "still live ", went ? "" : end_text(p));
        say_went(went, leak->live_count, largest->context_freed_by, &why);
    }
    leak->why = why.text;
}

/* The owners of a leak, in every format: the largest first; if no few hold most of it, their number. Without bytes,
 * so that ranks that do the same have the same text. */
static char *kept_by_text(const struct vt_process *p, const struct vt_leak *leak) {
    struct vt_string text = {0};
    uint32_t count;
    if (leak->spread_owners) {
        VT_SCOPED struct vt_owner_group *groups =
            vt_owner_groups(leak->owned.owners, leak->owned.count, false, &count);
        groups->owner.more_variables = 0;
        VT_SCOPED char *largest = vt_owner_text(p, &groups->owner, 0);
        vt_string_format(&text, "%s owners, one of the largest: %s", VT_NUMBER(leak->spread_owners),
                         largest);
    }
    for (uint32_t i = 0; i < leak->kept_count && i < VT_OWNERS_SHOWN; i++) {
        VT_SCOPED char *owner = vt_owner_text(p, &leak->kept[i].owner, 0);
        vt_string_format(&text, "%s%s", i ? "; " : "", owner);
    }
    if (leak->kept_count > VT_OWNERS_SHOWN)
        vt_string_format(&text, "; and %u more", leak->kept_count - VT_OWNERS_SHOWN);
    return text.text;
}

void vt_why_write(struct vt_process *p) {
    VT_SCOPED_MAP whys = {0};
    for (uint32_t i = 0; i < p->site_count; i++)
        write_site(p, &whys, &p->sites[i]);
    for (uint32_t i = 0; i < p->found_count; i++) {
        write_leak(p, &p->leaks[i]);
        p->leaks[i].kept_by = kept_by_text(p, &p->leaks[i]);
    }
}
