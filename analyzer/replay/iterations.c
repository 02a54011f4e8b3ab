/* SPDX-License-Identifier: MIT */
/*
 * Chooses the phases that are the run's iterations (see iterations.h).
 */
#include "iterations.h"

#include <stdlib.h>

enum { FEW = VT_ITERATIONS_FEW, ENOUGH = VT_ITERATIONS_ENOUGH };

static uint32_t *depth_of(struct vt_phase_kinds *k, uint32_t tid) {
    uint32_t index = vt_map_add(&k->by_tid, tid, k->depth_count);
    if (index == k->depth_count)
        *VT_ADD(k->depths, k->depth_count, k->depth_room) = 0;
    return &k->depths[index];
}

/* Finds or adds a kind. VT_MAP_NONE: too many kinds. */
static uint32_t find_kind(struct vt_phase_kinds *k, struct vt_phase_name p, uint32_t depth) {
    uint64_t key = vt_mix(vt_mix((uint64_t)p.name << 32 | p.domain) + depth);
    if (k->kind_count == VT_PHASE_KINDS)
        return vt_map_get(&k->by_kind, key);
    uint32_t index = vt_map_add(&k->by_kind, key, k->kind_count);
    if (index == k->kind_count)
        *VT_ADD(k->kinds, k->kind_count, k->kind_room) = (struct vt_phase_kind){
            .name = p.name, .domain = p.domain, .depth = depth, .number = VT_MAP_NONE};
    return index;
}

static void count_part(struct vt_phase_kinds *k, uint32_t kind, uint32_t tid) {
    uint64_t key = vt_mix((uint64_t)kind << 32 | tid);
    uint32_t index = k->part_count < VT_PHASE_KINDS ? vt_map_add(&k->by_part, key, k->part_count)
                                                    : vt_map_get(&k->by_part, key);
    if (index == VT_MAP_NONE)
        return;
    if (index == k->part_count)
        *VT_ADD(k->parts, k->part_count, k->part_room) =
            (struct vt_phase_part){.kind = kind, .tid = tid};
    if (++k->parts[index].count > k->kinds[kind].most)
        k->kinds[kind].most = k->parts[index].count;
}

/* --- the kinds counted in the history --- */

/* Whether kind a is likelier to be chosen than b, by the counts so far. */
static bool is_likelier(const struct vt_phase_kind *a, const struct vt_phase_kind *b) {
    bool a_enough = a->most >= ENOUGH, b_enough = b->most >= ENOUGH;
    if (a_enough != b_enough)
        return a_enough;
    return a->depth < b->depth;
}

/* Lets the history's buckets begin at the iterations of the likeliest kinds. */
static void choose_edges(const struct vt_phase_kinds *k, struct vt_history *h) {
    bool chosen[VT_HISTORY_NAMES] = {0};
    for (unsigned n = 0; n < VT_HISTORY_EDGES && n < k->counted_count; n++) {
        uint32_t best = VT_MAP_NONE;
        for (uint32_t i = 0; i < k->counted_count; i++)
            if (!chosen[i] && (best == VT_MAP_NONE ||
                               is_likelier(&k->kinds[k->counted[i]], &k->kinds[k->counted[best]])))
                best = i;
        chosen[best] = true;
    }
    for (uint32_t i = 0; i < k->counted_count; i++)
        h->names[i].edges = chosen[i];
}

/* Gives a kind with enough repetitions a free number, or the number of a more deeply nested kind. */
static void number_kind(struct vt_phase_kinds *k, struct vt_history *h, uint32_t index) {
    uint32_t number = k->counted_count;
    if (number == VT_HISTORY_NAMES) {
        uint32_t deepest = 0;
        for (uint32_t i = 1; i < VT_HISTORY_NAMES; i++)
            if (k->kinds[k->counted[i]].depth > k->kinds[k->counted[deepest]].depth)
                deepest = i;
        if (k->kinds[k->counted[deepest]].depth <= k->kinds[index].depth)
            return;
        number = deepest;
        k->kinds[k->counted[number]].number = VT_MAP_NONE;
    } else {
        k->counted_count++;
    }
    k->counted[number] = index;
    k->kinds[index].number = number;
    vt_history_name(h, number, k->kinds[index].first, FEW);
}

uint32_t vt_phase_kinds_begin(struct vt_phase_kinds *k, struct vt_history *h,
                              struct vt_phase_name p, uint64_t ticks) {
    uint32_t *depth = depth_of(k, p.tid), index = find_kind(k, p, *depth);
    *depth += p.of_thread;
    if (index == VT_MAP_NONE)
        return index;
    struct vt_phase_kind *kind = &k->kinds[index];
    kind->open += !p.mark;
    if (kind->count < FEW)
        kind->first[kind->count] = ticks;
    kind->count++;
    count_part(k, index, p.tid);
    if (kind->count == FEW)
        number_kind(k, h, index);
    else if (kind->number != VT_MAP_NONE)
        vt_history_begin(h, kind->number);
    if (kind->count == FEW || kind->most == ENOUGH)
        choose_edges(k, h);
    return index;
}

