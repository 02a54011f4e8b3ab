/* SPDX-License-Identifier: MIT */
/*
 * What earlier runs held: the runs of a folder that began before the one that is judged. --against compares
 * with them. For check_options.c and gate.c.
 *
 * Logs are read one at a time, and each is reduced to a few figures and the keys of its leaks. A merged file
 * has the figures alone.
 */
#ifndef VRAMTRACE_ANALYZER_EARLIER_H
#define VRAMTRACE_ANALYZER_EARLIER_H

#include "baseline.h"

/* What is compared of a run. */
enum vt_gate_measure {
    VT_GATE_PEAK, /* the largest of a process on a GPU */
    VT_GATE_HELD, /* device memory of all processes at the end; of Python at their last allocation */
    VT_GATE_MEASURES
};

/* A figure of the run that is judged, beside the same of the earlier ones. */
struct vt_gate_figure {
    uint64_t bytes, median, low, high; /* of an even number the smaller of the middle two */
    uint64_t noise;   /* up to this it is likely to be chance; VT_UNKNOWN: one run does not tell */
    uint64_t allowed; /* by --max-increase; VT_UNKNOWN: not given */
    bool fails;       /* it is above both */
};

/* Why an earlier run is not compared with; of several reasons the first. */
enum vt_earlier_why {
    VT_EARLIER_OTHER,      /* no process of a program that the judged run has */
    VT_EARLIER_UNENDED,    /* it failed, was killed, or still runs */
    VT_EARLIER_INCOMPLETE, /* a log is cut off or damaged, or lacks events */
    VT_EARLIER_EXCEEDED,   /* it would have failed, beside the runs before it */
    VT_EARLIER_WHYS
};

/* Start it as {0}; free with vt_earlier_free. */
struct vt_earlier {
    uint64_t *figures[VT_GATE_MEASURES]; /* of each run that counts, the smallest first */
    uint32_t runs, left_out[VT_EARLIER_WHYS];
    char *other;              /* a program of those left out for theirs */
    bool merged_only;         /* so their leaks are unknown */
    struct vt_baseline leaks; /* the most that a process held of each */
};

struct vt_gate_options;

/* Reads the runs that began before the first process of `model`, and judges their leaks by `gate`. A run that failed, was killed or
 * lost events counts if `model` did, too. Returns 0, or -errno with `message`; there being none is -ENOENT. */
int vt_earlier_read(const char *folder, const struct vt_model *model,
                    const struct vt_model_builder *builder, const struct vt_model_options *options,
                    const struct vt_gate_options *gate, struct vt_earlier *earlier,
                    struct vt_string *message);

/* "2 earlier runs left out: 1 of another program (eval.py), 1 ..."; NULL: none. Free it. */
char *vt_earlier_left_out(const struct vt_earlier *earlier);

/* Compares, if there are earlier runs. `increase`: the part by which a figure may be larger; negative: any. */
void vt_earlier_compare(const struct vt_earlier *earlier, const struct vt_model *model,
                        double increase, struct vt_gate_figure figures[VT_GATE_MEASURES]);

/* The largest of `count` figures, of which these are `all`, that another run of the same kind has by chance
 * alone in 99 of 100 cases; VT_UNKNOWN: one does not tell. */
uint64_t vt_earlier_noise(const uint64_t *all, uint32_t count);

void vt_earlier_free(struct vt_earlier *earlier);

#endif
