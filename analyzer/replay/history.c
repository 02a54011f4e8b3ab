/* SPDX-License-Identifier: MIT */
/*
 * Each site's live bytes over the run (see history.h). The replay calls these for every event, so
 * they do very little within a bucket.
 */
#include "history.h"

#include <stdlib.h>
#include <string.h>

void vt_history_open(struct vt_history *h, uint64_t program_end) {
    *h = (struct vt_history){.events_in_bucket = 1, .program_end = program_end};
}

static void free_sites(struct vt_history *h) {
    for (size_t i = 0; i < h->site_room; i++)
        free(h->sites[i].samples);
    free(h->sites);
    h->sites = NULL;
    h->site_room = 0;
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

/* Counts the current thread's events, which have been all events since it became that. */
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
        /* what lay between two iterations belongs to the second */
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
        room += room / 8; /* not twice: what is zeroed is there, used or not */
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
                              .oldest_freed = VT_NO_BUCKET};
    if (last) {
        fresh.low_bytes = fresh.high_bytes = last->last_bytes;
        fresh.low_count = fresh.high_count = last->last_count;
    }
    if (s->count == s->room) { /* most of a million sites have one */
        s->room = s->room ? 2 * s->room : 1;
        s->samples = vt_realloc(s->samples, s->room, sizeof *s->samples);
    }
    s->now = &s->samples[s->count++];
    *s->now = fresh;
    s->buckets = h->bucket_count;
}

static void count_freed(struct vt_history *h) {
    for (size_t i = 0; i < h->freed_sure; i++) {
        const struct vt_freed *f = &h->freed[i];
        struct vt_sample *first = &h->sites[f->site].samples[f->allocated_in];
        struct vt_sample *last = &h->sites[f->site].samples[f->freed_in];
        first->kept_bytes -= f->bytes;
        first->kept_count--;
        if (first->bucket < last->oldest_freed)
            last->oldest_freed = first->bucket;
    }
    h->freed_count -= h->freed_sure;
    if (h->freed_count)
        memmove(h->freed, h->freed + h->freed_sure, h->freed_count * sizeof *h->freed);
    h->freed_sure = 0;
}

void vt_history_settle(struct vt_history *h) {
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
