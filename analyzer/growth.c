/* SPDX-License-Identifier: MIT */
/*
 * Growth (see growth.h), from the levels of sites over the run (history.h).
 *
 * What counts is what stayed. The floor of a site at a moment is the least that it held from then
 * on, up to the process's last allocation: all working memory is beneath it, at any scale, and so
 * is a cache that was trimmed, a list that was cleared each epoch. (What is freed after the last
 * allocation is the end of the program, and takes nothing back.) Where the floor rises, memory was
 * taken there that was never given back.
 *
 * A site grows if its floor rises
 *   - often enough, and steadily: the longest pause is a small part of the whole rise;
 *   - until the end: the last pause is no longer than others were;
 *   - without levelling off, as a cache that fills up does: fewer and fewer rises;
 *   - by more than it ever gave back before: else it is one more turn of a cycle;
 *   - with its valleys, the lowest levels of equal windows, trending upwards (Mann-Kendall);
 *   - over iterations: ones that the program marked; or, with none, while memory was also being
 *     given back between the rises, so that the program was going round and not just setting up; or
 *     spread over time as setting up is not.
 * Each of these is tried by marked iterations first, then by the run's own rhythm (its events),
 * then by time.
 */
#include "growth_search.h"

#include "vramtrace/log_format.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_WINDOWS = 64,    /* of valleys */
    MARKED_RISES = 4,     /* at least so many, by marked iterations */
    RHYTHM_RISES = 8,     /* by the run's own rhythm */
    TIME_RISES = 20,      /* by time alone */
    LATE_RISES = 8,       /* where it began late */
    REGULAR_PARTS = 4,    /* the rise is so many times its longest pause, */
    RANDOM_PARTS = 3,     /* or so many where there are */
    RANDOM_RISES = 8,     /* at least these rises: chance spaces them unevenly */
    SAME_PLACE_SITES = 64 /* sites of one place that are judged together, at most */
};
static const double significant = 0.02;

/* ------------------------------------------------------------------------------------------------
 * clocks -- */

static double position(const struct search *s, enum clock_kind kind, uint32_t bucket) {
    const struct vt_bucket *b = &s->history->buckets[bucket];
    switch (kind) {
    case BY_ITERATION:
        return b->iteration;
    case BY_RHYTHM:
        return (double)b->events;
    default:
        return (double)b->ticks;
    }
}

/* The level with which a bucket ends. */
static uint64_t level_after(const struct curve *c, uint32_t bucket) {
    uint32_t low = 0, high = c->count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (c->samples[middle].bucket <= bucket)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? c->samples[low - 1].last_bytes : 0;
}

/* What is looked at on this clock. False: the clock is not there. */
static bool set_scale(const struct search *s, const struct curve *c, enum clock_kind kind,
                      struct scale *scale) {
    const struct vt_history *h = s->history;
    *scale = (struct scale){.kind = kind, .held = c->held};
    scale->end_bucket = s->last_bucket + 1;
    if (kind == BY_ITERATION) {
        if (!s->iterations->count)
            return false;
        uint32_t last = scale->end_bucket;
        while (last > 0 && h->buckets[last - 1].after)
            last--;
        if (last < scale->end_bucket && last) {
            /* what rose in the loop and was given back since is not held */
            uint64_t level = level_after(c, last - 1);
            scale->held = level < c->held ? level : c->held;
        }
        scale->end_bucket = last;
        scale->start = 1;
        /* those in which nothing was allocated count as well */
        scale->end = (double)s->iterations->count + 1;
        return last && scale->end - scale->start >= 5;
    }
    scale->start = kind == BY_TIME ? (double)h->first_alloc : 0;
    scale->end = kind == BY_TIME ? (double)s->end : (double)h->events_at_last_alloc + 1;
    return scale->end > scale->start;
}

/* ------------------------------------------------------------------------------------------------
 * the floor -- */

/* Finds the rises of the floor within the scale, in order; returns how many. Those of one moment of
 * the clock are one. */