void vt_phase_kinds_end(struct vt_phase_kinds *k, struct vt_history *h, struct vt_phase_name p,
                        uint32_t index, uint64_t ticks) {
    uint32_t *depth = depth_of(k, p.tid);
    *depth -= p.of_thread && *depth;
    if (index == VT_MAP_NONE)
        return;
    struct vt_phase_kind *kind = &k->kinds[index];
    kind->end = ticks;
    if (!--kind->open && kind->number != VT_MAP_NONE)
        vt_history_rest(h, kind->number);
}

/* --- the choice --- */

static uint64_t events_of(const struct vt_history *h, uint32_t tid) {
    uint32_t thread = vt_map_get(&h->by_tid, tid);
    return thread == VT_MAP_NONE ? 0 : h->threads[thread].events;
}

static bool is_better(const struct vt_phase_kinds *k, const struct vt_history *h,
                      const struct vt_phase_part *a, const struct vt_phase_part *b) {
    const struct vt_phase_kind *x = &k->kinds[a->kind], *y = &k->kinds[b->kind];
    bool a_enough = a->count >= ENOUGH, b_enough = b->count >= ENOUGH;
    if (a_enough != b_enough)
        return a_enough;
    uint64_t a_events = events_of(h, a->tid), b_events = events_of(h, b->tid);
    if (a->tid != b->tid && a_events != b_events)
        return a_events > b_events;
    if (x->depth != y->depth)
        return x->depth < y->depth;
    if (a->count != b->count)
        return a->count > b->count;
    return x->name < y->name;
}

struct vt_iterations vt_phase_kinds_choose(const struct vt_phase_kinds *k,
                                           const struct vt_history *h) {
    const struct vt_phase_part *best = NULL;
    for (uint32_t i = 0; i < k->part_count; i++) {
        const struct vt_phase_part *part = &k->parts[i];
        if (part->count >= FEW && k->kinds[part->kind].number != VT_MAP_NONE &&
            (!best || is_better(k, h, part, best)))
            best = part;
    }
    if (!best)
        return (struct vt_iterations){0};
    const struct vt_phase_kind *kind = &k->kinds[best->kind];
    return (struct vt_iterations){.name = kind->name,
                                  .number = kind->number,
                                  .count = kind->count,
                                  .end = kind->open || !kind->end ? VT_TICKS_MASK : kind->end,
                                  .shared = kind->count > best->count};
}

void vt_phase_kinds_free(struct vt_phase_kinds *k) {
    free(k->kinds);
    free(k->parts);
    free(k->depths);
    vt_map_free(&k->by_kind);
    vt_map_free(&k->by_part);
    vt_map_free(&k->by_tid);
    *k = (struct vt_phase_kinds){0};
}

void vt_phase_kinds_state(struct vt_phase_kinds *k, uint64_t name_count, struct vt_state *s) {
    VT_STATE_SECTION(s, "phase kinds", struct vt_phase_kind);
    VT_STATE_ARRAY(s, k->kinds, k->kind_count, k->kind_room);
    VT_STATE_ARRAY(s, k->parts, k->part_count, k->part_room);
    VT_STATE_ARRAY(s, k->depths, k->depth_count, k->depth_room);
    vt_state_map(s, &k->by_kind, k->kind_count);
    vt_state_map(s, &k->by_part, k->part_count);
    vt_state_map(s, &k->by_tid, k->depth_count);
    VT_STATE(s, k->counted);
    VT_STATE(s, k->counted_count);
    vt_state_expect(s,
                    k->kind_count <= VT_PHASE_KINDS && k->part_count <= VT_PHASE_KINDS &&
                        k->counted_count <= VT_HISTORY_NAMES,
                    "kinds of phases, at most 65536");
    for (uint32_t i = 0; s->loading && i < k->kind_count; i++) {
        if (k->kinds[i].name != VT_MAP_NONE)
            vt_state_within(s, k->kinds[i].name, name_count, "names");
        if (k->kinds[i].number != VT_MAP_NONE)
            vt_state_within(s, k->kinds[i].number, VT_HISTORY_NAMES, "counted names");
    }
    for (uint32_t i = 0; s->loading && i < k->part_count; i++)
        vt_state_within(s, k->parts[i].kind, k->kind_count, "kinds of phases");
    for (uint32_t i = 0; i < k->counted_count && !s->bad; i++)
        vt_state_within(s, k->counted[i], k->kind_count, "kinds of phases");
}
