/* SPDX-License-Identifier: MIT */
/*
 * Each site's live bytes over the run (see history.h). The replay calls these functions for every event, so they do
 * very little within a bucket.
 */
#include "history.h"

#include <stdlib.h>
#include <string.h>

void vt_history_open(struct vt_history *h, uint64_t program_end) {
    *h = (struct vt_history){
        .events_in_bucket = 1, .program_end = program_end, .sample_most = VT_HISTORY_SAMPLES};
}

static void free_sites(struct vt_history *h) {
    for (size_t i = 0; i < h->site_room; i++)
        free(h->sites[i].samples);
    free(h->sites);
    h->sites = NULL;
    h->site_room = h->sample_count = 0;
}

void vt_history_close(struct vt_history *h) {
    free_sites(h);
    free(h->buckets);
    free(h->freed);
    free(h->threads);
    vt_map_free(&h->by_tid);
    *h = (struct vt_history){0};
}

void vt_history_restart(struct vt_history *h) {
    free_sites(h);
    h->bucket_count = 0;
    h->freed_count = h->freed_sure = 0;
    for (uint32_t i = 0; i < h->thread_count; i++)
        h->threads[i] = (struct vt_history_thread){0};
    h->events = h->allocs = h->next_event = h->next_turn = 0;
    h->events_in_bucket = 1;
    h->crowded = false;
    h->events_at_last_alloc = 0;
    h->thread_since = h->thread_allocs = 0;
}

/* Counts the current thread's events, which are all events since it became current. */
static void leave_thread(struct vt_history *h) {
    uint64_t own = h->events - h->thread_since;
    if (!h->thread_count || !own)
        return;
    struct vt_history_thread *t = &h->threads[h->thread];
    if (h->allocs != h->thread_allocs)
        t->behind = h->events - 1 - h->events_at_last_alloc;
    else
        t->behind = (t->at == h->allocs ? t->behind : 0) + own;
    t->at = h->allocs;
    t->events += own;
    t->last = h->events - 1;
    h->thread_since = h->events;
    h->thread_allocs = h->allocs;
}

static uint64_t thread_events(const struct vt_history *h, uint32_t thread) {
    uint64_t own = thread == h->thread ? h->events - h->thread_since : 0;
    return thread < h->thread_count ? h->threads[thread].events + own : 0;
}

void vt_history_thread(struct vt_history *h, uint32_t tid) {
    leave_thread(h);
    h->thread_since = h->events;
    h->thread_allocs = h->allocs;
    h->thread = vt_map_add(&h->by_tid, tid, h->thread_count);
    if (h->thread == h->thread_count)
        *VT_ADD(h->threads, h->thread_count, h->thread_room) = (struct vt_history_thread){0};
}

/* --- buckets --- */

void vt_history_turn(struct vt_history *h, uint64_t ticks) {
    struct vt_bucket bucket = {
        .ticks = ticks,
        .events = h->events,
        .allocs = h->allocs,
        .frees = h->events - h->allocs,
        .launches = h->launches,
        .edges = h->edges,
        .rests = h->rests,
    };
    for (uint32_t i = 0; i < VT_HISTORY_NAMES; i++)
        bucket.iterations[i] = h->names[i].count;
    *VT_ADD(h->buckets, h->bucket_count, h->bucket_room) = bucket;
    if (h->events >= h->next_event)
        h->next_event = h->events + h->events_in_bucket;
    h->next_turn = h->next_event;
    h->edges = h->rests = 0;
    h->crowded |= h->events / h->events_in_bucket >= 2 * VT_HISTORY_BUCKETS;
}

void vt_history_name(struct vt_history *h, uint32_t number, const uint64_t *ticks, uint32_t count) {
    uint8_t bit = (uint8_t)(1u << number);
    uint32_t begun = 0;
    h->names[number] = (struct vt_history_name){.count = count, .stride = 1};
    for (uint32_t i = 0; i < h->bucket_count; i++) {
        struct vt_bucket *b = &h->buckets[i];
        while (begun < count && ticks[begun] <= b->ticks)
            begun++;
        b->iterations[number] = begun;
        b->edges &= (uint8_t)~bit;
        b->rests &= (uint8_t)~bit;
    }
    h->edges |= bit;
    h->next_turn = h->events;
}

