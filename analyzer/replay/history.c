/* SPDX-License-Identifier: MIT */
/*
 * Each site's live bytes over the run (see history.h). The replay calls these for every event, so
 * they do very little within a bucket.
 */
#include "history.h"

#include <stdlib.h>
#include <string.h>

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
    h->freed_count = 0;
    for (uint32_t i = 0; i < h->thread_count; i++)
        h->threads[i] = (struct vt_history_thread){0};
    h->events = h->allocs = h->frees = h->next_event = 0;
    h->events_at_last_alloc = 0;
}

void vt_history_thread(struct vt_history *h, uint32_t tid) {
    h->thread = vt_map_get(&h->by_tid, tid);
    if (h->thread != VT_MAP_NONE)
        return;
    h->thread = h->thread_count;
    VT_GROW(h->threads, h->thread_count, h->thread_room);
    h->threads[h->thread_count++] = (struct vt_history_thread){0};
    vt_map_put(&h->by_tid, tid, h->thread);
}

void vt_history_turn(struct vt_history *h, uint64_t ticks) {
    while (h->next_edge < h->edge_count && ticks >= h->edges[h->next_edge])
        h->next_edge += h->edges_in_bucket;
    size_t begun = h->next_edge < h->edge_count ? h->next_edge : h->edge_count;
    while (begun > 0 && ticks < h->edges[begun - 1])
        begun--;
    h->after = h->edge_count && ticks >= h->edges_end;
    VT_GROW(h->buckets, h->bucket_count, h->bucket_room);
    h->buckets[h->bucket_count++] = (struct vt_bucket){
        .ticks = ticks,
        .events = h->events,
        .allocs = h->allocs,
        .frees = h->frees,
        .launches = h->launches,
        .iteration = (uint32_t)begun,
        .after = h->after,
    };
    if (h->events >= h->next_event)
        h->next_event = h->events + h->events_in_bucket;
}

static struct vt_site_history *of_site(struct vt_history *h, uint32_t site) {
    if (site >= h->site_room) {
        size_t room = h->site_room ? h->site_room : 64;
        while (room <= site)
            room *= 2;
        h->sites = vt_realloc(h->sites, room, sizeof *h->sites);
        memset(h->sites + h->site_room, 0, (room - h->site_room) * sizeof *h->sites);
        h->site_room = room;
    }
    return &h->sites[site];
}

void vt_history_giving(struct vt_history *h, uint32_t site, uint64_t bytes, uint64_t count) {
    struct vt_site_history *s = of_site(h, site);
    s->given_at = h->ticks;
    if (s->held_at == h->allocs)
        return;
    s->held_at = h->allocs;
    s->held_bytes = bytes;
    s->held_count = count;
}

static uint32_t cut(uint64_t count) {
    return count < UINT32_MAX ? (uint32_t)count : UINT32_MAX;
}

void vt_history_level(struct vt_history *h, uint32_t site, uint64_t bytes, uint64_t count,
                      uint64_t allocs) {
    struct vt_site_history *s = of_site(h, site);
    uint32_t now = h->bucket_count - 1;
    if (!s->count)
        s->thread = h->thread;
    struct vt_sample *last = s->count ? &s->samples[s->count - 1] : NULL;
    if (!last || last->bucket != now) {
        struct vt_sample fresh = {.bucket = now,
                                  .thread_events = h->threads[s->thread].events,
                                  .first_round = h->round,
                                  .oldest_freed = VT_NO_BUCKET};
        if (last) {
            fresh.low_bytes = last->last_bytes;
            fresh.low_count = fresh.high_count = last->last_count;
        }
        VT_GROW(s->samples, s->count, s->room);
        s->samples[s->count++] = fresh;
        last = &s->samples[s->count - 1];
    }
    if (bytes < last->low_bytes)
        last->low_bytes = bytes;
    if (cut(count) < last->low_count)
        last->low_count = cut(count);
    if (cut(count) > last->high_count)
        last->high_count = cut(count);
    last->last_bytes = bytes;
    last->last_count = cut(count);
    last->allocs = cut(allocs);
    last->last_round = h->round;
}

uint32_t vt_history_kept(struct vt_history *h, uint32_t site, uint64_t bytes) {
    struct vt_site_history *s = &h->sites[site];
    s->samples[s->count - 1].kept_bytes += bytes;
    s->samples[s->count - 1].kept_count++;
    s->shared |= s->thread != h->thread;
    s->thread = h->thread;
    if (bytes >= 2 * s->doubled_bytes) {
        s->doublings += s->doubled_bytes > 0;
        s->doubled_in = h->bucket_count - 1;
        s->doubled_bytes = bytes;
    }
    return s->count < VT_NO_SAMPLE ? s->count - 1 : VT_NO_SAMPLE;
}

void vt_history_freed(struct vt_history *h, uint32_t site, uint32_t sample, uint64_t bytes) {
    if (sample == VT_NO_SAMPLE)
        return;
    VT_GROW(h->freed, h->freed_count, h->freed_room);
    h->freed[h->freed_count++] = (struct vt_freed){.site = site,
                                                   .allocated_in = sample,
                                                   .freed_in = h->sites[site].count - 1,
                                                   .given_up = h->ticks < h->program_end,
                                                   .bytes = bytes};
}

void vt_history_settle(struct vt_history *h) {
    for (size_t i = 0; i < h->freed_count; i++) {
        const struct vt_freed *f = &h->freed[i];
        struct vt_sample *first = &h->sites[f->site].samples[f->allocated_in];
        struct vt_sample *last = &h->sites[f->site].samples[f->freed_in];
        first->kept_bytes -= f->bytes;
        first->kept_count--;
        if (first->bucket < last->oldest_freed)
            last->oldest_freed = first->bucket;
    }
    h->freed_count = 0;
}

void vt_history_corrected(struct vt_history *h) {
    vt_history_settle(h);
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
