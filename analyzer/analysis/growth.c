/* SPDX-License-Identifier: MIT */
/*
 * Which sites grow (see analysis.h): walks the rules of model/growth_rules.def: for each site, then for the sites of
 * each line together, as a line that is called on many paths may grow though none of its sites does. The remaining sites
 * of a Python process may be inconclusive.
 */
#include "growth_search.h"

#include <stdlib.h>

/* --- the rules --- */

enum stage { SHOWS, EXCUSES, SUSPECTS, OPEN };

static const struct rule {
    enum stage stage;
    vt_growth_applies *applies;
    vt_growth_test *test; /* NULL: of a VT_GROWTH_FINDING */
} rules[VT_GROWTH_RULES] = {
#define VT_GROWTH_RULE(NAME, stage, applies, test, sentence, in_short)                             \
    [VT_RULE_##NAME] = {stage, applies, test},
#include "model/growth_rules.def"
};

/* The first rule of a stage that fits; VT_RULE_NONE: none. A rule that SHOWS fills `found`; one that EXCUSES reads it. */
static enum vt_growth_rule ask(enum stage stage, const struct search *s,
                               const struct subject *subject, struct found *found) {
    for (enum vt_growth_rule i = VT_RULE_NONE + 1; i < VT_GROWTH_RULES; i++)
        if (rules[i].stage == stage && rules[i].test && rules[i].applies(s, subject) &&
            rules[i].test(s, subject, found))
            return i;
    return VT_RULE_NONE;
}

bool vt_growth_any(const struct search *s, const struct subject *subject) {
    (void)s, (void)subject;
    return true;
}

/* Whether a growth has no excuse. A site with one is inconclusive, if the rule has a sentence. */
static bool stands(const struct search *s, const struct subject *subject, struct found *found,
                   struct vt_site *site) {
    enum vt_growth_rule excuse = ask(EXCUSES, s, subject, found);
    if (excuse && *vt_growth_rules[excuse].sentence && !s->replay->pytest.any)
        site->inconclusive = excuse;
    return !excuse;
}

/* --- sites, and lines of several sites --- */

/* Finds a site's own rises in a growth that was found for its line. Returns how many; *first: the
 * first in search.rises. */
static uint32_t find_part(const struct search *s, const struct found *found, double from,
                          const struct curve *own, uint32_t *first) {
    uint32_t n = vt_growth_kept(s, own, &found->scale);
    *first = 0;
    while (*first < n && s->rises[*first].at < from)
        ++*first;
    return n - *first;
}

/* Whether a site began after its line began to grow, and has freed nothing: only its blocks' age keeps it from growing, like the last of 60 cells of a notebook (case 633). */
static bool is_new(const struct found *found, const struct curve *own, const struct vt_site *site) {
    return own->first >= found->begin && site->held_count == site->alloc_count;
}

/* Whether most of it is what a model keeps: then it was loaded or made once, however it rose. */
static bool is_parameters(const struct vt_site *site) {
    uint64_t kept = 0, all = site->unowned_bytes;
    for (uint32_t i = 0; i < site->owned.count; i++) {
        const struct vt_owned_by *by = &site->owned.owners[i];
        enum vt_purpose purpose = by->owner->purpose;
        all += by->bytes;
        kept += purpose == VT_PURPOSE_PARAMETERS || purpose == VT_PURPOSE_BUFFERS ||
                        purpose == VT_PURPOSE_OPTIMIZER || purpose == VT_PURPOSE_GRADIENTS
                    ? by->bytes
                    : 0;
    }
    return kept > all / 2;
}

static bool may_be_suspect(const struct vt_site *site) {
    return !site->before && !site->growth && !site->suspected && site->held_bytes &&
           site->inconclusive != VT_RULE_RETURNED && site->class == VT_CLASS_PROGRAM &&
           !is_parameters(site);
}

/* Gives a site its part of its line's growth, by a rule of a stage. */
static void take_part(struct vt_site *site, enum stage stage, struct vt_growth *part) {
    *(stage == SHOWS ? &site->growth : &site->suspected) = part;
    site->inconclusive = stage == SHOWS ? site->inconclusive : part->rule;
}

/* Finds growth of the sites of a line together, or that they are suspects: the line may be called on many paths, a few
 * times on each. */
static void find_line(const struct search *s, const uint32_t *sites, uint32_t count,
                      enum stage stage, struct vt_process *p) {
    struct subject line = {vt_growth_curve_of_line(s, sites, count), sites, count, false};
    struct found found = {.sites = sites, .site_count = count};
    found.rule = ask(stage, s, &line, &found);
    if (found.rule) {
        struct vt_growth *all = vt_growth_describe(s, &found, p);
        double from = s->rises[found.first_rise].at;
        uint32_t first;
        for (uint32_t i = 0; i < count; i++) {
            struct vt_site *site = &p->sites[s->index[sites[i]]];
            struct subject own = {vt_growth_curve(s, sites[i]), &sites[i], 1, true};
            uint32_t n = find_part(s, &found, from, &own.curve, &first);
            struct rise whole = {.bytes = site->held_bytes, .count = site->held_count};
            if (!stands(s, &own, &found, site))
                continue;
            struct vt_growth *part = n ? vt_growth_part(all, s->rises + first, n)
                                     : is_new(&found, &own.curve, site)
                                         ? vt_growth_part(all, &whole, 1)
                                         : NULL;
            if (!part)
                continue;
            if (all->period == p->sites[s->index[sites[0]]].stack)
                part->period = site->stack;
            take_part(site, stage, part);
        }
        free(all);
    }
    free((void *)line.curve.samples);
}

/* A key for the line and its calling line: a shared allocation helper is not a call site. All cells of a notebook are
 * one caller. */
static uint64_t line_of(const struct vt_site *site) {
    const struct vt_stack *stack = site->stack;
    uint64_t key = vt_site_growth_line(site) +
                   vt_mix((site->class * VT_LAYERS + site->layer) * 256 + site->device);
    uint32_t at = vt_stack_caller(stack, stack->user_frame);
    if (at == stack->count)
        return key;
    const struct vt_frame *f = vt_stack_frame(stack, at);
    return vt_mix(key) + (vt_frame_is_cell(f) ? 1 : vt_frame_line(f, VT_LINE_CODE));
}

static void find_lines(const struct search *s, enum stage stage, struct vt_process *p) {
    const uint32_t *index = s->index;
    uint32_t count = (uint32_t)s->replay->site_count;
    VT_SCOPED_MAP first_of = {0};
    VT_SCOPED uint32_t *next = vt_alloc(count, sizeof *next),
                       *heads = vt_alloc(count, sizeof *heads);
    VT_SCOPED uint32_t *sites = vt_alloc(count, sizeof *sites);
    uint32_t head_count = 0;
    for (uint32_t i = count; i-- > 0;) {
        struct vt_site *site = index[i] == VT_NO_SITE ? NULL : &p->sites[index[i]];
        next[i] = VT_NO_SITE;
        if (!site || site->before || site->growth || !site->held_bytes ||
            (stage == SHOWS ? vt_site_freed_at_exit(p, site) : !may_be_suspect(site)))
            continue;
        uint64_t key = line_of(site);
        uint32_t head = vt_map_get(&first_of, key);
        if (head != VT_MAP_NONE)
            next[i] = head;
        vt_map_put(&first_of, key, i);
    }
    for (size_t i = 0; i < first_of.slots; i++)
        if (first_of.values[i] != VT_MAP_NONE && next[first_of.values[i]] != VT_NO_SITE)
            heads[head_count++] = first_of.values[i];
    for (uint32_t i = 0; i < head_count; i++) {
        uint32_t n = 0;
        for (uint32_t site = heads[i]; site != VT_NO_SITE; site = next[site])
            sites[n++] = site;
        find_line(s, sites, n, stage, p);
    }
}

/* --- windows --- */

bool vt_growth_in_window(const struct search *s, const struct subject *subject) {
    return s->process->window_since != VT_UNKNOWN && !subject->of_line;
}

/* Kept blocks may replace blocks from before the window, whose sites are unknown. So this compares with all memory of
 * the same layer and device. */
bool vt_growth_replaces(const struct search *s, const struct subject *subject,
                        struct found *found) {
    const struct vt_process *p = s->process;
    const struct vt_site *site = &p->sites[s->index[subject->sites[0]]];
    uint64_t kept = 0, given_back = 0;
    for (uint32_t i = 0; i < found->rise_count; i++)
        kept += s->rises[found->first_rise + i].bytes;
    for (uint32_t i = 0; i < p->site_count; i++)
        if (p->sites[i].before && p->sites[i].layer == site->layer &&
            p->sites[i].device == site->device)
            given_back += p->sites[i].peak_bytes - p->sites[i].live_bytes;
    return (double)given_back >= (double)kept * REPLACED && given_back;
}

/* --- the walk --- */

static void find_site(const struct search *s, uint32_t i, struct vt_process *p) {
    struct vt_site *site = &p->sites[s->index[i]];
    struct subject subject = {vt_growth_curve(s, i), &i, 1, false};
    struct found found = {.sites = &i, .site_count = 1};
    site->held_bytes = site->live_bytes;
    site->held_count = site->live_count;
    vt_history_held(s->history, i, &site->held_bytes, &site->held_count);
    if (site->held_count < site->live_count) { /* some were freed with an earlier context */
        site->held_bytes = site->live_bytes;
        site->held_count = site->live_count;
    }
    if (site->before || !subject.curve.count)
        return;
    found.rule = ask(SHOWS, s, &subject, &found);
    if (found.rule && stands(s, &subject, &found, site))
        site->growth = vt_growth_describe(s, &found, p);
}

/* Finds why a site that does not grow may leak all the same: a suspect. */
static void suspect(const struct search *s, uint32_t i, struct vt_process *p) {
    struct vt_site *site = &p->sites[s->index[i]];
    struct found found = {.sites = &i, .site_count = 1};
    if (!may_be_suspect(site))
        return;
    struct subject subject = {vt_growth_curve(s, i), &i, 1, false};
    if (!subject.curve.count)
        return;
    found.rule = ask(SUSPECTS, s, &subject, &found);
    if (!found.rule)
        site->inconclusive = ask(OPEN, s, &subject, &found);
    else if (stands(s, &subject, &found, site))
        take_part(site, SUSPECTS, vt_growth_describe(s, &found, p));
}

void vt_growth_find(const struct vt_sources *from, struct vt_process *p) {
    const struct vt_replay *replay = from->replay;
    const struct vt_history *history = from->history;
    struct search s = {.replay = replay,
                       .history = history,
                       .iterations = &replay->iterations,
                       .clock = from->clock,
                       .index = from->index,
                       .process = p};
    if (!history->allocs)
        return;
    while (s.last_bucket + 1 < history->bucket_count &&
           history->buckets[s.last_bucket + 1].events <= history->events_at_last_alloc)
        s.last_bucket++;
    s.rises = vt_alloc(history->bucket_count + 1, sizeof *s.rises);
    vt_growth_load_open(&s);
    vt_growth_returned_open(&s);
    for (uint32_t i = 0; i < replay->site_count; i++)
        if (s.index[i] != VT_NO_SITE)
            find_site(&s, i, p);
    find_lines(&s, SHOWS, p);
    /* the pytest plugin decides about tests; a native program that ended itself, about its own memory */
    bool open = !replay->pytest.any && (p->python || !vt_process_ended_itself(p));
    for (uint32_t i = 0; i < replay->site_count && open; i++)
        if (s.index[i] != VT_NO_SITE)
            suspect(&s, i, p);
    if (open)
        find_lines(&s, SUSPECTS, p);
    free(s.so_far);
    free(s.returned);
    free(s.rises);
}
