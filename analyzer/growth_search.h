/* SPDX-License-Identifier: MIT */
/*
 * What the search for growth (growth.c) and what is said of one that was found
 * (growth_describe.c) share.
 */
#ifndef VRAMTRACE_ANALYZER_GROWTH_SEARCH_H
#define VRAMTRACE_ANALYZER_GROWTH_SEARCH_H

#include "growth.h"

/* The floor went up by `bytes` in this bucket. */
struct rise {
    uint32_t bucket;
    double at; /* on the clock that is tried */
    uint64_t bytes;
};

enum clock_kind { BY_ITERATION, BY_RHYTHM, BY_TIME };

/* What is common to all sites. */
struct search {
    const struct vt_replay *replay;
    const struct vt_history *history;
    const struct vt_iterations *iterations;
    struct vt_clock clock;
    uint64_t end;         /* ticks */
    uint32_t last_bucket; /* in which the process last allocated */
    struct rise *rises;   /* scratch: as many as there are buckets */
};

/* What one site is, for the search: its samples up to the end that counts. */
struct curve {
    const struct vt_sample *samples;
    uint32_t count; /* of those that count */
    uint64_t held;  /* at the end that counts */
    uint64_t held_count;
    uint32_t first; /* bucket of its first sample */
};

/* A clock as a site sees it. */
struct scale {
    enum clock_kind kind;
    double start, end;   /* of what is looked at, on the clock */
    uint32_t end_bucket; /* exclusive */
    uint64_t held;       /* level at `end` */
};

/* A growth that was found. */
struct found {
    uint32_t first_rise, rise_count; /* in search.rises */
    uint64_t bytes;
    double chance;
    struct scale scale;
};

/* Fills the growth of a site: `rises`, `count` of them, are its own, of a growth that was found for
 * it or for its place. `own`: the replay's index of the site. */
void vt_growth_describe(const struct search *search, const struct found *found,
                        const struct rise *rises, uint32_t count, uint32_t own,
                        struct vt_process *process, struct vt_site *site);

#endif
