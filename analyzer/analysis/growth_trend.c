/* SPDX-License-Identifier: MIT */
/*
 * The rule TREND: does a site keep more and more memory, and would that continue? And the rules for what it leaves open.
 *
 * Memory rises when a block is allocated that is never freed. A block counts once it is older than all freed blocks of
 * its site. Frees after the process's last allocation belong to the end of the program and do not count.
 *
 * A site grows if its rises
 *   - are many, without long pauses (is_steady);
 *   - last until the end (is_steady);
 *   - do not slow down as in a filling cache: Laplace's trend test (slows_down);
 *   - lift the valleys, the lowest levels of equal windows: Mann-Kendall (trends);
 *   - come from a program that repeats something: marked iterations, or frees or graph launches in between
 *     (is_repeating). Weights that are loaded in a row cannot be distinguished from results that are kept in a row.
 *     If memory is freed in between, and the weights are then used, growth_load.c distinguishes them.
 * A queue that fills keeps no block. For it the floor is tested instead: the least that the site held from a moment
 * on. The number of its blocks must rise (fills).
 *
 * The tests run on marked iterations, then on the run's rhythm (its own events), but not on time, which reflects the
 * speed of a program rather than its work. Their limits are in model/growth_rules.def; doc/GROWTH.md explains the statistics.
 */
#include "growth_search.h"

#include <math.h>

/* The input of the tests: rises on a clock. */
struct trial {
    const struct curve *curve;
    struct scale scale;
    bool floor;
    uint32_t first, all; /* of search.rises */
    bool warm;           /* a warm-up was skipped before it */
};

/* --- the tests --- */

/* Whether rises become rarer towards the end, or are too few to rule that out. */
static bool slows_down(const struct rise *rises, uint32_t count, double end, bool warm) {
    struct steadiness steady = vt_growth_steadiness(rises, count, end);
    double least = (warm ? FILLING_WARM : FILLING) + ERRORS_ABOVE * steady.error;
    return steady.mean_position < (least < SURELY ? least : SURELY);
}

/* Whether memory was freed in both halves of the rise. (Not between each two rises: some programs queue their frees.) */
static bool frees_between(const struct search *s, const struct rise *rises, uint32_t count) {
    const struct vt_bucket *buckets = s->history->buckets;
    uint64_t first = buckets[rises[0].bucket].frees;
    uint64_t middle = buckets[rises[(count - 1) / 2].bucket].frees;
    uint64_t last = buckets[rises[count - 1].bucket].frees;
    return middle > first && last > middle;
}

/* Whether graphs were launched in both halves of the rise, and hardly after it: a program that warms up then launches
 * many without allocating. */
static bool launches_between(const struct search *s, const struct rise *rises, uint32_t count) {
    const struct vt_bucket *buckets = s->history->buckets;
    uint64_t first = buckets[rises[0].bucket].launches;
    uint64_t middle = buckets[rises[(count - 1) / 2].bucket].launches;
    uint64_t last = buckets[rises[count - 1].bucket].launches;
    return middle > first && last > middle &&
           (double)(s->history->launches - last) <=
               SPARE_LAUNCHES + TAIL_SHARE * (double)(last - first);
}

/* Whether graphs were launched after the rise: the loaded data is used. */
static bool launches_after(const struct search *s, const struct rise *rises, uint32_t count) {
    const struct vt_bucket *buckets = s->history->buckets;
    return s->history->launches >= buckets[rises[count - 1].bucket].launches + LOADED_USE;
}

/* Whether the program repeated something during the rise. */
static bool is_repeating(const struct search *s, const struct rise *rises, uint32_t count) {
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

/* Whether the rises are many, without long pauses, last to the end and do not slow down. */
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

/* Whether more blocks are allocated than freed: the valleys of their number drift upwards. (Bytes would also rise if a
 * few blocks are replaced by longer ones.) */
static bool fills(const struct search *s, const struct trial *t, uint32_t windows) {
    const struct curve *c = t->curve;
    double valleys[MOST_VALLEYS + 1],
        start = vt_growth_sample_position(s, c, t->scale.kind, c->samples);
    if (start < t->scale.start)
        start = t->scale.start;
    vt_growth_valleys(s, c, &t->scale, start, windows, true, valleys);
    return c->min_age > 0 && drift(valleys, windows + 1) >= DRIFTING;
}

/* The trend of the valleys. A window is as long as the longest pause, if that gives enough windows, so each probably has a rise. */
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
    if (t->scale.kind == BY_RHYTHM && (!is_repeating(s, rises, count) ||
                                       vt_growth_is_load(s, t->curve, t->scale.end, rises, count)))
        return false;
    double chance;
    if (!trends(s, t, &chance))
        return false;
    vt_growth_found(s, t->curve, &t->scale, t->first, count, found);
    found->chance = chance;
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

bool vt_growth_trend(const struct search *s, const struct subject *subject, struct found *found) {
    const struct curve *c = &subject->curve;
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

/* --- suspects, and inconclusive sites --- */

/* Finds the rises of a site that keeps more memory up to the end. Returns their number, in search.rises; 0: it stops
 * earlier. One rise of many blocks may be several iterations that look like one (replay/operations.h). */
static uint32_t rises_to_end(const struct search *s, const struct curve *c, struct scale *scale) {
    if (!vt_growth_scale(s, c, BY_RHYTHM, true, scale))
        return 0;
    uint32_t count = vt_growth_kept(s, c, scale);
    const struct rise *rises = s->rises;
    if (!count || (count == 1 && rises[0].count < RHYTHM_RISES))
        return 0;
    double longest = 0, tail = scale->end - rises[count - 1].until;
    for (uint32_t i = 1; i < count; i++)
        if (rises[i].at - rises[i - 1].at > longest)
            longest = rises[i].at - rises[i - 1].at;
    return tail > longest && tail > TAIL_SHARE * (scale->end - rises[0].at) ? 0 : count;
}

bool vt_growth_to_the_end(const struct search *s, const struct subject *subject,
                          struct found *found) {
    struct scale scale;
    const struct curve *c = &subject->curve;
    uint32_t count = rises_to_end(s, c, &scale);
    if (count < RHYTHM_RISES || is_repeating(s, s->rises, count) ||
        launches_after(s, s->rises, count) || vt_growth_is_load(s, c, scale.end, s->rises, count))
        return false;
    vt_growth_found(s, c, &scale, 0, count, found);
    return true;
}

bool vt_growth_too_few(const struct search *s, const struct subject *subject, struct found *found) {
    struct scale scale;
    uint32_t count = rises_to_end(s, &subject->curve, &scale);
    (void)found;
    return count && count < RHYTHM_RISES;
}
