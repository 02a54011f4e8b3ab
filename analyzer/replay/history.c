/* SPDX-License-Identifier: MIT */
/*
 * Each site's live bytes over the run (see history.h). The replay calls these for every event, so
 * they do very little within a bucket.
 */
#include "history.h"

#include <stdlib.h>
#include <string.h>

static void set_turn(struct vt_history *h) {
    h->turn_ticks = h->after ? UINT64_MAX : h->edges_end;
    if (h->next_edge < h->edge_count && h->edges[h->next_edge] < h->turn_ticks)
        h->turn_ticks = h->edges[h->next_edge];
}

void vt_history_open(struct vt_history *h, uint64_t events, const uint64_t *edges,
                     size_t edge_count, uint64_t edges_end, uint64_t program_end) {
    *h = (struct vt_history){
        .events_in_bucket = (events + VT_HISTORY_BUCKETS - 1) / VT_HISTORY_BUCKETS,
        .edges = edges,
        .edge_count = edge_count,
        .edges_in_bucket = (edge_count + VT_HISTORY_BUCKETS - 1) / VT_HISTORY_BUCKETS,
        .edges_end = edge_count ? edges_end : UINT64_MAX,
        .program_end = program_end,
    };
    if (!h->events_in_bucket)
        h->events_in_bucket = 1;
    set_turn(h);
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
    h->events = h->allocs = h->next_event = 0;
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

void vt_history_turn(struct vt_history *h, uint64_t ticks) {
    while (h->next_edge < h->edge_count && ticks >= h->edges[h->next_edge])
        h->next_edge += h->edges_in_bucket;
    size_t begun = h->next_edge < h->edge_count ? h->next_edge : h->edge_count;
    while (begun > 0 && ticks < h->edges[begun - 1])
        begun--;
    h->after = h->edge_count && ticks >= h->edges_end;
    set_turn(h);
    *VT_ADD(h->buckets, h->bucket_count, h->bucket_room) = (struct vt_bucket){
        .ticks = ticks,
        .events = h->events,
        .allocs = h->allocs,
        .frees = h->events - h->allocs,
        .launches = h->launches,
        .iteration = (uint32_t)begun,
        .after = h->after,
    };
    if (h->events >= h->next_event)
        h->next_event = h->events + h->events_in_bucket;
}

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
        fresh.low_bytes = last->last_bytes;
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
