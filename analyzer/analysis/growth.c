/* SPDX-License-Identifier: MIT */
/*
 * Growth (see judge.h): does a site keep more and more memory, and would it continue?
 *
 * Memory rises where a block is allocated that is never freed. A block counts only once it is older
 * than the blocks of its site that were freed. Frees after the process's last allocation belong to
 * the end of the program and take nothing back.
 *
 * A site grows if its rises
 *   - are enough, with no long pause between them (is_steady);
 *   - last until the end (is_steady);
 *   - do not slow down as those of a filling cache do: Laplace's trend test (slows_down);
 *   - lift the valleys, the lowest levels of equal windows: Mann-Kendall (trends);
 *   - come from a program that repeats something: marked iterations, frees or launches of graphs
 * in between (goes_round). Nothing tells weights that are loaded in a row, at whatever pace, from
 * results that are kept in a row; where memory is freed in between, and what was loaded is then used, growth_load.c does.
 * A queue that fills keeps no block. For it the floor is tested instead: the least that the site
 * held from a moment on, of which the number of blocks must rise (fills). One buffer that is made
 * longer and longer is growth_append.c's, few long rounds with a holder are growth_rounds.c's.
 *
 * The tests are tried by marked iterations, then by the run's rhythm (its own events): time says how
 * fast a program runs, not what it does. Their limits are in growth_limits.def; doc/GROWTH.md explains the statistics.
 */
#include "growth_search.h"

#include <math.h>
#include <stdlib.h>

/* What the tests examine: rises on a clock. */
struct trial {
    const struct curve *curve;
    struct scale scale;
    bool floor;
    uint32_t first, all; /* of search.rises */
    bool warm;           /* a warm-up was skipped before it */
};

/* --- the tests --- */

/* Whether rises become rarer towards the end, or are too few to exclude that. */
static bool slows_down(const struct rise *rises, uint32_t count, double end, bool warm) {
    struct steadiness steady = vt_growth_steadiness(rises, count, end);
    double least = (warm ? FILLING_WARM : FILLING) + ERRORS_ABOVE * steady.error;
    return steady.mean_position < (least < SURELY ? least : SURELY);
}

/* Whether memory was freed in both halves of the rise. (Not between any two rises: some programs
 * queue their frees.) */
static bool frees_between(const struct search *s, const struct rise *rises, uint32_t count) {
    const struct vt_bucket *buckets = s->history->buckets;
    uint64_t first = buckets[rises[0].bucket].frees;
    uint64_t middle = buckets[rises[(count - 1) / 2].bucket].frees;
    uint64_t last = buckets[rises[count - 1].bucket].frees;
    return middle > first && last > middle;
}

/* Whether graphs were launched in both halves of the rise, and hardly after it: a program that warms up
 * allocates as well, but then it launches many without allocating. */
static bool launches_between(const struct search *s, const struct rise *rises, uint32_t count) {
    const struct vt_bucket *buckets = s->history->buckets;
    uint64_t first = buckets[rises[0].bucket].launches;
    uint64_t middle = buckets[rises[(count - 1) / 2].bucket].launches;
    uint64_t last = buckets[rises[count - 1].bucket].launches;
    return middle > first && last > middle &&
           (double)(s->history->launches - last) <=
               SPARE_LAUNCHES + TAIL_SHARE * (double)(last - first);
}

/* Whether the program repeated something while this rose. */
static bool goes_round(const struct search *s, const struct rise *rises, uint32_t count) {
    return frees_between(s, rises, count) || launches_between(s, rises, count);
}

/* Student's t of the steps from valley to valley: the mean step over its standard error. The steps
 * of a level that moves at random cancel out. */
static double drift(const double *values, uint32_t count) {
    double mean = (values[count - 1] - values[0]) / (count - 1), squares = 0;
    for (uint32_t i = 1; i < count; i++) {
        double apart = values[i] - values[i - 1] - mean;
        squares += apart * apart;
    }
    return squares > 0 ? mean * sqrt((count - 1.0) * (count - 2) / squares) : INFINITY;
}

/* Whether the rises are enough, without long pauses, last to the end and do not slow down. */
static bool is_steady(const struct search *s, const struct trial *t) {
    const struct rise *rises = s->rises + t->first;
    uint32_t count = t->all - t->first;
    enum clock_kind kind = t->scale.kind;
    uint32_t least = t->floor ? FLOOR_RISES : kind == BY_ITERATION ? MARKED_RISES : RHYTHM_RISES;
    double start = rises[0].at, span = t->scale.end - start, longest = 0, before = start;
    if (count < least || span <= 0)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        if (rises[i].at - before > longest)
            longest = rises[i].at - before;
        before = rises[i].at;
    }
    double tail = t->scale.end - before;
    if ((tail > longest && tail > TAIL_SHARE * span) || longest > span * LONGEST_PAUSE)
        return false;
    return !slows_down(rises, count, t->scale.end, t->warm);
}