void vt_history_begin(struct vt_history *h, uint32_t number) {
    struct vt_history_name *name = &h->names[number];
    uint8_t bit = (uint8_t)(1u << number);
    bool edge = name->edges && name->count % name->stride == 0;
    name->count++;
    struct vt_bucket *last = h->bucket_count ? &h->buckets[h->bucket_count - 1] : NULL;
    if (edge && h->next_turn != h->events && last && last->rests & bit) {
        /* events between two iterations count for the second */
        last->iterations[number] = name->count;
        last->edges |= bit;
        last->rests &= (uint8_t)~bit;
    } else if (edge) {
        h->edges |= bit;
        h->rests &= (uint8_t)~bit;
        h->next_turn = h->events;
    }
    h->crowded |= name->edges && name->count / name->stride >= 2 * VT_HISTORY_BUCKETS;
}

void vt_history_rest(struct vt_history *h, uint32_t number) {
    if (!h->names[number].edges || h->names[number].stride > 1)
        return;
    h->rests |= (uint8_t)(1u << number);
    h->next_turn = h->events;
}

/* --- sites --- */

void vt_history_reach(struct vt_history *h, uint32_t site) {
    size_t room = h->site_room ? h->site_room : 64;
    while (room <= site)
        room += room / 8; /* not doubled: zeroed memory is resident, used or not */
    h->sites = vt_realloc(h->sites, room, sizeof *h->sites);
    memset(h->sites + h->site_room, 0, (room - h->site_room) * sizeof *h->sites);
    h->site_room = room;
}

void vt_history_sample(struct vt_history *h, struct vt_site_history *s) {
    struct vt_sample *last = s->count ? s->now : NULL;
    if (!last)
        s->thread = h->thread;
    struct vt_sample fresh = {.bucket = h->bucket_count - 1,
                              .thread_events = thread_events(h, s->thread),
                              .first_round = h->round,
                              .longest_from = VT_NO_BUCKET};
    if (last) {
        fresh.low_bytes = fresh.high_bytes = last->last_bytes;
        fresh.low_count = fresh.high_count = last->last_count;
    }
    if (s->count == s->room) { /* if there are a million sites, most have one */
        s->room += s->room < 4 ? 1 : s->room;
        s->samples = vt_realloc(s->samples, s->room, sizeof *s->samples);
    }
    s->now = &s->samples[s->count++];
    *s->now = fresh;
    s->buckets = h->bucket_count;
    h->crowded |= ++h->sample_count >= h->sample_most;
}

static void count_freed(struct vt_history *h) {
    for (size_t i = 0; i < h->freed_sure; i++) {
        const struct vt_freed *f = &h->freed[i];
        struct vt_sample *first = &h->sites[f->site].samples[f->allocated_in];
        struct vt_sample *last = &h->sites[f->site].samples[f->freed_in];
        first->kept_bytes -= f->bytes;
        first->kept_count--;
        vt_history_life(last, first->bucket, last->bucket);
    }
    h->freed_count -= h->freed_sure;
    if (h->freed_count)
        memmove(h->freed, h->freed + h->freed_sure, h->freed_count * sizeof *h->freed);
    h->freed_sure = 0;
}

void vt_history_reserve(struct vt_history *h) {
    count_freed(h);
    if (h->freed_count >= h->freed_room / 2)
        h->freed = vt_realloc(h->freed, h->freed_room = h->freed_room ? h->freed_room * 2 : 64,
                              sizeof *h->freed);
}

void vt_history_end(struct vt_history *h) {
    leave_thread(h);
    count_freed(h);
}

void vt_history_corrected(struct vt_history *h) {
    h->freed_sure = h->freed_count;
    count_freed(h);
    for (size_t i = 0; i < h->site_room; i++)
        h->sites[i].held_at = UINT64_MAX;
}

void vt_history_held(const struct vt_history *h, uint32_t site, uint64_t *bytes, uint64_t *count) {
    const struct vt_site_history *s = site < h->site_room ? &h->sites[site] : NULL;
    if (s && s->held_at == h->allocs && h->allocs) {
        *bytes = s->held_bytes;
        *count = s->held_count;
    }
}

/* --- saving and loading --- */

