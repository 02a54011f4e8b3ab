/* SPDX-License-Identifier: MIT */
/*
 * The data for the rules of growth: a site's levels and rises over the run, from the samples of history.c, on one of
 * two clocks: marked iterations, or the run's own events.
 */
#include "growth_search.h"

#include <stdlib.h>
#include <string.h>

/* --- clocks --- */

double vt_growth_position(const struct search *s, enum clock_kind kind, uint32_t bucket) {
    const struct vt_bucket *b = &s->history->buckets[bucket];
    return kind == BY_ITERATION ? b->iterations[s->iterations->number] : (double)b->events;
}

double vt_growth_sample_position(const struct search *s, const struct curve *c,
                                 enum clock_kind kind, const struct vt_sample *sample) {
    return kind == BY_RHYTHM && c->one_thread ? (double)sample->thread_events
                                              : vt_growth_position(s, kind, sample->bucket);
}

/* The level at the end of a bucket. */
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

/* The first bucket that begins after this many events. */
static uint32_t bucket_at(const struct search *s, double events) {
    uint32_t low = 0, high = s->last_bucket + 1;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if ((double)s->history->buckets[middle].events < events)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* A bucket's position on the clock of the site's thread. */
static double thread_position(const struct curve *c, uint32_t bucket) {
    for (uint32_t i = 0; i < c->count; i++)
        if (c->samples[i].bucket >= bucket)
            return (double)c->samples[i].thread_events;
    return (double)c->thread_end;
}

/* Whether a bucket's memory was allocated after the last iteration. A bucket of several iterations that also has later
 * memory counts as later. */
static bool is_after(const struct search *s, uint32_t bucket) {
    uint64_t end = s->iterations->end;
    return s->history->buckets[bucket].ticks >= end ||
           (bucket == s->last_bucket && bucket && s->history->last_alloc > end);
}

bool vt_growth_scale(const struct search *s, const struct curve *c, enum clock_kind kind, bool old,
                     struct scale *scale) {
    const struct vt_history *h = s->history;
    *scale = (struct scale){.kind = kind, .held = c->held, .whole = true};
    scale->end_bucket = s->last_bucket + 1;
    if (kind == BY_ITERATION) {
        if (!s->iterations->count)
            return false;
        uint32_t last = scale->end_bucket;
        while (last > 0 && is_after(s, last - 1))
            last--;
        if (last < scale->end_bucket && last) {
            /* memory of the loop that was freed since is not held */
            uint64_t level = level_after(c, last - 1);
            scale->held = level < c->held ? level : c->held;
        }
        scale->end_bucket = last;
        scale->start = 1;
        /* iterations without allocations count as well */
        scale->end = (double)s->iterations->count + 1;
    } else {
        scale->end =
            c->one_thread ? (double)c->thread_end + 1 : (double)h->events_at_last_alloc + 1;
    }
    double events = (double)h->events_at_last_alloc + 1 - c->min_age;
    if (old && c->min_age > 0) {
        uint32_t cut = events > 0 ? bucket_at(s, events) : 0;
        if (cut < scale->end_bucket) {
            scale->whole = false;
            scale->end_bucket = cut;
            scale->end = kind == BY_RHYTHM && c->one_thread ? thread_position(c, cut)
                                                            : vt_growth_position(s, kind, cut);
        }
    }
    return scale->end_bucket && scale->end > scale->start;
}

/* --- rises --- */

/* Whether all allocations of a sample belong to the iteration in which the sample before ended. */
static bool goes_on(const struct vt_sample *sample, const struct vt_sample *before) {
    return before && sample->first_round == before->last_round &&
           sample->last_round == before->last_round;
}

uint32_t vt_growth_kept(const struct search *s, const struct curve *c, const struct scale *scale) {
    const struct vt_sample *before = NULL;
    uint32_t count = 0;
    for (uint32_t i = 0; i < c->count && c->samples[i].bucket < scale->end_bucket; i++) {
        const struct vt_sample *sample = &c->samples[i];
        double where = vt_growth_sample_position(s, c, scale->kind, sample);
        if (!sample->kept_bytes || where < scale->start)
            continue;
        if (where >= scale->end)
            break;
        if (count && (!(s->rises[count - 1].at < where) || goes_on(sample, before))) {
            s->rises[count - 1].bytes += sample->kept_bytes;
            s->rises[count - 1].count += sample->kept_count;
            s->rises[count - 1].until = where;
        } else {
            s->rises[count++] =
                (struct rise){sample->bucket, where, where, sample->kept_bytes, sample->kept_count};
        }
        before = sample;
    }
    return count;
}

uint32_t vt_growth_floor(const struct search *s, const struct curve *c, const struct scale *scale) {
    uint32_t room = s->history->bucket_count + 1, at = room;
    const struct vt_sample *after = NULL;
    uint64_t floor = scale->held, block = c->held_count ? c->held / c->held_count : 0;
    uint32_t i = c->count;
    while (i > 0 && c->samples[i - 1].bucket >= scale->end_bucket)
        i--;
    /* the process's last allocation may be a temporary whose predecessor is not freed yet */
    if (i >= 2 && c->samples[i - 1].bucket == s->last_bucket &&
        c->samples[i - 2].last_bytes < floor)
        floor = c->samples[i - 2].last_bytes;
    while (i-- > 0) {
        const struct vt_sample *sample = &c->samples[i];
        /* the bucket of the last allocation includes frees after it */
        uint64_t low = sample->low_bytes;
        if (sample->bucket == s->last_bucket)
            low = i ? c->samples[i - 1].last_bytes : 0;
        if (low >= floor)
            continue;
        double where = vt_growth_sample_position(s, c, scale->kind, sample);
        if (where < scale->start)
            break;
        if (at < room && (!(s->rises[at].at > where) || goes_on(sample, after))) {
            s->rises[at].bytes += floor - low;
            s->rises[at].bucket = sample->bucket;
        } else {
            s->rises[--at] = (struct rise){sample->bucket, where, where, floor - low, 0};
        }
        floor = low;
        after = sample;
    }
    for (i = at; i < room; i++)
        s->rises[i].count = block && s->rises[i].bytes > block ? s->rises[i].bytes / block : 1;
    memmove(s->rises, s->rises + at, (room - at) * sizeof *s->rises);
    return room - at;
}

void vt_growth_valleys(const struct search *s, const struct curve *c, const struct scale *scale,
                       double start, uint32_t count, bool blocks, double *valleys) {
    double width = (scale->end - start) / count;
    uint64_t level = 0;
    uint32_t i = 0;
    for (; i < c->count && vt_growth_sample_position(s, c, scale->kind, &c->samples[i]) < start;
         i++)
        level = blocks ? c->samples[i].last_count : c->samples[i].last_bytes;
    for (uint32_t w = 0; w < count; w++) {
        double end = start + width * (w + 1);
        uint64_t valley = level;
        for (; i < c->count && c->samples[i].bucket < scale->end_bucket; i++) {
            const struct vt_sample *sample = &c->samples[i];
            if (w + 1 < count && vt_growth_sample_position(s, c, scale->kind, sample) >= end)
                break;
            if (sample->bucket == s->last_bucket)
                continue;
            uint64_t low = blocks ? sample->low_count : sample->low_bytes;
            valley = low < valley ? low : valley;
            level = blocks ? sample->last_count : sample->last_bytes;
        }
        valleys[w] = (double)valley;
    }
    uint64_t held = blocks ? c->held_count : scale->held;
    valleys[count] = (double)(scale->whole ? held : level);
}

void vt_growth_found(const struct search *s, const struct curve *c, const struct scale *scale,
                     uint32_t first, uint32_t count, struct found *found) {
    found->first_rise = first;
    found->rise_count = found->rises = count;
    found->begin = s->rises[first].bucket;
    found->one_thread = c->one_thread;
    found->chance = 1;
    found->scale = *scale;
}

/* --- curves --- */

/* The age in events from which a block counts as kept: well above the longest lifetime of freed
 * blocks. */
static double find_min_age(const struct search *s, const struct curve *c) {
    const struct vt_history *h = s->history;
    double longest = 0;
    for (uint32_t i = 0; i < c->count; i++) {
        const struct vt_sample *sample = &c->samples[i];
        if (sample->longest_from == VT_NO_BUCKET)
            continue;
        uint64_t end = sample->longest_to < s->last_bucket
                           ? h->buckets[sample->longest_to + 1].events
                           : h->events_at_last_alloc;
        double life = (double)(end - h->buckets[sample->longest_from].events);
        if (life > longest)
            longest = life;
    }
    return longest * OLD_ENOUGH;
}

/* Whether snapshots saw autograd graphs that hold memory of a site. */
static bool is_in_graphs(const struct search *s, uint32_t site) {
    if (s->index[site] == VT_NO_SITE)
        return false;
    const struct vt_owned_list *owned = &s->process->sites[s->index[site]].owned;
    for (uint32_t i = 0; i < owned->count; i++)
        if (owned->owners[i].owner->graph)
            return true;
    return false;
}

struct curve vt_growth_curve(const struct search *s, uint32_t site) {
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
    c.last_ticks = s->replay->sites[site].last_ticks;
    const struct vt_history_thread *thread = &s->history->threads[h->thread];
    c.thread_end = thread->events - (thread->at == s->history->allocs ? thread->behind : 0);
    c.one_thread = !h->shared;
    c.joined = h->joined;
    c.in_graphs = is_in_graphs(s, site);
    c.min_age = find_min_age(s, &c);
    return c;
}

/* Adds a sample of a site to the line's of its bucket. `own`: the site's level before it. The line's sample has only
 * the changes of both levels. */
static void add_sample(const struct vt_sample *from, uint64_t own, struct vt_sample *to) {
    to->low_bytes -= own - (from->low_bytes < own ? from->low_bytes : own);
    to->last_bytes += from->last_bytes - own;
    to->kept_bytes += from->kept_bytes;
    to->kept_count += from->kept_count;
    if (!to->last_round || from->first_round < to->first_round)
        to->first_round = from->first_round;
    if (from->last_round > to->last_round)
        to->last_round = from->last_round;
    if (!to->allocs++)
        to->longest_from = VT_NO_BUCKET;
    vt_history_life(to, from->longest_from, from->longest_to);
}

/* If several sites changed in one bucket, the sum of their lowest levels counts as the lowest. That can hide growth but
 * not create it. */
struct curve vt_growth_curve_of_line(const struct search *s, const uint32_t *sites,
                                     uint32_t count) {
    struct curve sum = {0}; /* held_count: not needed of lines */
    struct vt_sample *all = vt_alloc(s->history->bucket_count, sizeof *all);
    for (uint32_t i = 0; i < count; i++) {
        struct curve c = vt_growth_curve(s, sites[i]);
        sum.held += c.held;
        sum.in_graphs |= c.in_graphs;
        sum.joined |= c.joined;
        sum.last_ticks = c.last_ticks > sum.last_ticks ? c.last_ticks : sum.last_ticks;
        for (uint32_t j = 0; j < c.count; j++)
            add_sample(&c.samples[j], j ? c.samples[j - 1].last_bytes : 0,
                       &all[c.samples[j].bucket]);
    }
    uint64_t level = 0;
    for (uint32_t i = 0; i < s->history->bucket_count; i++) {
        struct vt_sample *sample = &all[i];
        if (!sample->allocs)
            continue;
        sample->bucket = i;
        sample->allocs = 0; /* it counted the sites that changed */
        sample->low_bytes += level;
        level = sample->last_bytes += level;
        all[sum.count++] = *sample;
    }
    sum.samples = all;
    sum.first = sum.count ? all[0].bucket : 0;
    sum.min_age = find_min_age(s, &sum);
    return sum;
}