static uint32_t find_rises(const struct search *s, const struct curve *c,
                           const struct scale *scale) {
    uint32_t room = s->history->bucket_count + 1, at = room;
    uint64_t floor = scale->held;
    uint32_t i = c->count;
    while (i > 0 && c->samples[i - 1].bucket >= scale->end_bucket)
        i--;
    while (i-- > 0) {
        const struct vt_sample *sample = &c->samples[i];
        /* the bucket of the last allocation also holds what was freed behind it */
        uint64_t low = sample->low_bytes;
        if (sample->bucket == s->last_bucket)
            low = i ? c->samples[i - 1].last_bytes : 0;
        if (low >= floor)
            continue;
        double where = position(s, scale->kind, sample->bucket);
        if (where < scale->start)
            break;
        if (at < room && !(s->rises[at].at > where)) {
            s->rises[at].bytes += floor - low;
            s->rises[at].bucket = sample->bucket;
        } else {
            s->rises[--at] = (struct rise){sample->bucket, where, floor - low};
        }
        floor = low;
    }
    memmove(s->rises, s->rises + at, (room - at) * sizeof *s->rises);
    return room - at;
}

/* ------------------------------------------------------------------------------------------------
 * valleys -- */

/* The lowest levels of `count` equal windows from `start` to the scale's end, then the level at the
 * end. */
static void find_valleys(const struct search *s, const struct curve *c, const struct scale *scale,
                         double start, uint32_t count, double *valleys) {
    double width = (scale->end - start) / count;
    uint64_t level = 0;
    uint32_t i = 0;
    for (; i < c->count && position(s, scale->kind, c->samples[i].bucket) < start; i++)
        level = c->samples[i].last_bytes;
    for (uint32_t w = 0; w < count; w++) {
        double end = start + width * (w + 1);
        uint64_t low = level;
        for (; i < c->count && c->samples[i].bucket < scale->end_bucket; i++) {
            const struct vt_sample *sample = &c->samples[i];
            if (w + 1 < count && position(s, scale->kind, sample->bucket) >= end)
                break;
            if (sample->bucket == s->last_bucket)
                continue;
            if (sample->low_bytes < low)
                low = sample->low_bytes;
            level = sample->last_bytes;
        }
        valleys[w] = (double)low;
    }
    valleys[count] = (double)scale->held;
}

/* The most that is given back between any two of the values. */
static double largest_drop(const double *values, uint32_t count) {
    double high = 0, drop = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (values[i] > high)
            high = values[i];
        if (high - values[i] > drop)
            drop = high - values[i];
    }
    return drop;
}

/* ------------------------------------------------------------------------------------------------
 * the questions -- */

/* Whether rises become fewer, or smaller, towards the end, more than chance would have it. */
static bool levels_off(const struct rise *rises, uint32_t count, double start, double end) {
    double counts[4] = {0}, bytes[4] = {0};
    for (uint32_t i = 0; i < count; i++) {
        int quarter = (int)((rises[i].at - start) / (end - start) * 4);
        quarter = quarter < 0 ? 0 : quarter > 3 ? 3 : quarter;
        counts[quarter]++;
        bytes[quarter] += (double)rises[i].bytes;
    }
    double early = counts[0] + counts[1], late = counts[2] + counts[3];
    if (early - late > 1.6 * sqrt(early + late) ||
        counts[0] - counts[3] > 1.6 * sqrt(counts[0] + counts[3]))
        return true;
    return bytes[2] + bytes[3] < 0.2 * (bytes[0] + bytes[1]);
}

/* Whether the program was going round while this rose: with no iterations marked, memory must have
 * been given back in both halves of the rise (some queue their frees, so not between any two). */
static bool goes_round(const struct search *s, const struct rise *rises, uint32_t count) {
    const struct vt_bucket *buckets = s->history->buckets;
    uint64_t first = buckets[rises[0].bucket].frees;
    uint64_t middle = buckets[rises[(count - 1) / 2].bucket].frees;
    uint64_t last = buckets[rises[count - 1].bucket].frees;
    return middle > first && last > middle && last - first >= 4 && last - first >= count / 16;
}

