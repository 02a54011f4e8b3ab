/* SPDX-License-Identifier: MIT */
/*
 * Buckets that are merged as a run gets longer, and samples that are joined where there are many, against a slow
 * book of every event: levels, kept blocks, lives, rounds and iterations in each bucket that is left.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "replay/history.h"

#include <stdlib.h>

enum { SITES = 3, MOST = 20000, LIVE = 64 };

/* A block, and what the slow book knows of each event. */
struct block {
    uint32_t site, sample, event;
    uint64_t bytes;
};
struct event {
    uint32_t site, count[SITES];
    uint64_t bytes[SITES]; /* after it */
    uint64_t kept;         /* of its block; 0: a free, or it was freed since, ... */
    uint32_t freed;        /* ... in this event */
    uint32_t iterations[2];
};

struct run {
    struct vt_history history;
    struct event *events;
    struct block live[LIVE + 1];
    uint32_t event_count, live_count, iterations[2];
    uint64_t bytes[SITES], count[SITES], allocs[SITES];
};

static uint32_t chance(uint32_t *state, uint32_t below) {
    *state = *state * 1664525u + 1013904223u;
    return (*state >> 8) % below;
}

static void note_event(struct run *r, uint32_t site, uint64_t kept) {
    struct event *e = &r->events[r->event_count++];
    *e = (struct event){.site = site, .kept = kept};
    for (uint32_t i = 0; i < SITES; i++) {
        e->bytes[i] = r->bytes[i];
        e->count[i] = (uint32_t)r->count[i];
    }
    e->iterations[0] = r->iterations[0];
    e->iterations[1] = r->iterations[1];
}

/* What the replay does when there are too many buckets. */
static void count_event(struct run *r, bool alloc) {
    vt_history_event(&r->history, r->event_count, alloc);
    if (!r->history.crowded)
        return;
    struct vt_sample_moves moves = vt_history_merge(&r->history);
    for (uint32_t i = 0; i < r->live_count; i++)
        r->live[i].sample = moves.now[moves.first[r->live[i].site] + r->live[i].sample];
    free(moves.first);
    free(moves.now);
}

static void allocate(struct run *r, uint32_t site, uint64_t bytes) {
    struct block *b = &r->live[r->live_count];
    count_event(r, true);
    struct vt_site_history *h = vt_history_of(&r->history, site);
    vt_history_change(&r->history, h, r->bytes[site], r->count[site], r->allocs[site]);
    *b = (struct block){site, 0, r->event_count, bytes};
    b->sample = vt_history_kept(&r->history, h, r->count[site] + 1, r->bytes[site] + bytes, bytes);
    r->live_count++;
    r->bytes[site] += bytes;
    r->count[site]++;
    r->allocs[site]++;
    note_event(r, site, bytes);
}

static void release(struct run *r, uint32_t number) {
    count_event(r, false);
    struct block b = r->live[number];
    struct vt_site_history *h = vt_history_of(&r->history, b.site);
    vt_history_giving(&r->history, h, r->bytes[b.site], r->count[b.site]);
    vt_history_change(&r->history, h, r->bytes[b.site], r->count[b.site], r->allocs[b.site]);
    r->bytes[b.site] -= b.bytes;
    r->count[b.site]--;
    vt_history_freed(&r->history, b.site, h, b.sample, b.bytes, r->bytes[b.site], r->count[b.site]);
    r->live[number] = r->live[--r->live_count];
    r->events[b.event].kept = 0;
    r->events[b.event].freed = r->event_count;
    note_event(r, b.site, 0);
}

static void begin_iteration(struct run *r, uint32_t number) {
    static const uint64_t now[1] = {0};
    if (!r->iterations[number]++) {
        vt_history_name(&r->history, number, now, 1);
        r->history.names[number].edges = true;
    } else {
        vt_history_begin(&r->history, number);
    }
}

static uint32_t bucket_of(const struct vt_history *h, uint32_t event) {
    uint32_t bucket = h->bucket_count - 1;
    while (h->buckets[bucket].events > event)
        bucket--;
    return bucket;
}

/* The longest life of a site's blocks that ended, in buckets. */
static void compare_life(const struct run *r, uint32_t site) {
    const struct vt_site_history *s = &r->history.sites[site];
    uint32_t life = 0, told = 0;
    for (uint32_t e = 0; e < r->event_count; e++)
        if (r->events[e].site == site && r->events[e].freed) {
            uint32_t lived = bucket_of(&r->history, r->events[e].freed) - bucket_of(&r->history, e);
            life = lived > life ? lived : life;
        }
    for (uint32_t n = 0; n < s->count; n++)
        if (s->samples[n].longest_from != VT_NO_BUCKET &&
            s->samples[n].longest_to - s->samples[n].longest_from > told)
            told = s->samples[n].longest_to - s->samples[n].longest_from;
    assert_int_equal(told, life);
}

