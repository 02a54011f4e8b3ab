/* SPDX-License-Identifier: MIT */
/*
 * The comparison of two sets of runs, as `diff --run all` shows it. For cmd_diff_runs.c.
 *
 * Figures are of a run as a whole, of a line of code on a device, and of all phases of one name: one number for each
 * run, 0 where a run does not have it. Logs are read one at a time, and nothing else of them is kept.
 */
#ifndef VRAMTRACE_ANALYZER_RUNS_H
#define VRAMTRACE_ANALYZER_RUNS_H

#include "model/model.h"

enum vt_runs_of { VT_RUNS_RUN, VT_RUNS_LINE, VT_RUNS_PHASE };

enum vt_runs_state {
    VT_RUNS_CHANGED, /* by more than noise; of figures without any in both sets: at all */
    VT_RUNS_NOISE,   /* not told apart from it */
    VT_RUNS_FEW,     /* it differs, and there are too few runs to tell noise */
    VT_RUNS_SAME,    /* the same number in all runs */
    VT_RUNS_STATES
};

struct vt_runs_figure {
    enum vt_runs_of of;
    enum vt_runs_state state;
    const char
        *what; /* "peak": the most at once; "held": at the end; "left": by all phases of the name */
    char *name;          /* "train.py:41 in step", "epoch *"; NULL: of the run */
    unsigned device;     /* of a line: ordinal, or VT_DEVICE_HOST */
    uint64_t *values[2]; /* of the runs before, of those after; at last sorted */
    uint64_t median[2], low[2],
        high[2];       /* median: of an even number the smaller of the middle two */
    double p;          /* negative: it was not tested */
    uint64_t sites;    /* a line's peak in the process that is read: the sum of its call sites' */
    unsigned layer;    /* of a line */
    uint64_t function; /* what the lines of one function have in common */
    uint32_t line;
};

struct vt_runs {
    uint32_t runs[2]; /* before, after */
    uint32_t left_out
        [2]; /* of the folders' runs: they failed, were killed, or lack events; none where all did */
    struct vt_runs_figure
        *figures; /* by state, then those with the largest change of their medians */
    uint32_t count, room;
    uint32_t splits; /* that were tried; 0: too few runs */
};

/* Compares all runs of two folders. Returns 0, or -errno with `message`; free it in either case. */
int vt_runs_compare(char *const folders[2], const struct vt_model_builder *builder,
                    const struct vt_model_options *options, struct vt_runs *runs,
                    struct vt_string *message);
void vt_runs_free(struct vt_runs *runs);

/* By how much its median changed. */
static inline uint64_t vt_runs_change(const struct vt_runs_figure *f) {
    return f->median[0] > f->median[1] ? f->median[0] - f->median[1] : f->median[1] - f->median[0];
}

/* permute.c: sets each p, the chance that any of the figures gets such a statistic though nothing changed. Returns how
 * many splits were tried; 0: there are too few runs. */
#define VT_PERMUTE_CHANCE 0.02 /* up to this p a figure changed */
#define VT_PERMUTE_RUNS   5    /* of each set, at least */
uint32_t vt_permute(struct vt_runs_figure *figures, uint32_t count, const uint32_t runs[2]);

#define VT_RUNS_NAME 60 /* columns of a name */

#endif