/* Time alone: rises far enough apart to be the work of iterations, spread to the very end. */
static bool takes_time(const struct search *s, const struct rise *rises, uint32_t count) {
    double span = rises[count - 1].at - rises[0].at;
    double tail = (double)s->end - rises[count - 1].at;
    double ms = 1e6 / s->clock.ns_per_tick;
    return span >= 300 * ms && span / count >= 2 * ms && tail <= span / 8;
}

/* More blocks than before; or else, as with a buffer that is made anew and longer each time, twice of
 * what was ever held in the first quarter. A pool or a queue whose entries change a little in size
 * is neither. */
static bool means_more(const struct search *s, const struct curve *c, const struct rise *first) {
    uint32_t i = 0, quarter = first->bucket + (s->last_bucket - first->bucket) / 4;
    while (i < c->count && c->samples[i].bucket < first->bucket)
        i++;
    uint64_t count = i < c->count ? c->samples[i].low_count : 0, high = 0;
    uint64_t at_once = 0; /* that were live together, early */
    for (; i < c->count && c->samples[i].bucket <= quarter; i++) {
        if (c->samples[i].last_bytes > high)
            high = c->samples[i].last_bytes;
        if (c->samples[i].high_count > at_once)
            at_once = c->samples[i].high_count;
    }
    return c->held_count >= count + 3 || (c->held >= 2 * high && c->held_count <= at_once + 3);
}

/* Asks all of it of the rises from `first` on, `gap` being how long nothing rose before them. */
static bool holds(const struct search *s, const struct curve *c, const struct scale *scale,
                  uint32_t first, uint32_t all, double gap, struct found *found) {
    const struct rise *rises = s->rises + first;
    uint32_t count = all - first;
    uint32_t least = scale->kind == BY_ITERATION ? MARKED_RISES
                     : scale->kind == BY_RHYTHM  ? RHYTHM_RISES
                                                 : TIME_RISES;
    if (count < least)
        return false;
    double start = rises[0].at, span = scale->end - start, longest = 0, before = start;
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (rises[i].at - before > longest)
            longest = rises[i].at - before;
        before = rises[i].at;
        bytes += rises[i].bytes;
    }
    /* a clock that counts in steps: the last rise's own step is not a pause */
    double step = scale->kind == BY_ITERATION ? 1 : 0;
    double tail = scale->end - before - step;
    if (scale->kind == BY_TIME)
        tail = 0; /* takes_time asks */
    if ((tail > 1.5 * longest && tail > span / 25) || span <= 0)
        return false;
    if (tail > longest)
        longest = tail;
    double parts = count >= RANDOM_RISES ? RANDOM_PARTS : REGULAR_PARTS;
    if (span < parts * longest)
        return false;
    /* it must fill the time since it was first seen; one that began late must have begun clearly */
    double active = scale->end - position(s, scale->kind, c->first);
    if (span < 0.25 * active || (span < 0.6 * active && (count < LATE_RISES || gap < 2 * longest)))
        return false;
    if (levels_off(rises, count, start, scale->end))
        return false;
    if (scale->kind == BY_RHYTHM && !goes_round(s, rises, count))
        return false;
    if (scale->kind == BY_TIME && !takes_time(s, rises, count))
        return false;
    double valleys[MOST_WINDOWS + 1];
    uint32_t windows = (uint32_t)(span / longest);
    windows = windows > MOST_WINDOWS ? MOST_WINDOWS : windows < 8 ? 8 : windows;
    if (scale->kind == BY_ITERATION && windows > span)
        windows = (uint32_t)span;
    if (windows < 4)
        return false;
    find_valleys(s, c, scale, start, windows, valleys);
    if (largest_drop(valleys, windows + 1) > 0.5 * (double)bytes)
        return false;
    found->chance = vt_growth_mann_kendall(valleys, windows + 1);
    if (found->chance > significant)
        return false;
    if (start > scale->start) {
        double width = span / windows;
        uint32_t earlier = (uint32_t)((scale->end - scale->start) / width);
        earlier = earlier > MOST_WINDOWS ? MOST_WINDOWS : earlier < 1 ? 1 : earlier;
        find_valleys(s, c, scale, scale->start, earlier, valleys);
        if (largest_drop(valleys, earlier + 1) > 0.5 * (double)bytes)
            return false;
    }
    if (c->held_count && !means_more(s, c, &rises[0]))
        return false;
    found->first_rise = first;
    found->rise_count = count;
    found->bytes = bytes;
    found->scale = *scale;
    return true;
}