static void compare(const struct run *r) {
    const struct vt_history *h = &r->history;
    for (uint32_t i = 0; i < SITES; i++) {
        const struct vt_site_history *s = &h->sites[i];
        for (uint32_t n = 0; n < s->count; n++) {
            const struct vt_sample *sample = &s->samples[n];
            uint64_t from = h->buckets[sample->bucket].events;
            uint64_t to = sample->bucket + 1 < h->bucket_count
                              ? h->buckets[sample->bucket + 1].events
                              : r->event_count;
            uint64_t low = from ? r->events[from - 1].bytes[i] : 0, kept = 0, high = 0;
            uint64_t high_bytes = low;
            for (uint64_t e = from; e < to; e++) {
                if (r->events[e].bytes[i] > high_bytes)
                    high_bytes = r->events[e].bytes[i];
                low = r->events[e].bytes[i] < low ? r->events[e].bytes[i] : low;
                high = r->events[e].count[i] > high ? r->events[e].count[i] : high;
                kept += r->events[e].site == i ? r->events[e].kept : 0;
            }
            assert_true(n == 0 || s->samples[n - 1].bucket < sample->bucket);
            assert_int_equal(sample->kept_bytes, kept);
            if (!s->joined || n + 1 == s->count)
                assert_int_equal(sample->last_bytes, r->events[to - 1].bytes[i]);
            if (s->joined) /* other levels are told later than they were */
                continue;
            assert_int_equal(sample->low_bytes, low);
            assert_int_equal(sample->high_bytes, high_bytes);
            assert_true(sample->high_count >= high);
        }
        compare_life(r, i);
    }
    for (uint32_t b = 0; b < h->bucket_count; b++)
        for (uint32_t k = 0; k < 2; k++)
            assert_int_equal(h->buckets[b].iterations[k],
                             r->events[h->buckets[b].events].iterations[k]);
}

/* So many events, an iteration of each name after every so many (0: none). Of so many samples on they are joined;
 * site 0 holds nearly all. */
static void go_joined(uint32_t events, uint32_t outer, uint32_t inner, uint32_t samples,
                      uint32_t seed) {
    struct run r = {.events = calloc(MOST, sizeof *r.events)};
    assert_non_null(r.events);
    vt_history_open(&r.history, UINT64_MAX);
    vt_history_thread(&r.history, 1);
    r.history.sample_most = samples;
    while (r.event_count < events) {
        if (outer && r.event_count % outer == 0)
            begin_iteration(&r, 0);
        if (inner && r.event_count % inner == 0)
            begin_iteration(&r, 1);
        if (r.live_count == LIVE || (r.live_count && chance(&seed, 5) < 2)) {
            release(&r, chance(&seed, r.live_count));
        } else {
            uint32_t site = chance(&seed, SITES);
            allocate(&r, site, (1 + chance(&seed, 1000)) * (site ? 1 : 1u << 20));
        }
    }
    allocate(&r, 0, 1); /* so that all frees count */
    for (uint32_t i = 0; i < SITES; i++)
        vt_history_end_sample(vt_history_of(&r.history, i), r.bytes[i], r.count[i], r.allocs[i]);
    vt_history_end(&r.history);
    compare(&r);
    for (uint32_t i = 0; i < SITES && events > 1000; i++)
        assert_int_equal(r.history.sites[i].joined, i && samples < VT_HISTORY_SAMPLES);
    uint32_t by_events = 2 * VT_HISTORY_BUCKETS, by_name = 2 * VT_HISTORY_BUCKETS;
    assert_in_range(r.history.bucket_count, events < VT_HISTORY_BUCKETS ? 1 : VT_HISTORY_BUCKETS,
                    by_events + 2 * by_name + 1);
    /* few iterations begin a bucket each */
    if (outer && events / outer < 2 * VT_HISTORY_BUCKETS)
        for (uint32_t b = 0, seen = 0; b < r.history.bucket_count; b++) {
            assert_true(r.history.buckets[b].iterations[0] <= seen + 1);
            seen = r.history.buckets[b].iterations[0];
        }
    vt_history_close(&r.history);
    free(r.events);
}

static void go(uint32_t events, uint32_t outer, uint32_t inner, uint32_t seed) {
    go_joined(events, outer, inner, VT_HISTORY_SAMPLES, seed);
}

static void by_events_alone(void **state) {
    (void)state;
    for (uint32_t events = 1; events < MOST - 1; events = events * 3 / 2 + 1)
        go(events, 0, 0, events);
}

static void with_iterations(void **state) {
    (void)state;
    go(MOST - 1, 1000, 0, 1);
    go(MOST - 1, 157, 0, 2); /* nearly as many as buckets */
    go(MOST - 1, 7, 0, 3);   /* more than there are buckets */
    go(MOST - 1, 1000, 10, 4);
    go(300, 30, 3, 5);
}

static void with_many_samples(void **state) {
    (void)state;
    for (uint32_t samples = 5; samples < 500; samples *= 3) {
        go_joined(300, 30, 3, samples, 6);
        go_joined(MOST - 1, 0, 0, samples, 7);
        go_joined(MOST - 1, 1000, 10, samples, 8);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(by_events_alone),
                                       cmocka_unit_test(with_iterations),
                                       cmocka_unit_test(with_many_samples)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
