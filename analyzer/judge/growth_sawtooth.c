/* SPDX-License-Identifier: MIT */
/*
 * Sawtooth growth: a site keeps more and more within an epoch, and drops it at the end, again and
 * again. That is no leak, but it is what fills the device in the midst of an epoch. growth.c calls
 * for each site; judge.c calls for the largest, which gets a note.
 *
 * A tooth rises in many steps, while the program goes round (it frees other memory between them),
 * and falls at once. A backward pass that gives back what the forward pass made falls step by step.
 * Teeth are alike; those of a list that is cleared at random are not, and those of random lives.
 */
#include "growth_search.h"

#include <stdlib.h>

/* A rise that is being followed: indices of samples. */
struct tooth {
    uint32_t first, top; /* the first that rose; the highest */
    uint32_t rises;
    uint64_t base, high; /* bytes: of samples' lowest and last levels */
    uint64_t peak;       /* the highest level of all, which may be in the sample that falls */
};

static bool is_tooth(const struct search *s, const struct curve *c, const struct tooth *t) {
    const struct vt_bucket *buckets = s->history->buckets;
    if (c->samples[t->top].last_count < TOOTH_BLOCKS)
        return false;
    return buckets[c->samples[t->top].bucket].frees > buckets[c->samples[t->first].bucket].frees;
}

/* Whether hardly anything was allocated from the top to the fall. The buckets of both may hold more
 * than the fall. */
static bool falls_at_once(const struct search *s, const struct curve *c, const struct tooth *t,
                          uint32_t fall) {
    const struct vt_history *h = s->history;
    const struct vt_sample *top = &c->samples[t->top];
    uint32_t first = top->bucket + 1, end = c->samples[fall].bucket;
    uint64_t allocs = first < end ? h->buckets[end].allocs - h->buckets[first].allocs : 0;
    return (double)allocs <= (double)top->last_count * TOOTH_CLIFF + (double)h->events_in_bucket;
}

/* Adds a tooth; *least: the height of the lowest so far. */
static void add_tooth(const struct search *s, const struct curve *c, const struct tooth *t,
                      uint64_t *least, struct vt_sawtooth *saw) {
    const struct vt_bucket *buckets = s->history->buckets;
    uint64_t height = t->peak - t->base;
    *least = !*least || height < *least ? height : *least;
    saw->bytes = height > saw->bytes ? height : saw->bytes;
    if (saw->count == VT_TEETH)
        return;
    saw->began[saw->count] = vt_clock_ns(s->clock, buckets[c->samples[t->first].bucket].ticks);
    saw->top[saw->count++] = vt_clock_ns(s->clock, buckets[c->samples[t->top].bucket].ticks);
}

struct vt_sawtooth *vt_growth_sawtooth(const struct search *s, const struct curve *c) {
    struct vt_sawtooth saw = {0};
    struct tooth t = {0};
    uint64_t level = 0, least = 0;
    uint32_t slopes = 0; /* rises that were no teeth */
    for (uint32_t i = 0; i < c->count; i++) {
        const struct vt_sample *sample = &c->samples[i];
        if (sample->high_bytes > t.peak)
            t.peak = sample->high_bytes;
        if (t.rises && sample->low_bytes <= t.base) {
            if (is_tooth(s, c, &t) && falls_at_once(s, c, &t, i))
                add_tooth(s, c, &t, &least, &saw);
            else
                slopes += c->samples[t.top].last_count >= TOOTH_BLOCKS;
            t = (struct tooth){0};
            level = sample->low_bytes;
        }
        if (sample->last_bytes > level) {
            if (!t.rises)
                t = (struct tooth){.first = i, .base = level, .peak = sample->last_bytes};
            t.rises++;
            if (sample->last_bytes > t.high) {
                t.high = sample->last_bytes;
                t.top = i;
            }
        }
        level = sample->last_bytes;
    }
    if (!saw.count || saw.count + is_tooth(s, c, &t) < TEETH || slopes > saw.count ||
        (double)saw.bytes > (double)least * TEETH_ALIKE)
        return NULL;
    struct vt_sawtooth *found = vt_alloc(1, sizeof *found);
    *found = saw;
    return found;
}

/* --- its phase, and what rises with it --- */

/* Whether two sites rise and fall together. */
static bool together(const struct vt_sawtooth *a, const struct vt_sawtooth *b) {
    if (a->count != b->count)
        return false;
    for (uint32_t i = 0; i < a->count; i++)
        if (vt_apart(a->top[i], b->top[i]) > (a->top[i] - a->began[i]) / 4)
            return false;
    return true;
}

/* Whether a phase has a tooth's top, and most of its rise: the rise began in a bucket that may have
 * begun before the phase. */
static bool lies_in(const struct vt_sawtooth *saw, uint32_t tooth, const struct vt_phase *phase) {
    uint64_t began = saw->began[tooth], top = saw->top[tooth];
    return !phase->mark && phase->start <= began + (top - began) / 2 && phase->end >= top;
}

/* The innermost phase of which each has one of the teeth; NULL: there is none. */
static const char *phase_of(const struct vt_process *p, const struct vt_sawtooth *saw) {
    const char *found = NULL;
    for (uint32_t i = 0; i < p->phase_count && p->phases[i].start <= saw->top[0]; i++) {
        const struct vt_phase *first = &p->phases[i];
        uint32_t tooth = 1;
        if (!first->name || !lies_in(saw, 0, first) || lies_in(saw, saw->count - 1, first))
            continue;
        for (uint32_t j = i + 1; j < p->phase_count && tooth < saw->count; j++)
            tooth += p->phases[j].name == first->name && lies_in(saw, tooth, &p->phases[j]);
        if (tooth == saw->count)
            found = first->name;
    }
    return found;
}

static uint64_t peak_of(const struct vt_process *p, const struct vt_site *site) {
    const struct vt_device *device = vt_process_device(p, site->device);
    if (device)
        return device->peak_bytes;
    return site->layer == VT_LAYER_HOST ? p->pinned.peak_bytes : p->managed.peak_bytes;
}

static bool counts(const struct vt_site *site) {
    return site->sawtooth && site->class == VT_CLASS_PROGRAM && !site->growth;
}

/* What this site and those that rise with it keep within a round. */
static void sum_up(const struct vt_process *p, const struct vt_site *site) {
    for (uint32_t i = 0; i < p->site_count; i++) {
        const struct vt_site *other = &p->sites[i];
        if (!counts(other) || other->layer != site->layer || other->device != site->device ||
            !together(site->sawtooth, other->sawtooth))
            continue;
        site->sawtooth->all_bytes += other->sawtooth->bytes;
        site->sawtooth->more += other != site;
    }
}

void vt_sawtooth_weigh(struct vt_process *p) {
    const struct vt_site *largest = NULL;
    for (uint32_t i = 0; i < p->site_count; i++) {
        const struct vt_site *site = &p->sites[i];
        struct vt_sawtooth *saw = site->sawtooth;
        if (!saw)
            continue;
        if (saw->bytes >= peak_of(p, site) / 16) /* few are; a run may have a million phases */
            saw->per = phase_of(p, saw);
        if (counts(site) && (!largest || saw->bytes > largest->sawtooth->bytes))
            largest = site;
    }
    if (!largest)
        return;
    sum_up(p, largest);
    if ((double)largest->sawtooth->all_bytes < (double)peak_of(p, largest) * TOOTH_SHARE)
        largest->sawtooth->all_bytes = 0;
}