/* The earliest beginning from which the rise holds: the first rise of all; behind what may be
 * warming up; else behind the longest pauses. */
static bool find_on(const struct search *s, const struct curve *c, enum clock_kind kind,
                    struct found *found) {
    struct scale scale;
    if (!set_scale(s, c, kind, &scale) || !scale.held)
        return false;
    uint32_t all = find_rises(s, c, &scale);
    if (!all)
        return false;
    if (holds(s, c, &scale, 0, all, 0, found))
        return true;
    double begin = s->rises[0].at, whole = scale.end - begin;
    const double warm[] = {begin + (kind == BY_ITERATION ? 1 : whole / 50), begin + whole / 20,
                           begin + whole / 10, begin + whole / 5};
    uint32_t tried = 0;
    for (size_t i = 0; i < sizeof warm / sizeof *warm; i++) {
        uint32_t first = tried;
        while (first < all && s->rises[first].at < warm[i])
            first++;
        if (first == tried || first == all)
            continue;
        tried = first;
        if (holds(s, c, &scale, first, all, INFINITY, found))
            return true;
    }
    for (uint32_t first = all - 1; first > 0; first--) {
        double gap = s->rises[first].at - s->rises[first - 1].at;
        if (gap * 8 >= whole && holds(s, c, &scale, first, all, gap, found))
            return true;
    }
    return false;
}

static bool find(const struct search *s, const struct curve *c, struct found *found) {
    for (enum clock_kind kind = BY_ITERATION; kind <= BY_TIME; kind++)
        if (find_on(s, c, kind, found))
            return true;
    return false;
}

/* ------------------------------------------------------------------------------------------------
 * one site, and places -- */

static struct curve curve_of(const struct search *s, uint32_t site) {
    const struct vt_site_history *h =
        site < s->history->site_room ? &s->history->sites[site] : NULL;
    struct curve c = {.held = s->replay->sites[site].live_bytes};
    if (!h || !h->count)
        return c;
    c.held_count = s->replay->sites[site].live_count;
    vt_history_held(s->history, site, &c.held, &c.held_count);
    c.samples = h->samples;
    c.count = h->count;
    while (c.count && c.samples[c.count - 1].bucket > s->last_bucket)
        c.count--;
    c.first = h->samples[0].bucket;
    return c;
}

static int by_bucket(const void *a, const void *b) {
    const struct vt_sample *x = a, *y = b;
    if (x->bucket != y->bucket)
        return x->bucket < y->bucket ? -1 : 1;
    return x->allocs < y->allocs ? -1 : x->allocs > y->allocs;
}

/* The levels of several sites together. In a bucket in which several changed, the lowest is taken
 * to be the lowest of each at once: a growth can be missed by that, never made up. */
static struct curve sum_curves(const struct search *s, const uint32_t *sites, uint32_t count) {
    struct curve sum = {0}; /* held_count: not asked of places */
    uint32_t room = 0;
    for (uint32_t i = 0; i < count; i++)
        room += curve_of(s, sites[i]).count;
    struct vt_sample *all = vt_alloc(room, sizeof *all), *out = vt_alloc(room, sizeof *out);
    uint64_t level[SAME_PLACE_SITES] = {0};
    uint32_t n = 0, used = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct curve c = curve_of(s, sites[i]);
        sum.held += c.held;
        for (uint32_t j = 0; j < c.count; j++) {
            all[n] = c.samples[j];
            all[n++].allocs = i; /* whose it is */
        }
    }
    if (n)
        qsort(all, n, sizeof *all, by_bucket);
    uint64_t total = 0;
    for (uint32_t i = 0; i < n;) {
        struct vt_sample sample = {.bucket = all[i].bucket, .low_bytes = total};
        for (; i < n && all[i].bucket == sample.bucket; i++) {
            uint64_t *own = &level[all[i].allocs];
            sample.low_bytes -= *own - (all[i].low_bytes < *own ? all[i].low_bytes : *own);
            total += all[i].last_bytes - *own;
            *own = all[i].last_bytes;
        }
        sample.last_bytes = total;
        out[used++] = sample;
    }
    free(all);
    sum.samples = out;
    sum.count = used;
    sum.first = used ? out[0].bucket : 0;
    return sum;
}