/* Whether more blocks come than go: the valleys of their number drift upwards. Their bytes would also
 * rise where a few are made anew, longer each time. */
static bool fills(const struct search *s, const struct trial *t, uint32_t windows) {
    const struct curve *c = t->curve;
    double valleys[MOST_VALLEYS + 1],
        start = vt_growth_sample_position(s, c, t->scale.kind, c->samples);
    if (start < t->scale.start)
        start = t->scale.start;
    vt_growth_valleys(s, c, &t->scale, start, windows, true, valleys);
    return c->min_age > 0 && drift(valleys, windows + 1) >= DRIFTING;
}

/* The trend of the valleys. A window is as long as the longest pause, where that gives enough
 * windows, so that each is likely to hold a rise. */
static bool trends(const struct search *s, const struct trial *t, double *chance) {
    const struct rise *rises = s->rises + t->first;
    uint32_t count = t->all - t->first;
    double start = rises[0].at, span = t->scale.end - start, longest = 0, before = start;
    for (uint32_t i = 0; i <= count; i++) {
        double at = i < count ? rises[i].at : t->scale.end;
        if (at - before > longest)
            longest = at - before;
        before = at;
    }
    double valleys[MOST_VALLEYS + 1];
    uint32_t windows = (uint32_t)(span / longest);
    windows = windows > MOST_VALLEYS    ? MOST_VALLEYS
              : windows < LEAST_VALLEYS ? LEAST_VALLEYS
                                        : windows;
    if (t->scale.kind == BY_ITERATION && windows > span)
        windows = (uint32_t)span;
    if (t->floor && !fills(s, t, windows))
        return false;
    vt_growth_valleys(s, t->curve, &t->scale, start, windows, false, valleys);
    *chance = vt_growth_mann_kendall(valleys, windows + 1);
    return *chance <= SIGNIFICANT;
}

/* All tests on the rises from `first` on. */
static bool holds(const struct search *s, const struct trial *t, struct found *found) {
    const struct rise *rises = s->rises + t->first;
    uint32_t count = t->all - t->first;
    if (!is_steady(s, t))
        return false;
    if (t->scale.kind == BY_RHYTHM && (!goes_round(s, rises, count) ||
                                       vt_growth_is_load(s, t->curve, t->scale.end, rises, count)))
        return false;
    if (!trends(s, t, &found->chance))
        return false;
    found->first_rise = t->first;
    found->begin = rises[0].bucket;
    found->one_thread = t->curve->one_thread;
    found->rise_count = count;
    found->scale = t->scale;
    found->appends = false;
    return true;
}

/* Finds a start from which the tests hold: the first rise; after a warm-up; or after a long pause,
 * trying the latest pause first. */
static bool find_from(const struct search *s, struct trial *t, struct found *found) {
    if (!t->all)
        return false;
    t->first = 0;
    t->warm = false;
    if (holds(s, t, found))
        return true;
    double begin = s->rises[0].at, whole = t->scale.end - begin;
    const double warm[] = {begin + whole * WARM_FIRST, begin + whole * WARM_SECOND,
                           begin + whole * WARM_LAST};
    uint32_t tried = 0;
    for (size_t i = 0; i < sizeof warm / sizeof *warm; i++) {
        uint32_t first = tried;
        while (first < t->all && s->rises[first].at < warm[i])
            first++;
        if (first == tried || first == t->all)
            continue;
        t->first = tried = first;
        t->warm = i > 0;
        if (holds(s, t, found))
            return true;
    }
    t->warm = false;
    for (uint32_t first = t->all - 1; first > 0; first--) {
        t->first = first;
        double pause = s->rises[first].at - s->rises[first - 1].at;
        if (pause >= whole * LATE_PAUSE && holds(s, t, found))
            return true;
    }
    return false;
}

