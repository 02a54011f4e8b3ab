/* SPDX-License-Identifier: MIT */
/*
 * Each site's live bytes over the run, in little memory. The run is divided into a few hundred buckets. A site has a
 * sample for each bucket in which it changed, with its lowest and last level.
 *
 * A bucket ends after a fixed number of allocations and frees, and where the program marked the start of an iteration.
 * Unlike times, both are the same in every run of a program. So buckets can be combined into windows by iterations and
 * by events. A short run has a bucket per event. The length of a run is not known in advance: when there are too many
 * buckets, neighbours are merged, and from then on a bucket has twice as many events.
 *
 * A million sites would still have too many samples. Then samples without kept blocks are joined with the next sample
 * of their site, except at the sites that hold most. Kept blocks, their times and lifetimes stay exact; the lowest
 * levels are reported later than they occurred.
 *
 * The replay fills it, analysis/growth.c reads it.
 */
#ifndef VRAMTRACE_ANALYZER_HISTORY_H
#define VRAMTRACE_ANALYZER_HISTORY_H

#include "base/base.h"

/* A long run has at least this many buckets by events, and less than twice as many; each name with edges adds at
 * most the same number by its iterations. Laplace's test needs about a hundred rises if they come at random
 * (doc/GROWTH.md); this is twice as many, at a few kilobytes per site. */
#define VT_HISTORY_BUCKETS 192u
/* The number of phase names that are counted, and the number of them that have edges. */
#define VT_HISTORY_NAMES   8u
#define VT_HISTORY_EDGES   2u
/* Samples are joined once there are this many. */
#define VT_HISTORY_SAMPLES (1u << 21)

struct vt_bucket {
    uint64_t ticks;  /* of its first event */
    uint64_t events; /* allocations and frees before it */
    uint64_t allocs, frees;
    uint64_t launches;                     /* graph launches before it */
    uint32_t iterations[VT_HISTORY_NAMES]; /* by name: how many began before its first event */
    uint8_t edges; /* a bit for each name: the bucket begins with an iteration */
    uint8_t rests; /* likewise: it begins between two iterations */
};

/* A name whose repetitions may be the run's iterations, which iterations.h chooses. */
struct vt_history_name {
    uint32_t count;  /* how many have begun */
    uint32_t stride; /* a bucket begins every `stride` iterations, a power of two; 0: no name */
    bool edges;      /* buckets begin at its iterations */
};

/* A site in one bucket. The lowest level includes the level at the bucket's start. Blocks freed after the process's
 * last allocation count as kept; they are not lifetimes. The levels at the bucket's end and `allocs` are filled in
 * when the site changes again, or at the end of the log: events only need the lowest and highest level. */
struct vt_sample {
    uint32_t bucket;
    uint32_t kept_count; /* allocated in the bucket and never freed */
    uint64_t kept_bytes;
    uint64_t low_bytes, last_bytes, high_bytes;
    uint32_t low_count, high_count, last_count;
    uint32_t allocs;        /* the site's allocations up to the bucket's end, at most UINT32_MAX */
    uint64_t thread_events; /* events of vt_site_history.thread before the first change */
    uint64_t first_round, last_round; /* of its allocations: see operations.h */
    /* the longest lifetime that ended here: buckets of the allocation (VT_NO_BUCKET: none) and of the free */
    uint32_t longest_from, longest_to;
};
#define VT_NO_BUCKET UINT32_MAX
#define VT_NO_SAMPLE UINT16_MAX /* above any index, see VT_HISTORY_BUCKETS */

struct vt_site_history {
    struct vt_sample *samples; /* by bucket */
    struct vt_sample *now;     /* the last sample */
    uint32_t count, room;
    uint32_t buckets; /* vt_history.bucket_count when `now` began; 0: no sample */
    /* held at the process's last allocation, before the frees at exit */
    uint64_t held_bytes, held_count, held_at;
    /* size of its first block, then of each block at least twice as large */
    uint64_t doubled_bytes;
    uint32_t doublings, doubled_in; /* the number of doublings; the bucket of the last */
    uint32_t thread;                /* the last that allocated here, index in vt_history.threads */
    bool shared;                    /* several threads allocated here */
    bool joined;                    /* some of its samples were joined across buckets */
};

#define VT_NO_THREAD UINT32_MAX
struct vt_history_thread { /* for the current thread, as of when it became current */
    uint64_t last;         /* number of its last event among all events */
    uint64_t events;       /* its own events so far */
    uint64_t behind;       /* its events since the process's last allocation, number `at` */
    uint64_t at;
};

