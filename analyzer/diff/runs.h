/* SPDX-License-Identifier: MIT */
/*
 * The comparison of two sets of runs, as `diff --run all` shows it. For cmd_diff_runs.c.
 *
 * Figures belong to a run as a whole, to a line of code on a device, or to all phases of one name: one number per
 * run, 0 for a run without it. Logs are read one at a time, and only these figures are kept.
 */
#ifndef VRAMTRACE_ANALYZER_RUNS_H
#define VRAMTRACE_ANALYZER_RUNS_H

#include "model/model.h"

enum vt_runs_of { VT_RUNS_RUN, VT_RUNS_LINE, VT_RUNS_PHASE };

enum vt_runs_state {
    VT_RUNS_CHANGED, /* by more than noise; figures without noise: at all */
    VT_RUNS_NOISE,   /* within noise */
    VT_RUNS_FEW,     /* different, but there are too few runs to measure noise */
    VT_RUNS_SAME,    /* the same in all runs */
    VT_RUNS_STATES
};

struct vt_runs_figure {
    enum vt_runs_of of;
    enum vt_runs_state state;
    const char *what; /* "peak": maximum; "held": at the end; "left": by all phases of the name */
    char *name;       /* "train.py:41 in step", "epoch *"; NULL: the run */
    unsigned device;  /* for a line: ordinal, or VT_DEVICE_HOST */
    uint64_t *values[2]; /* of the runs before and after; sorted at the end */
    uint64_t median[2], low[2],
        high[2];       /* median: with an even number, the smaller of the middle two */
    double p;          /* negative: not tested */
    uint64_t sites;    /* a line's peak in the current process: the sum over its call sites */
    unsigned layer;    /* for a line */
    uint64_t function; /* common to the lines of one function */
    uint32_t line;
};

struct vt_runs {
    uint32_t runs[2];     /* before, after */
    uint32_t left_out[2]; /* runs that failed, were killed, or lack events; 0 if all did */
    struct vt_runs_figure *figures; /* by state, then by change of the median, largest first */
    uint32_t count, room;
    uint32_t splits; /* number of splits tried; 0: too few runs */
};

/* Compares all runs of two folders. Returns 0, or -errno with `message`; free it in either case. */
int vt_runs_compare(char *const folders[2], const struct vt_model_builder *builder,
                    const struct vt_model_options *options, struct vt_runs *runs,
                    struct vt_string *message);
void vt_runs_free(struct vt_runs *runs);

/* runs_doc.c: adds the figures that changed, or may have; at most `top` of each state. */
struct vt_doc;
void vt_runs_document(const struct vt_runs *runs, char *const folders[2], uint32_t top,
                      struct vt_doc *doc);

/* The change of its median. */
static inline uint64_t vt_runs_change(const struct vt_runs_figure *f) {
    return f->median[0] > f->median[1] ? f->median[0] - f->median[1] : f->median[1] - f->median[0];
}

/* permute.c: sets each p, the chance that any figure has such a statistic if nothing changed. Returns the number of
 * splits tried; 0: there are too few runs. */
#define VT_PERMUTE_CHANCE 0.02 /* a figure changed if its p is at most this */
#define VT_PERMUTE_RUNS   5    /* fewest runs in each set */
uint32_t vt_permute(struct vt_runs_figure *figures, uint32_t count, const uint32_t runs[2]);

#define VT_RUNS_NAME 60 /* most columns of a name */

#endif
