/* SPDX-License-Identifier: MIT */
/*
 * For the files that search for growth: growth.c walks the rules of model/growth_rules.def. A rule's functions are in
 * growth_trend.c (a rising trend, and what it leaves open), growth_append.c (one buffer), growth_epochs.c (few long
 * rounds) and growth_returned.c (dropped as its function returned). growth_load.c tells loads from leaks,
 * growth_curve.c has the data, trend.c the statistics; growth_describe.c makes every vt_growth.
 */
#ifndef VRAMTRACE_ANALYZER_GROWTH_SEARCH_H
#define VRAMTRACE_ANALYZER_GROWTH_SEARCH_H

#include "steps.h"

/* The limits: the list says what each is for. */
enum {
#define VT_GROWTH_COUNT(name, value, ...) name = (value),
#include "model/growth_rules.def"
};
#define VT_GROWTH_REAL(name, value, ...) static const double name = (value);
#include "model/growth_rules.def"

/* A bucket with blocks that were never freed. */
struct rise {
    uint32_t bucket;
    double at;      /* position on the clock of the trial */
    double until;   /* of the last of these blocks */
    uint64_t bytes; /* never 0 */
    uint64_t count; /* blocks; a floor's: estimated from the bytes, at least 1 */
};

enum clock_kind { BY_ITERATION, BY_RHYTHM };

/* The program's allocations up to a bucket's begin, and the kept ones among them (growth_load.c). */
struct so_far {
    uint64_t blocks, kept;
    double bytes, kept_bytes;
};

/* The blocks of a site that the program freed between its last allocation and its interpreter's end
 * (growth_returned.c). */
struct returned {
    uint64_t blocks;
    uint64_t left; /* bytes that the program's call sites still held when the last one was freed */
};

/* The input, the same for all sites. */
struct search {
    const struct vt_replay *replay;
    const struct vt_history *history;
    const struct vt_iterations *iterations;
    struct vt_clock clock;
    const uint32_t *index; /* see analysis.h */
    const struct vt_process *process;
    uint32_t last_bucket;      /* the bucket of the process's last allocation */
    struct rise *rises;        /* scratch space, one for each bucket */
    struct so_far *so_far;     /* by bucket, and at the end */
    struct returned *returned; /* by site */
    uint64_t held;             /* by the program's call sites at the last allocation */
    uint64_t newest;           /* ticks at which the last of the program's call sites began */
};

/* One site: its samples up to the process's last allocation. */
struct curve {
    const struct vt_sample *samples;
    uint32_t count;
    uint64_t held; /* at the last allocation */
    uint64_t held_count;
    uint32_t first;      /* bucket of its first sample */
    uint64_t last_ticks; /* of its last allocation */
    bool in_graphs;      /* autograd graphs hold some of it, so it is no weights */
    bool joined;     /* the times of its low levels are unknown: only kept blocks can show growth */
    bool one_thread; /* one thread made all allocations, so its own events are the rhythm */
    uint64_t thread_end; /* that thread's events up to the process's last allocation */
    double min_age;      /* in events: younger blocks may still be freed */
};

/* A clock as a site sees it. */
struct scale {
    enum clock_kind kind;
    double start, end;   /* the part to examine, on the clock */
    uint32_t end_bucket; /* exclusive */
    uint64_t held;       /* level at `end` */
    bool whole; /* reaches the end of the run or of its iterations: no block is too young */
};

/* How evenly rises are spread, from the first to the end. */
struct steadiness {
    double mean_position; /* the blocks' in the span, from 0 to 1: 0.5 if steady */
    double error;         /* its standard error */
    double dispersion;    /* variance of their number over its mean: 0 if regular, 1 if random */
};

/* A growth that was found. */
struct found {
    const uint32_t *sites; /* that grow: indices in the replay; several: of one line */
    uint32_t site_count;
    uint32_t first_rise, rise_count; /* in search.rises */
    uint32_t begin;                  /* bucket of the first */
    bool one_thread;                 /* see struct curve */
    enum vt_growth_rule rule;        /* that found it */
    uint32_t rises;                  /* to show: steps, or rounds, where the rule counts these */
    double chance;                   /* that such a trend is random; 1: found without a trend */
    struct scale scale;
};

/* The subject of a rule: a site, or the sites of one line. */
struct subject {
    struct curve curve;
    const uint32_t *sites; /* indices in the replay */
    uint32_t site_count;
    bool of_line; /* one site of a line that grows: `found` is the line's */
};