/* A block that was freed since the process's last allocation. */
struct vt_freed {
    uint32_t site;
    uint32_t allocated_in, freed_in; /* indices of samples of the site */
    bool given_up; /* freed by the program's own code, before its interpreter ended */
    uint64_t bytes;
};

struct vt_history {
    struct vt_bucket *buckets;
    uint32_t bucket_count, bucket_room;
    size_t sample_count, sample_most; /* of all sites; the count at which samples are joined */
    struct vt_site_history *sites;    /* parallel to vt_replay.sites */
    size_t site_room;
    uint64_t events, allocs; /* so far; the other events are frees */
    uint64_t round;          /* round of the current or last allocation; set by the caller */
    uint64_t launches;       /* graph launches, as counted at the last allocation or at the end */
    uint64_t last_alloc;     /* ticks */
    uint64_t events_at_last_alloc; /* events before it */
    uint64_t events_in_bucket;     /* per bucket, at most */
    uint64_t next_event;           /* where the next bucket by events begins */
    uint64_t next_turn;            /* where the next bucket begins */
    uint8_t edges, rests;          /* as in vt_bucket, for the next bucket */
    bool crowded;                  /* too many buckets or samples: vt_history_merge */
    struct vt_history_name names[VT_HISTORY_NAMES];
    struct vt_history_thread *threads;          /* never empty */
    uint32_t thread, thread_count, thread_room; /* thread: the current one */
    uint64_t thread_since;                      /* events before it became current */
    uint64_t thread_allocs;                     /* and allocations */
    struct vt_map by_tid;
    uint64_t program_end;   /* ticks; see log_format.h */
    uint64_t ticks;         /* of the current free */
    struct vt_freed *freed; /* in order; at the end, those since the last allocation */
    size_t freed_count, freed_room;
    size_t freed_sure; /* how many precede the last allocation: counted when the array is full */
};

/* `program_end`: as in the log's header. Free with vt_history_close. */
void vt_history_open(struct vt_history *history, uint64_t program_end);
void vt_history_close(struct vt_history *history);
/* Saves or reloads a history, for a replay with `site_count` sites (base/saved_state.h). */
void vt_history_state(struct vt_history *history, uint64_t site_count, struct vt_state *s);

/* Forgets everything, because the window begins here. */
void vt_history_restart(struct vt_history *history);

/* Adds the frees after the last allocation, and the current thread's numbers. The caller has already ended the last
 * sample of each site (vt_history_end_sample). */
void vt_history_end(struct vt_history *history);

/* Sets the thread of the following events. Call it before the first event. */
void vt_history_thread(struct vt_history *history, uint32_t tid);

/* --- the program's iterations, by the number of their name --- */

/* Counts a name from now on, in place of the name that had this number. `count` of its iterations have begun, at
 * `ticks`; the last one begins now. */
void vt_history_name(struct vt_history *history, uint32_t number, const uint64_t *ticks,
                     uint32_t count);
/* An iteration begins. */
void vt_history_begin(struct vt_history *history, uint32_t number);
/* All open iterations have ended. */
void vt_history_rest(struct vt_history *history, uint32_t number);

/* --- buckets --- */

/* Begins a new bucket. For vt_history_event alone. */
void vt_history_turn(struct vt_history *history, uint64_t ticks);

/* Indices of samples after a merge: now[first[site] + n] is that of the site's former n-th sample. */
struct vt_sample_moves {
    uint64_t *first;
    uint16_t *now;
};

/* Merges neighbouring buckets, and joins samples if there are too many. Free both arrays of the result. The caller
 * renumbers with it the values that vt_history_kept returned. */
struct vt_sample_moves vt_history_merge(struct vt_history *history);

/* Call it before an allocation or a free. */
static inline void vt_history_event(struct vt_history *h, uint64_t ticks, bool alloc) {
    if (h->events == h->next_turn)
        vt_history_turn(h, ticks);
    if (alloc) {
        h->allocs++;
        h->freed_sure = h->freed_count;
        h->last_alloc = ticks;
        h->events_at_last_alloc = h->events;
    } else {
        h->ticks = ticks;
    }
    h->events++;
}

/* Notes a lifetime in the sample where it ended. */
static inline void vt_history_life(struct vt_sample *s, uint32_t from, uint32_t to) {
    if (from == VT_NO_BUCKET ||
        (s->longest_from != VT_NO_BUCKET && to - from <= s->longest_to - s->longest_from))
        return;
    s->longest_from = from;
    s->longest_to = to;
}

