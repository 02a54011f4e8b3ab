/* SPDX-License-Identifier: MIT */
/*
 * What the files of the search for growth share: growth.c has the tests, growth_curve.c their data,
 * trend.c the statistics, growth_describe.c the figures that are reported.
 */
#ifndef VRAMTRACE_ANALYZER_GROWTH_SEARCH_H
#define VRAMTRACE_ANALYZER_GROWTH_SEARCH_H

#include "judge.h"

/* Blocks were allocated in this bucket that were never freed. */
struct rise {
    uint32_t bucket;
    double at;      /* on the clock that is tried */
    uint64_t bytes; /* more than 0 */
    uint64_t count; /* blocks; by the floor: as many as the bytes make, at least 1 */
};

enum clock_kind { BY_ITERATION, BY_RHYTHM, BY_TIME };

/* The same for all sites. */
struct search {
    const struct vt_replay *replay;
    const struct vt_history *history;
    const struct vt_iterations *iterations;
    struct vt_clock clock;
    const uint32_t *index; /* see vt_growth_find */
    bool python;           /* an interpreter's process */
    uint64_t end;          /* ticks */
    uint32_t last_bucket;  /* in which the process last allocated */
    struct rise *rises;    /* scratch: as many as there are buckets */
};

/* One site: its samples up to the process's last allocation. */
struct curve {
    const struct vt_sample *samples;
    uint32_t count;
    uint64_t held; /* at the last allocation */
    uint64_t held_count;
    uint32_t first;      /* bucket of its first sample */
    bool freed_all;      /* nothing of it was live at the very end */
    bool one_thread;     /* one thread allocated all: its own events are the rhythm */
    uint64_t thread_end; /* of these, up to the process's last allocation */
    double min_age;      /* events: younger blocks may still be freed, as others were */
};

/* A clock as a site sees it. */
struct scale {
    enum clock_kind kind;
    double start, end;   /* of what is looked at, on the clock */
    uint32_t end_bucket; /* exclusive */
    uint64_t held;       /* level at `end` */
    bool whole;          /* to the end of the run, or of its iterations: nothing is too young */
};

/* How evenly rises come, from the first to the end. */
struct steadiness {
    double mean_position; /* of the blocks in the span, 0 to 1: 0.5 when steady */
    double error;         /* its standard error */
    double dispersion; /* variance of their number over its mean: 0 like clockwork, 1 by chance */
};

/* A growth that was found. */
struct found {
    uint32_t first_rise, rise_count; /* in search.rises */
    uint32_t begin;                  /* bucket of the first */
    bool one_thread;                 /* of one thread: see struct curve */
    double chance;
    struct scale scale;
};

/* --- growth_curve.c --- */

/* The curve of a site; of the sites of one line, of which the caller frees `samples`. */
struct curve vt_growth_curve(const struct search *search, uint32_t site);
struct curve vt_growth_curve_of_line(const struct search *search, const uint32_t *sites,
                                     uint32_t count);

/* Where a bucket begins on a clock; the same of a sample, by the rhythm on its thread's own clock. */
double vt_growth_position(const struct search *search, enum clock_kind kind, uint32_t bucket);
double vt_growth_sample_position(const struct search *search, const struct curve *curve,
                                 enum clock_kind kind, const struct vt_sample *sample);

/* The part of the run to look at, on this clock; `old`: only as long as blocks are old enough to be
 * judged. False: there is no such clock, or no such part. */
bool vt_growth_scale(const struct search *search, const struct curve *curve, enum clock_kind kind,
                     bool old, struct scale *scale);

/* Fills search.rises in order; returns how many. Rises at the same moment of the clock are merged.
 * `kept`: of blocks that were allocated within the scale and never freed. `floor`: of the least
 * that was held from then on. */
uint32_t vt_growth_kept(const struct search *search, const struct curve *curve,
                        const struct scale *scale);
uint32_t vt_growth_floor(const struct search *search, const struct curve *curve,
                         const struct scale *scale);

/* The lowest levels of `count` equal windows from `start` to the scale's end, then the level at the
 * end: count + 1 values. */
void vt_growth_valleys(const struct search *search, const struct curve *curve,
                       const struct scale *scale, double start, uint32_t count, double *valleys);

/* --- trend.c --- */

/* Of rises 1 to count - 1, over the span that begins with rise 0. `count` is at least 3. */
struct steadiness vt_growth_steadiness(const struct rise *rises, uint32_t count, double end);

/* --- growth_describe.c --- */

/* Fills the growth of a site: `rises`, `count` of them, are its own, of a growth that was found for
 * it or for its line. `own`: the replay's index of the site. */
void vt_growth_describe(const struct search *search, const struct found *found,
                        const struct rise *rises, uint32_t count, uint32_t own,
                        struct vt_process *process, struct vt_site *site);

/* Mann-Kendall: the one-sided probability that `count` values without a trend rise as these do;
 * ties are corrected for. 1 where there are fewer than four, or no two that differ. */
double vt_growth_mann_kendall(const double *values, uint32_t count);

#endif