/* --- the rules: growth_rules.def says what each finds --- */

/* Whether a rule concerns the subject, and whether it fits. A rule that SHOWS fills `found` except `sites` and `rule`; one
 * that EXCUSES reads it. */
typedef bool vt_growth_applies(const struct search *search, const struct subject *subject);
typedef bool vt_growth_test(const struct search *search, const struct subject *subject,
                            struct found *found);
#define VT_GROWTH_RULE(NAME, stage, applies, test, sentence, in_short)                             \
    vt_growth_applies applies;                                                                     \
    vt_growth_test test;
#include "model/growth_rules.def"

/* --- growth_curve.c --- */

/* The curve of a site, and of all sites of one line; the caller frees `samples` of the latter. */
struct curve vt_growth_curve(const struct search *search, uint32_t site);
struct curve vt_growth_curve_of_line(const struct search *search, const uint32_t *sites,
                                     uint32_t count);

/* Positions on a clock: a bucket's begin; a sample's, which by rhythm is on its thread's own clock. */
double vt_growth_position(const struct search *search, enum clock_kind kind, uint32_t bucket);
double vt_growth_sample_position(const struct search *search, const struct curve *curve,
                                 enum clock_kind kind, const struct vt_sample *sample);

/* Finds the part of the run to examine on this clock; `old`: only while blocks are old enough. False: no such clock, or
 * no such part. */
bool vt_growth_scale(const struct search *search, const struct curve *curve, enum clock_kind kind,
                     bool old, struct scale *scale);

/* Fill search.rises in order and return how many. Rises at the same instant are merged. `kept`:
 * from blocks that were allocated within the scale and never freed. `floor`: of the least bytes held from then on. */
uint32_t vt_growth_kept(const struct search *search, const struct curve *curve,
                        const struct scale *scale);
uint32_t vt_growth_floor(const struct search *search, const struct curve *curve,
                         const struct scale *scale);

/* Fills `found` with `count` rises from `first` on. */
void vt_growth_found(const struct search *search, const struct curve *curve,
                     const struct scale *scale, uint32_t first, uint32_t count,
                     struct found *found);

/* The lowest levels of `count` equal windows from `start` to the scale's end, then the level at the
 * end: count + 1 values. `blocks`: numbers of blocks instead of bytes. */
void vt_growth_valleys(const struct search *search, const struct curve *curve,
                       const struct scale *scale, double start, uint32_t count, bool blocks,
                       double *valleys);

/* --- growth_load.c --- */

/* Fills search.so_far, which the caller frees, and search.newest. */
void vt_growth_load_open(struct search *search);

/* Whether rises look like weights that are loaded and then used: most memory allocated meanwhile is kept, and new call
 * sites began after the curve's last allocation and were active up to `end`. */
bool vt_growth_is_load(const struct search *search, const struct curve *curve, double end,
                       const struct rise *rises, uint32_t count);

/* --- growth_returned.c --- */

/* Fills search.returned, which the caller frees, and search.held. */
void vt_growth_returned_open(struct search *search);

/* --- trend.c --- */

/* The steadiness of rises 1 to count - 1 from rise 0 to `end`. `count` is at least 3. */
struct steadiness vt_growth_steadiness(const struct rise *rises, uint32_t count, double end);

/* --- growth_describe.c --- */

/* The figures of a growth, summed over found->sites. Free it. */
struct vt_growth *vt_growth_describe(const struct search *search, const struct found *found,
                                     const struct vt_process *process);

/* The free bytes of the site's device; VT_UNKNOWN if its size is unknown or the memory has no device. */
uint64_t vt_growth_room(const struct vt_process *process, const struct vt_site *site);

/* A site's part in the growth of its line: the line's figures, with the site's share of the bytes.
 * The `count` `rises` are the site's own. Free it. */
struct vt_growth *vt_growth_part(const struct vt_growth *line, const struct rise *rises,
                                 uint32_t count);

/* The growth of a site that rises in step with another one, in so many rises; `all` are its blocks. Free it. */
struct vt_growth *vt_growth_in_step(const struct vt_growth *with, const struct rise *all,
                                    uint32_t rises);

/* Mann-Kendall: the one-sided probability that `count` values without a trend rise like these, corrected for
 * ties. 1 for fewer than four values, or equal ones. */
double vt_growth_mann_kendall(const double *values, uint32_t count);

#endif