static bool find(const struct search *s, const struct curve *c, struct found *found) {
    for (enum clock_kind kind = BY_ITERATION; kind <= BY_RHYTHM; kind++) {
        struct trial t = {.curve = c};
        if (kind == BY_ITERATION && s->iterations->shared && c->one_thread)
            continue; /* the thread's own rhythm is better: it is the same in every run */
        if (vt_growth_scale(s, c, kind, true, &t.scale)) {
            t.all = vt_growth_kept(s, c, &t.scale);
            if (find_from(s, &t, found))
                return true;
        }
        t.floor = true;
        if (c->held_count && !s->replay->corrected && !c->joined &&
            vt_growth_scale(s, c, kind, false, &t.scale) && t.scale.held) {
            t.all = vt_growth_floor(s, c, &t.scale);
            if (find_from(s, &t, found))
                return true;
        }
    }
    return false;
}

/* Why nothing is known of a site that keeps more up to the end: its rounds are too few for the tests, or it
 * looks like a load. Many blocks of one round may be of many that look like one (see replay/operations.h). */
static enum vt_unjudged why_unjudged(const struct search *s, const struct curve *c) {
    struct trial t = {.curve = c};
    if (!vt_growth_scale(s, c, BY_RHYTHM, true, &t.scale))
        return VT_JUDGED;
    t.all = vt_growth_kept(s, c, &t.scale);
    const struct rise *rises = s->rises;
    if (!t.all || (t.all == 1 && rises[0].count < RHYTHM_RISES))
        return VT_JUDGED;
    double longest = 0, tail = t.scale.end - rises[t.all - 1].until;
    for (uint32_t i = 1; i < t.all; i++)
        if (rises[i].at - rises[i - 1].at > longest)
            longest = rises[i].at - rises[i - 1].at;
    if (tail > longest && tail > TAIL_SHARE * (t.scale.end - rises[0].at))
        return VT_JUDGED;
    if (t.all < RHYTHM_RISES)
        return VT_FEW_ROUNDS;
    return !goes_round(s, rises, t.all) || vt_growth_is_load(s, c, t.scale.end, rises, t.all)
               ? VT_LIKE_A_LOAD
               : VT_JUDGED;
}

/* --- sites, and lines of several sites --- */

/* Finds a site's own rises in a growth that was found for its line. Returns how many; *first: the
 * first in search.rises. */
static uint32_t find_part(const struct search *s, const struct found *found, double from,
                          uint32_t site, uint32_t *first) {
    struct curve c = vt_growth_curve(s, site);
    uint32_t n = vt_growth_kept(s, &c, &found->scale);
    *first = 0;
    while (*first < n && s->rises[*first].at < from)
        ++*first;
    return n - *first;
}

/* Whether a site began after its line began to grow, and has freed nothing: only its blocks' age
 * keeps it from being called growing, as of the last of 60 cells of a notebook (case 633). */
static bool is_new(const struct search *s, const struct found *found, uint32_t site,
                   const struct vt_site *as) {
    return vt_growth_curve(s, site).first >= found->begin && as->held_count == as->alloc_count;
}

/* Sites of one line of code that grow together but not alone, because the line is called on many
 * paths, a few times on each. */
static void judge_line(const struct search *s, const uint32_t *sites, uint32_t count,
                       const uint32_t *index, struct vt_process *p) {
    struct curve sum = vt_growth_curve_of_line(s, sites, count);
    struct found found = {.sites = sites, .site_count = count};
    if (find(s, &sum, &found)) {
        struct vt_growth *line = vt_growth_describe(s, &found, p);
        double from = s->rises[found.first_rise].at;
        uint32_t first;
        for (uint32_t i = 0; i < count; i++) {
            struct vt_site *site = &p->sites[index[sites[i]]];
            uint32_t n = find_part(s, &found, from, sites[i], &first);
            struct curve own = vt_growth_curve(s, sites[i]);
            if (vt_growth_was_returned(s, &own, sites[i], found.begin)) {
                site->unjudged = s->replay->told.any ? VT_JUDGED : VT_RETURNED;
                continue;
            }
            struct rise all = {.bytes = site->held_bytes, .count = site->held_count};
            if (n)
                site->growth = vt_growth_part(line, s->rises + first, n);
            else if (is_new(s, &found, sites[i], site))
                site->growth = vt_growth_part(line, &all, 1);
            else
                continue;
            if (line->beat == p->sites[index[sites[0]]].stack)
                site->growth->beat = site->stack;
        }
        free(line);
    }
    free((void *)sum.samples);
}

/* A key for the line and the line that it was called from: a shared allocation helper is not a call
 * site. Cells of a notebook are one caller, whatever their code is. */
static uint64_t line_of(const struct vt_site *site) {
    const struct vt_stack *stack = site->stack;
    uint64_t key = vt_site_line_key(site) +
                   vt_mix((site->class * VT_LAYERS + site->layer) * 256 + site->device);
    uint32_t at = vt_stack_caller(stack, stack->user_frame);
    if (at == stack->count)
        return key;
    const struct vt_frame *f = vt_stack_frame(stack, at);
    return vt_mix(key) + (vt_frame_is_cell(f) ? 1 : vt_frame_line_key(f));
}