static void state_site(struct vt_history *h, struct vt_site_history *site, struct vt_state *s) {
    VT_STATE_BUT_TO(s, *site, samples, now);
    VT_STATE_BOOLS(s, site, 1, shared);
    VT_STATE_BOOLS(s, site, 1, joined);
    VT_STATE_ARRAY(s, site->samples, site->count, site->room);
    if (!s->loading)
        return;
    h->sample_count += site->count;
    site->now = site->count ? &site->samples[site->count - 1] : NULL;
    site->buckets = site->count ? site->now->bucket + 1 : 0;
    for (uint32_t i = 0; i < site->count; i++) {
        const struct vt_sample *sample = &site->samples[i];
        vt_state_within(s, sample->bucket, h->bucket_count, "buckets");
        vt_state_expect(s, !i || sample->bucket > sample[-1].bucket, "samples by bucket");
        if (sample->longest_from == VT_NO_BUCKET)
            continue;
        vt_state_within(s, sample->longest_from, h->bucket_count, "buckets");
        vt_state_within(s, sample->longest_to, h->bucket_count, "buckets");
    }
    if (site->count) {
        vt_state_within(s, site->doubled_in, h->bucket_count, "buckets");
        vt_state_within(s, site->thread, h->thread_count, "threads");
    }
}

static void state_sites(struct vt_history *h, uint64_t site_count, struct vt_state *s) {
    enum { LEAST = 64 };
    uint64_t count = h->site_room < site_count ? h->site_room : site_count;
    count = vt_state_count(s, count, sizeof *h->sites / 2, sizeof count);
    vt_state_expect(s, count <= site_count, "no more sites than the replay has");
    if (s->loading && !s->bad) {
        h->site_room = count > LEAST ? count : LEAST;
        h->sites = vt_alloc(h->site_room, sizeof *h->sites);
    }
    for (uint64_t i = 0; i < count && !s->bad; i++)
        state_site(h, &h->sites[i], s);
}

static void state_freed(struct vt_history *h, struct vt_state *s) {
    uint64_t sure = h->freed_sure;
    VT_STATE(s, sure);
    VT_STATE_ARRAY(s, h->freed, h->freed_count, h->freed_room);
    VT_STATE_BOOLS(s, h->freed, h->freed_count, given_up);
    vt_state_expect(s, sure <= h->freed_count, "no more sure frees than frees");
    h->freed_sure = s->bad ? 0 : sure;
    for (size_t i = 0; s->loading && i < h->freed_count; i++) {
        const struct vt_freed *f = &h->freed[i];
        if (!vt_state_within(s, f->site, h->site_room, "sites"))
            break;
        vt_state_within(s, f->allocated_in, h->sites[f->site].count, "a site's samples");
        vt_state_within(s, f->freed_in, h->sites[f->site].count, "a site's samples");
    }
}

/* All fields except the tables. */
static void state_numbers(struct vt_history *h, struct vt_state *s) {
    VT_STATE(s, h->events);
    VT_STATE(s, h->allocs);
    VT_STATE(s, h->round);
    VT_STATE(s, h->launches);
    VT_STATE(s, h->last_alloc);
    VT_STATE(s, h->events_at_last_alloc);
    VT_STATE(s, h->events_in_bucket);
    VT_STATE(s, h->next_event);
    VT_STATE(s, h->next_turn);
    VT_STATE(s, h->sample_most);
    VT_STATE(s, h->edges);
    VT_STATE(s, h->rests);
    vt_state_bool(s, &h->crowded);
    VT_STATE(s, h->names);
    VT_STATE(s, h->thread_since);
    VT_STATE(s, h->thread_allocs);
    VT_STATE(s, h->program_end);
    VT_STATE(s, h->ticks);
    VT_STATE_BOOLS(s, h->names, VT_HISTORY_NAMES, edges);
    for (unsigned i = 0; i < VT_HISTORY_NAMES; i++)
        vt_state_expect(s, h->names[i].stride || !h->names[i].edges, "a stride of iterations");
    vt_state_expect(s, h->events_in_bucket, "events in a bucket");
}

void vt_history_state(struct vt_history *h, uint64_t site_count, struct vt_state *s) {
    VT_STATE_SECTION(s, "history", struct vt_site_history);
    if (s->loading)
        vt_history_close(h);
    state_numbers(h, s);
    VT_STATE_ARRAY(s, h->buckets, h->bucket_count, h->bucket_room);
    VT_STATE_ARRAY(s, h->threads, h->thread_count, h->thread_room);
    vt_state_map(s, &h->by_tid, h->thread_count);
    VT_STATE(s, h->thread);
    vt_state_expect(s, h->thread < h->thread_count || !h->thread, "a thread");
    vt_state_expect(s, h->bucket_count || h->events == h->next_turn, "a first bucket");
    state_sites(h, site_count, s);
    state_freed(h, s);
}
