/* SPDX-License-Identifier: MIT */
/*
 * Merges buckets when there are too many (see history.h), with the sites' samples in them, and joins
 * samples when there are too many. This happens each time the events or the iterations have doubled, or the
 * samples have grown by a quarter.
 */
#include "history.h"

#include <stdlib.h>
#include <string.h>

/* Whether a bucket begins at an iteration that still separates buckets. */
static bool is_edge(const struct vt_history *h, const struct vt_bucket *b) {
    for (uint32_t i = 0; i < VT_HISTORY_NAMES; i++)
        if (b->edges >> i & 1 && h->names[i].edges &&
            (b->iterations[i] - 1) % h->names[i].stride == 0)
            return true;
    return false;
}

static void merge_buckets(struct vt_history *h, uint32_t *now) {
    uint64_t next = 0;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < h->bucket_count; i++) {
        const struct vt_bucket *b = &h->buckets[i];
        bool full = b->events >= next;
        if (full)
            next = b->events + h->events_in_bucket;
        if (full || is_edge(h, b) || (b->rests && i + 1 == h->bucket_count))
            h->buckets[kept++] = *b;
        now[i] = kept - 1;
    }
    h->bucket_count = kept;
    h->next_event = next;
    h->next_turn = next;
}

/* Combines the levels of two samples, whichever stays. */
static void join_levels(struct vt_sample *to, const struct vt_sample *from) {
    to->low_bytes = from->low_bytes < to->low_bytes ? from->low_bytes : to->low_bytes;
    to->low_count = from->low_count < to->low_count ? from->low_count : to->low_count;
    to->high_count = from->high_count > to->high_count ? from->high_count : to->high_count;
    to->high_bytes = from->high_bytes > to->high_bytes ? from->high_bytes : to->high_bytes;
    vt_history_life(to, from->longest_from, from->longest_to);
}

/* Joins two samples of one bucket; `from` is the later one. */
static void join(struct vt_sample *to, const struct vt_sample *from) {
    join_levels(to, from);
    to->kept_count += from->kept_count;
    to->kept_bytes += from->kept_bytes;
    to->last_bytes = from->last_bytes;
    to->last_count = from->last_count;
    to->allocs = from->allocs;
    to->last_round = from->last_round;
}

/* Merges the samples of a site. Fills in their new indices. `all`: also joins samples without kept blocks across
 * buckets. */
static void merge_samples(struct vt_site_history *s, const uint32_t *bucket_now, bool all,
                          uint16_t *now) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < s->count; i++) {
        struct vt_sample sample = s->samples[i], *before = kept ? &s->samples[kept - 1] : NULL;
        sample.bucket = bucket_now[sample.bucket];
        if (sample.longest_from != VT_NO_BUCKET) {
            sample.longest_from = bucket_now[sample.longest_from];
            sample.longest_to = bucket_now[sample.longest_to];
        }
        if (before && before->bucket == sample.bucket) {
            join(before, &sample);
        } else if (before && all && !before->kept_count) {
            join_levels(&sample, before);
            *before = sample;
            s->joined = true;
        } else {
            s->samples[kept++] = sample;
        }
        now[i] = (uint16_t)(kept - 1);
    }
    s->count = kept;
    if (!kept)
        return;
    s->now = &s->samples[kept - 1];
    s->buckets = s->now->bucket + 1;
    s->doubled_in = bucket_now[s->doubled_in];
}

/* Sites that hold, or recently held, more bytes than this are among those that hold most. */
static uint64_t much(const struct vt_history *h) {
    enum { SHARE = 1024 }; /* 1 / SHARE of all sites' bytes */
    uint64_t all = 0;
    for (size_t i = 0; i < h->site_room; i++)
        all += h->sites[i].count ? h->sites[i].now->high_bytes : 0;
    return all / SHARE;
}

struct vt_sample_moves vt_history_merge(struct vt_history *h) {
    bool many = h->sample_count >= h->sample_most;
    uint64_t most = many ? much(h) : 0;
    vt_history_reserve(h); /* freed blocks are not kept */
    while (h->events / h->events_in_bucket >= 2 * VT_HISTORY_BUCKETS)
        h->events_in_bucket *= 2;
    for (uint32_t i = 0; i < VT_HISTORY_NAMES; i++)
        while (h->names[i].stride &&
               h->names[i].count / h->names[i].stride >= 2 * VT_HISTORY_BUCKETS)
            h->names[i].stride *= 2;
    h->crowded = false;
    VT_SCOPED uint32_t *bucket_now = vt_alloc(h->bucket_count, sizeof *bucket_now);
    merge_buckets(h, bucket_now);
    struct vt_sample_moves moves = {.first = vt_alloc(h->site_room, sizeof *moves.first)};
    uint64_t count = 0;
    for (size_t i = 0; i < h->site_room; i++) {
        moves.first[i] = count;
        count += h->sites[i].count;
    }
    moves.now = vt_alloc(count, sizeof *moves.now);
    h->sample_count = 0;
    for (size_t i = 0; i < h->site_room; i++) {
        struct vt_site_history *s = &h->sites[i];
        bool all = many && s->count && s->now->high_bytes <= most;
        merge_samples(s, bucket_now, all, moves.now + moves.first[i]);
        h->sample_count += s->count;
        if (all && s->count < s->room) {
            s->samples = vt_realloc(s->samples, s->room = s->count, sizeof *s->samples);
            s->now = &s->samples[s->count - 1];
        }
    }
    if (h->sample_most < h->sample_count + h->sample_count / 4)
        h->sample_most = h->sample_count + h->sample_count / 4;
    for (size_t i = 0; i < h->freed_count; i++) {
        struct vt_freed *f = &h->freed[i];
        f->allocated_in = moves.now[moves.first[f->site] + f->allocated_in];
        f->freed_in = moves.now[moves.first[f->site] + f->freed_in];
    }
    return moves;
}
