/* SPDX-License-Identifier: MIT */
/*
 * Evicts details of a replay, so that the summary of a run of weeks does not grow with its length (see walk.h).
 */
#include "walk.h"

#include <stdlib.h>
#include <string.h>

enum {
    PHASES = 4096,  /* the number of last ended phases that stay, and of names with sums */
    OBJECTS = 1024, /* the number of last destroyed objects that stay */
    SAMPLES = 8,    /* there are many samples above this average per site */
};

/* --- phases --- */

/* The kept phases of a name: index + 1; 0: none yet. */
struct extremes {
    size_t first, last, peak, rise, length;
};

struct letting_go {
    struct vt_replay *r;
    const struct vt_log *log;
    uint64_t now;
    uint32_t *sum_of; /* by name, in pairs: for phases, for marks; VT_MAP_NONE: not known yet */
    struct vt_map by_name;
    struct extremes *extremes; /* parallel to the sums */
};

static uint64_t rise_of(const struct vt_replay_phase *phase) {
    return vt_beyond(phase->peak_bytes, phase->live_at_start);
}

static uint64_t length_of(const struct vt_log_phase *phase) {
    return vt_beyond(phase->ended, phase->began);
}

/* Whether the phase can no longer change. */
static bool is_over(const struct letting_go *g, size_t i) {
    const struct vt_replay_phase *replayed = &g->r->phases[i];
    return g->log->phases[i].ended < g->now && (!replayed->seen || replayed->ended);
}

/* The sum for phases of this name; a new one if the phase is the first of its group. */
static uint32_t find_sum(struct letting_go *g, const struct vt_log_phase *phase) {
    struct vt_replay *r = g->r;
    bool mark = !phase->range, known = phase->name != VT_MAP_NONE;
    uint32_t *sum = known ? &g->sum_of[2 * (size_t)phase->name + mark] : NULL;
    if (sum && *sum != VT_MAP_NONE)
        return *sum;
    VT_SCOPED char *name = known ? vt_phase_group_name(g->log->names[phase->name]) : vt_strdup("");
    uint64_t key = vt_mix(vt_hash_bytes(1 + known, name, strlen(name)) + mark);
    uint32_t index = vt_map_get(&g->by_name, key);
    if (index == VT_MAP_NONE && r->phase_sum_count < VT_PHASE_SUMS) {
        index = r->phase_sum_count;
        *VT_ADD(r->phase_sums, r->phase_sum_count, r->phase_sum_room) =
            (struct vt_replay_phase_sum){.name = phase->name, .mark = mark};
        vt_map_put(&g->by_name, key, index);
    }
    if (index == VT_MAP_NONE) /* too many names */
        index = VT_PHASE_SUMS - 1;
    if (sum)
        *sum = index;
    return index;
}

static void keep_extremes(struct letting_go *g, size_t i) {
    const struct vt_log_phase *phases = g->log->phases;
    const struct vt_replay_phase *replayed = g->r->phases;
    struct extremes *e = &g->extremes[find_sum(g, &phases[i])];
    if (!e->first)
        *e = (struct extremes){i + 1, i + 1, i + 1, i + 1, i + 1};
    e->last = i + 1;
    if (replayed[i].peak_bytes > replayed[e->peak - 1].peak_bytes)
        e->peak = i + 1;
    if (rise_of(&replayed[i]) > rise_of(&replayed[e->rise - 1]))
        e->rise = i + 1;
    if (length_of(&phases[i]) > length_of(&phases[e->length - 1]))
        e->length = i + 1;
}

/* Whether two names differ in their visible part; both or neither are known. */
static bool differ(const struct vt_log *log, uint32_t a, uint32_t b) {
    if (a == b || a == VT_MAP_NONE || b == VT_MAP_NONE)
        return a != b;
    size_t length = vt_phase_operator_length(log->names[a]);
    return length != vt_phase_operator_length(log->names[b]) ||
           memcmp(log->names[a], log->names[b], length) != 0;
}

static void sum_up(struct letting_go *g, size_t i) {
    const struct vt_log_phase *phase = &g->log->phases[i];
    const struct vt_replay_phase *replayed = &g->r->phases[i];
    struct vt_replay_phase_sum *sum = &g->r->phase_sums[find_sum(g, phase)];
    sum->count++;
    sum->rose += vt_beyond(replayed->live_at_end, replayed->live_at_start);
    sum->fell += vt_beyond(replayed->live_at_start, replayed->live_at_end);
    sum->several |= differ(g->log, sum->name, phase->name);
}