/* Sites of one place that do not grow by themselves, but together do: one line that is reached by
 * many ways, a few times by each. */
static void judge_place(const struct search *s, const uint32_t *sites, uint32_t count,
                        const uint32_t *place, struct vt_process *p) {
    struct curve sum = sum_curves(s, sites, count);
    struct found found;
    if (find(s, &sum, &found)) {
        double from = s->rises[found.first_rise].at;
        for (uint32_t i = 0; i < count; i++) {
            struct curve c = curve_of(s, sites[i]);
            uint32_t n = find_rises(s, &c, &found.scale), first = 0;
            while (first < n && s->rises[first].at < from)
                first++;
            if (first < n)
                vt_growth_describe(s, &found, s->rises + first, n - first, sites[i], p,
                                   &p->sites[place[sites[i]]]);
        }
    }
    free((void *)sum.samples);
}

static void judge_places(const struct search *s, const uint32_t *place, struct vt_process *p) {
    uint32_t count = (uint32_t)s->replay->site_count;
    struct vt_map first_of = {0};
    uint32_t *next = vt_alloc(count, sizeof *next), *heads = vt_alloc(count, sizeof *heads);
    uint32_t head_count = 0;
    for (uint32_t i = count; i-- > 0;) {
        struct vt_site *site = place[i] == VT_NO_SITE ? NULL : &p->sites[place[i]];
        next[i] = VT_NO_SITE;
        if (!site || site->before || site->growth || !site->held_bytes)
            continue;
        uint64_t key = vt_stack_place(site->stack) + vt_mix(site->layer * 256 + site->device);
        uint32_t head = vt_map_get(&first_of, key);
        if (head != VT_MAP_NONE)
            next[i] = head;
        vt_map_put(&first_of, key, i);
    }
    for (size_t i = 0; i < first_of.slots; i++)
        if (first_of.values[i] != VT_MAP_NONE && next[first_of.values[i]] != VT_NO_SITE)
            heads[head_count++] = first_of.values[i];
    for (uint32_t i = 0; i < head_count; i++) {
        uint32_t sites[SAME_PLACE_SITES], n = 0;
        for (uint32_t site = heads[i]; site != VT_NO_SITE && n < SAME_PLACE_SITES;
             site = next[site])
            sites[n++] = site;
        judge_place(s, sites, n, place, p);
    }
    free(next);
    free(heads);
    vt_map_free(&first_of);
}

void vt_growth_find(const struct vt_replay *replay, const struct vt_history *history,
                    const struct vt_iterations *iterations, struct vt_clock clock, uint64_t end,
                    const uint32_t *place, struct vt_process *p) {
    struct search s = {
        .replay = replay, .history = history, .iterations = iterations, .clock = clock, .end = end};
    if (!history->allocs)
        return;
    while (s.last_bucket + 1 < history->bucket_count &&
           history->buckets[s.last_bucket + 1].events <= history->events_at_last_alloc)
        s.last_bucket++;
    s.rises = vt_alloc(history->bucket_count + 1, sizeof *s.rises);
    for (uint32_t i = 0; i < replay->site_count; i++) {
        if (place[i] == VT_NO_SITE)
            continue;
        struct vt_site *site = &p->sites[place[i]];
        struct curve c = curve_of(&s, i);
        struct found found;
        site->held_bytes = site->live_bytes;
        site->held_count = site->live_count;
        vt_history_held(history, i, &site->held_bytes, &site->held_count);
        if (!site->before && c.count && find(&s, &c, &found))
            vt_growth_describe(&s, &found, s.rises + found.first_rise, found.rise_count, i, p,
                               site);
    }
    judge_places(&s, place, p);
    free(s.rises);
}
