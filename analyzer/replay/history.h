/* SPDX-License-Identifier: MIT */
/*
 * The course of each site's live bytes over the run, in little memory: the run is cut into some
 * hundred buckets, and each bucket in which a site changed keeps its lowest and its last level.
 *
 * Buckets end after equal numbers of allocations and frees (the same in every run of the same
 * program, unlike time), and wherever the program marked the begin of an iteration: so windows by
 * iterations, by events and by time can all be made of them. A short run has a bucket per event.
 *
 * replay.c fills it, growth.c reads it.
 */
#ifndef VRAMTRACE_ANALYZER_HISTORY_H
#define VRAMTRACE_ANALYZER_HISTORY_H

#include "base/base.h"

/* By events, and at most as many by iterations. Laplace's test needs about a hundred rises where
 * they come by chance (doc/GROWTH.md): this is twice as many, and some kilobytes a site. */
#define VT_HISTORY_BUCKETS 256u

struct vt_bucket {
    uint64_t ticks;         /* of its first event */
    uint64_t events;        /* allocations and frees before it */
    uint64_t allocs, frees; /* of these */
    uint32_t iteration;     /* marked iterations that had begun before its first event */
    bool after;             /* the last marked iteration had ended */
};

/* A site in one bucket. A level is what it held between two events; the lowest includes the level
 * that it began with. Frees after the process's last allocation still count as kept; they are not
 * lifetimes. */
struct vt_sample {
    uint32_t bucket;
    uint32_t allocs; /* of the site, up to the bucket's end (cut at 2^32) */
    uint64_t low_bytes, last_bytes;
    uint32_t low_count, high_count, last_count;
    uint32_t kept_count; /* allocated in it and never freed */
    uint64_t kept_bytes;
    uint64_t
        thread_events;     /* of the thread that allocates here, before the bucket's first change */
    uint32_t oldest_freed; /* of the blocks that were freed in it, in which bucket the oldest was
                              allocated; VT_NO_BUCKET: none was freed */
};
#define VT_NO_BUCKET UINT32_MAX
#define VT_NO_SAMPLE UINT32_MAX

struct vt_site_history {
    struct vt_sample *samples; /* by bucket */
    uint32_t count, room;
    /* held when the process last allocated anything: before the frees at the end */
    uint64_t held_bytes, held_count, held_at;
    uint32_t thread; /* of vt_history.threads, that last allocated here */
    bool shared;     /* several did */
};

#define VT_NO_THREAD UINT32_MAX
struct vt_history_thread {
    uint64_t last;   /* its last event, among all */
    uint64_t events; /* its own, so far */
    uint64_t behind; /* of these, since the last allocation of all, which was number `at` */
    uint64_t at;
};

/* A block that was freed since the last allocation. */
struct vt_freed {
    uint32_t site;
    uint32_t born, died; /* samples of the site */
    uint64_t bytes;
};

struct vt_history {
    struct vt_bucket *buckets;
    uint32_t bucket_count, bucket_room;
    struct vt_site_history *sites; /* by the replay's index */
    size_t site_room;
    uint64_t events, allocs, frees;   /* so far; at the end: all */
    uint64_t first_alloc, last_alloc; /* ticks */
    uint64_t events_at_last_alloc;    /* before it */
    uint64_t events_in_bucket;        /* what one by events may hold */
    uint64_t next_event;              /* where the next one by events begins */
    const uint64_t *edges;            /* ticks at which marked iterations begin; not ours */
    size_t edge_count, next_edge;
    size_t edges_in_bucket;
    uint64_t edges_end; /* ticks at which the last of them ended */
    bool after;
    struct vt_history_thread *threads;          /* there is always one */
    uint32_t thread, thread_count, thread_room; /* thread: whose events come now */
    struct vt_map by_tid;
    struct vt_freed *freed; /* booked when the next allocation comes */
    size_t freed_count, freed_room;
};

/* `events`: about how many will come. `edges`: begins of marked iterations, in order (0: none);
 * they must outlive it. */
void vt_history_open(struct vt_history *history, uint64_t events, const uint64_t *edges,
                     size_t edge_count, uint64_t edges_end);
void vt_history_close(struct vt_history *history);

/* Forgets everything: the window begins here. */
void vt_history_restart(struct vt_history *history);

/* The events that follow are this thread's. To be called before the first. */
void vt_history_thread(struct vt_history *history, uint32_t tid);

/* Begins a new bucket; books what was freed. For vt_history_event alone. */
void vt_history_turn(struct vt_history *history, uint64_t ticks);
void vt_history_settle(struct vt_history *history);

/* An allocation or a free is about to be booked. */
static inline void vt_history_event(struct vt_history *h, uint64_t ticks, bool alloc) {
    if (h->events == h->next_event ||
        (h->next_edge < h->edge_count && ticks >= h->edges[h->next_edge]) ||
        (!h->after && ticks >= h->edges_end))
        vt_history_turn(h, ticks);
    if (alloc) {
        if (h->freed_count)
            vt_history_settle(h);
        if (!h->allocs)
            h->first_alloc = ticks;
        h->allocs++;
        h->last_alloc = ticks;
        h->events_at_last_alloc = h->events;
    } else {
        h->frees++;
    }
    struct vt_history_thread *t = &h->threads[h->thread];
    if (t->at != h->allocs) {
        t->at = h->allocs;
        t->behind = 0;
    }
    t->behind += !alloc;
    t->events++;
    t->last = h->events;
    h->events++;
}

/* A site is about to free a block: what it holds now, it held at the last allocation. */
void vt_history_giving(struct vt_history *history, uint32_t site, uint64_t bytes, uint64_t count);

/* A site's level has changed. `allocs`: its allocations so far. */
void vt_history_level(struct vt_history *history, uint32_t site, uint64_t bytes, uint64_t count,
                      uint64_t allocs);

/* A block of the site, whose level has just been noted, was allocated: the sample to give to
 * vt_history_freed when it goes. VT_NO_SAMPLE there: it is from before the window. */
uint32_t vt_history_kept(struct vt_history *history, uint32_t site, uint64_t bytes);
/* It is freed; the site's level has just been noted. */
void vt_history_freed(struct vt_history *history, uint32_t site, uint32_t sample, uint64_t bytes);

/* What the site held when the process last allocated; `bytes` and `count`: what it holds at the
 * end. */
void vt_history_held(const struct vt_history *history, uint32_t site, uint64_t *bytes,
                     uint64_t *count);

#endif