static void set(uint8_t *bits, size_t number) {
    if (number)
        bits[(number - 1) / 8] |= (uint8_t)(1 << (number - 1) % 8);
}

/* Sums up the evicted phases, and returns a bit for each phase that stays. Free it. */
static uint8_t *choose(struct letting_go *g) {
    struct vt_replay *r = g->r;
    const struct vt_log *log = g->log;
    uint8_t *keep = vt_alloc(log->phase_count / 8 + 1, 1);
    size_t last = 0;
    for (size_t i = 0; i < r->phase_count; i++)
        if (is_over(g, i))
            keep_extremes(g, i);
    for (uint32_t i = 0; i < r->phase_sum_count; i++) {
        const struct extremes *e = &g->extremes[i];
        set(keep, e->first);
        set(keep, e->last);
        set(keep, e->peak);
        set(keep, e->rise);
        set(keep, e->length);
    }
    for (size_t i = log->phase_count; i-- > 0;) {
        if (i >= r->phase_count || !is_over(g, i) || last++ < PHASES)
            set(keep, i + 1);
        else if (!(keep[i / 8] >> i % 8 & 1))
            sum_up(g, i);
    }
    return keep;
}

static void evict_phases(struct vt_walk *w, struct vt_log *log) {
    struct vt_replay *r = w->r;
    struct letting_go g = {.r = r, .log = log, .now = w->now};
    size_t over = 0, kept = 0;
    for (size_t i = 0; i < r->phase_count; i++)
        over += is_over(&g, i);
    if (over < 2 * PHASES)
        return;
    g.sum_of = vt_alloc(2 * log->name_count, sizeof *g.sum_of);
    memset(g.sum_of, 0xff, 2 * log->name_count * sizeof *g.sum_of);
    g.extremes = vt_alloc(VT_PHASE_SUMS, sizeof *g.extremes);
    for (uint32_t i = 0; i < r->phase_sum_count; i++) {
        const struct vt_replay_phase_sum *sum = &r->phase_sums[i];
        bool known = sum->name != VT_MAP_NONE;
        VT_SCOPED char *name = known ? vt_phase_group_name(log->names[sum->name]) : vt_strdup("");
        vt_map_put(&g.by_name, vt_mix(vt_hash_bytes(1 + known, name, strlen(name)) + sum->mark), i);
    }
    VT_SCOPED uint8_t *keep = choose(&g);
    for (size_t i = 0; i < r->phase_count; i++)
        if (keep[i / 8] >> i % 8 & 1)
            r->phases[kept++] = r->phases[i];
    r->phase_count = kept;
    vt_log_keep_phases(log, keep);
    free(g.sum_of);
    free(g.extremes);
    vt_map_free(&g.by_name);
}

/* --- objects --- */

static void evict_objects(struct vt_walk *w) {
    struct vt_replay *r = w->r;
    size_t gone = 0, kept = 0;
    for (size_t i = 0; i < r->object_count; i++)
        gone += r->objects[i].destroyed != VT_TICKS_MASK;
    if (gone < 2 * OBJECTS)
        return;
    vt_map_free(&w->objects);
    for (size_t i = 0; i < r->object_count; i++) {
        if (r->objects[i].destroyed != VT_TICKS_MASK && gone-- > OBJECTS)
            continue;
        r->objects[kept] = r->objects[i];
        vt_walk_enter_object(w, (uint32_t)kept++);
    }
    r->object_count = kept;
}

void vt_walk_evict(struct vt_walk *w, struct vt_log *log) {
    if (w->pictures)
        vt_pictures_evict(w->pictures);
    evict_objects(w);
    evict_phases(w, log);
    vt_owned_evict(w, log);
}

/* Joins samples as for a million sites (history.h), but earlier. */
static bool join_samples(struct vt_walk *w) {
    struct vt_history *h = w->history;
    if (!h || h->sample_count < SAMPLES * w->r->site_count)
        return false;
    size_t before = h->sample_count;
    h->sample_most = before / 2;
    vt_walk_merge_buckets(w);
    return h->sample_count < before - before / 8;
}

bool vt_walk_evict_more(struct vt_walk *w, struct vt_log *log) {
    return join_samples(w) || vt_walk_evict_sites(w, log);
}