/* For the functions below: make room for a site and for a freed block; begin a site's sample in the current bucket. */
void vt_history_reach(struct vt_history *history, uint32_t site);
void vt_history_reserve(struct vt_history *history);
void vt_history_sample(struct vt_history *history, struct vt_site_history *site);

/* A site's history. Valid until the next call for another site. */
static inline struct vt_site_history *vt_history_of(struct vt_history *h, uint32_t site) {
    if (site >= h->site_room)
        vt_history_reach(h, site);
    return &h->sites[site];
}

/* Ends a site's last sample, with the site's level and its allocations so far. */
static inline void vt_history_end_sample(struct vt_site_history *s, uint64_t bytes, uint64_t count,
                                         uint64_t allocs) {
    if (!s->buckets)
        return;
    s->now->last_bytes = bytes;
    s->now->last_count = count < UINT32_MAX ? (uint32_t)count : UINT32_MAX;
    s->now->allocs = allocs < UINT32_MAX ? (uint32_t)allocs : UINT32_MAX;
}

/* Call it after vt_history_event, before a site's level changes, with its level and its allocations so far. */
static inline void vt_history_change(struct vt_history *h, struct vt_site_history *s,
                                     uint64_t bytes, uint64_t count, uint64_t allocs) {
    if (s->buckets != h->bucket_count) {
        vt_history_end_sample(s, bytes, count, allocs);
        vt_history_sample(h, s);
    }
    s->now->last_round = h->round;
}

/* Call it after an allocation of `bytes`, with the site's blocks and bytes now. Returns the sample to pass to
 * vt_history_freed for this block. For a block from before the window, pass VT_NO_SAMPLE instead. */
static inline uint32_t vt_history_kept(const struct vt_history *h, struct vt_site_history *s,
                                       uint64_t count, uint64_t level, uint64_t bytes) {
    struct vt_sample *now = s->now;
    if (level > now->high_bytes)
        now->high_bytes = level;
    if (count > now->high_count)
        now->high_count = count < UINT32_MAX ? (uint32_t)count : UINT32_MAX;
    now->kept_bytes += bytes;
    now->kept_count++;
    if (s->thread != h->thread) {
        s->shared = true;
        s->thread = h->thread;
    }
    if (bytes >= 2 * s->doubled_bytes) {
        s->doublings += s->doubled_bytes > 0;
        s->doubled_in = h->bucket_count - 1;
        s->doubled_bytes = bytes;
    }
    return s->count < VT_NO_SAMPLE ? s->count - 1 : VT_NO_SAMPLE;
}

/* Call it before a free, with the site's bytes and blocks, which it may have held at the process's last allocation. */
static inline void vt_history_giving(const struct vt_history *h, struct vt_site_history *s,
                                     uint64_t bytes, uint64_t count) {
    if (s->held_at == h->allocs)
        return;
    s->held_at = h->allocs;
    s->held_bytes = bytes;
    s->held_count = count;
}

/* Call it after a free of a block with this sample, with the site's bytes and blocks now. The block counts as freed
 * only if an allocation follows. */
static inline void vt_history_freed(struct vt_history *h, uint32_t site, struct vt_site_history *s,
                                    uint32_t sample, uint64_t size, uint64_t bytes,
                                    uint64_t count) {
    struct vt_sample *now = s->now;
    if (bytes < now->low_bytes)
        now->low_bytes = bytes;
    if (count < now->low_count)
        now->low_count = (uint32_t)count;
    if (count > now->high_count) /* blocks live when the window began */
        now->high_count = count < UINT32_MAX ? (uint32_t)count : UINT32_MAX;
    if (sample == VT_NO_SAMPLE)
        return;
    if (h->freed_count == h->freed_room)
        vt_history_reserve(h);
    h->freed[h->freed_count++] = (struct vt_freed){.site = site,
                                                   .allocated_in = sample,
                                                   .freed_in = s->count - 1,
                                                   .given_up = h->ticks < h->program_end,
                                                   .bytes = size};
    /* the next vt_history_reserve changes its count */
    __builtin_prefetch(&s->samples[sample].kept_bytes, 1);
}

/* Changes `bytes` and `count` from the site's values at the log's end to those at the process's last allocation. */
void vt_history_held(const struct vt_history *history, uint32_t site, uint64_t *bytes,
                     uint64_t *count);

/* Counts the frees since the last allocation as ordinary frees, not as frees at exit. Called when the tracer's live
 * list has corrected the live blocks, or pytest's tests are over. */
void vt_history_corrected(struct vt_history *history);

#endif
