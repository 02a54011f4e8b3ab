/* SPDX-License-Identifier: MIT */
/*
 * Figures of earlier runs, which are a folder's runs that began before the current one: --against compares with them.
 * For check_options.c and gate.c.
 *
 * Logs are read one at a time, and each is reduced to a few figures and the keys of its leaks. A merged file has only
 * the figures.
 */
#ifndef VRAMTRACE_ANALYZER_EARLIER_H
#define VRAMTRACE_ANALYZER_EARLIER_H

#include "baseline.h"

/* The compared figures of a run. */
enum vt_gate_measure {
    VT_GATE_PEAK, /* the largest peak of a process on a GPU */
    /* device memory of all processes at the end (for Python: at the last allocation) */
    VT_GATE_HELD,
    VT_GATE_MEASURES
};

/* A figure of the current run, with the same figure of the earlier runs. */
struct vt_gate_figure {
    uint64_t bytes, median, low, high; /* median: the lower middle one if the number is even */
    uint64_t noise;   /* larger values are unlikely by chance; VT_UNKNOWN: one run only */
    uint64_t allowed; /* by --max-increase; VT_UNKNOWN: no limit */
    bool fails;       /* it exceeds `noise` and `allowed` */
};

/* Why an earlier run is left out; the first reason counts. */
enum vt_earlier_why {
    VT_EARLIER_OTHER,      /* none of its programs is in the current run */
    VT_EARLIER_UNENDED,    /* the run failed, was killed, or is still running */
    VT_EARLIER_INCOMPLETE, /* a log is cut off or damaged, or lacks events */
    VT_EARLIER_EXCEEDED,   /* the run would have failed against the runs before it */
    VT_EARLIER_WHYS
};

/* Start it as {0}; free with vt_earlier_free. */
struct vt_earlier {
    uint64_t *figures[VT_GATE_MEASURES]; /* ascending, of the runs that count */
    uint32_t runs, left_out[VT_EARLIER_WHYS];
    char *other;              /* the program of a run left out as VT_EARLIER_OTHER */
    bool merged_only;         /* all are from merged files, so their leaks are unknown */
    struct vt_baseline leaks; /* each with its largest amount in a process */
};

struct vt_gate_options;

/* Reads the runs that began before the first process of `model`, and finds their leaks with the options `gate`. A run
 * that failed, was killed or lost events counts only if `model` did so as well. Returns 0, or -errno with `message`;
 * -ENOENT: there are no such runs. */
int vt_earlier_read(const char *folder, const struct vt_model *model,
                    const struct vt_model_builder *builder, const struct vt_model_options *options,
                    const struct vt_gate_options *gate, struct vt_earlier *earlier,
                    struct vt_string *message);

/* "2 earlier runs left out: 1 of another program (eval.py), 1 ..."; NULL: none. Free it. */
char *vt_earlier_left_out(const struct vt_earlier *earlier);

/* Fills `figures`, if there are earlier runs. `increase`: the allowed increase, as a fraction of the figure; negative:
 * unlimited. */
void vt_earlier_compare(const struct vt_earlier *earlier, const struct vt_model *model,
                        double increase, struct vt_gate_figure figures[VT_GATE_MEASURES]);

/* A limit for another run's figure, given the `count` figures `all` of comparable runs: chance alone exceeds it in 1 of
 * 100 cases. VT_UNKNOWN: there is only one figure. */
uint64_t vt_earlier_noise(const uint64_t *all, uint32_t count);

void vt_earlier_free(struct vt_earlier *earlier);

#endif