static void judge_lines(const struct search *s, const uint32_t *index, struct vt_process *p) {
    uint32_t count = (uint32_t)s->replay->site_count;
    VT_SCOPED_MAP first_of = {0};
    VT_SCOPED uint32_t *next = vt_alloc(count, sizeof *next),
                       *heads = vt_alloc(count, sizeof *heads);
    VT_SCOPED uint32_t *sites = vt_alloc(count, sizeof *sites);
    uint32_t head_count = 0;
    for (uint32_t i = count; i-- > 0;) {
        struct vt_site *site = index[i] == VT_NO_SITE ? NULL : &p->sites[index[i]];
        next[i] = VT_NO_SITE;
        if (!site || site->before || site->growth || !site->held_bytes || vt_site_tidied(p, site))
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
        judge_line(s, sites, n, index, p);
    }
}

/* In a window, kept blocks may replace blocks from before it, whose sites are unknown. So this
 * compares all memory of the same layer and device. */
static bool replaces(const struct search *s, const struct found *found, const struct vt_process *p,
                     const struct vt_site *site) {
    uint64_t kept = 0, given_back = 0;
    for (uint32_t i = 0; i < found->rise_count; i++)
        kept += s->rises[found->first_rise + i].bytes;
    for (uint32_t i = 0; i < p->site_count; i++)
        if (p->sites[i].before && p->sites[i].layer == site->layer &&
            p->sites[i].device == site->device)
            given_back += p->sites[i].peak_bytes - p->sites[i].live_bytes;
    return (double)given_back >= (double)kept * REPLACED && given_back;
}

void vt_growth_find(const struct vt_sources *from, struct vt_process *p) {
    const struct vt_replay *replay = from->replay;
    const struct vt_history *history = from->history;
    const uint32_t *index = from->index;
    struct search s = {.replay = replay,
                       .history = history,
                       .iterations = &replay->iterations,
                       .clock = from->clock,
                       .index = index,
                       .process = p};
    if (!history->allocs)
        return;
    while (s.last_bucket + 1 < history->bucket_count &&
           history->buckets[s.last_bucket + 1].events <= history->events_at_last_alloc)
        s.last_bucket++;
    s.rises = vt_alloc(history->bucket_count + 1, sizeof *s.rises);
    vt_growth_load_open(&s);
    vt_growth_returned_open(&s);
    for (uint32_t i = 0; i < replay->site_count; i++) {
        if (index[i] == VT_NO_SITE)
            continue;
        struct vt_site *site = &p->sites[index[i]];
        struct curve c = vt_growth_curve(&s, i);
        struct found found = {.sites = &i, .site_count = 1};
        site->held_bytes = site->live_bytes;
        site->held_count = site->live_count;
        vt_history_held(history, i, &site->held_bytes, &site->held_count);
        if (site->held_count < site->live_count) { /* some went with an earlier context */
            site->held_bytes = site->live_bytes;
            site->held_count = site->live_count;
        }
        bool grows =
            !site->before && c.count &&
            (find(&s, &c, &found) ||
             (vt_appends_name(site->stack) && vt_growth_appends(&s, &c, i, APPENDS, &found)) ||
             vt_growth_rounds(&s, &c, i, &found));
        if (grows && vt_growth_was_returned(&s, &c, i, found.begin))
            site->unjudged = replay->told.any ? VT_JUDGED : VT_RETURNED;
        else if (grows && !replaces(&s, &found, p, site))
            site->growth = vt_growth_describe(&s, &found, p);
    }
    judge_lines(&s, index, p);
    for (uint32_t i = 0; i < replay->site_count && p->python && !replay->told.any; i++) {
        struct vt_site *site = index[i] == VT_NO_SITE ? NULL : &p->sites[index[i]];
        if (!site || site->before || site->growth || site->unjudged || !site->held_bytes ||
            site->class != VT_CLASS_PROGRAM)
            continue;
        struct curve c = vt_growth_curve(&s, i);
        struct found found;
        site->unjudged = c.count ? why_unjudged(&s, &c) : VT_JUDGED;
        if (!site->unjudged && c.count && vt_appends_name(site->stack) &&
            vt_growth_appends(&s, &c, i, RHYTHM_RISES, &found))
            site->unjudged = VT_FEW_ROUNDS;
    }
    free(s.so_far);
    free(s.returned);
    free(s.rises);
}
