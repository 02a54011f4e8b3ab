/* SPDX-License-Identifier: MIT */
/*
 * The door of diff/: two runs, site by site: what appeared, went, grew, shrank.
 *
 * Law: nothing that differs between two runs of the same program may show as a change. Sites
 * are matched by their call stacks (stack_key.h), so a moved line or a new build changes nothing;
 * what is left over is matched by likeness, so that a renamed function or another caller in between
 * is still the same site. Sites of all processes of a run count together. Uses base and model.
 */
#ifndef VRAMTRACE_ANALYZER_DIFF_H
#define VRAMTRACE_ANALYZER_DIFF_H

#include "model/model.h"

enum vt_diff_state {
    VT_DIFF_APPEARED, /* holds memory at the end, and did not before */
    VT_DIFF_GREW,
    VT_DIFF_SHRANK,
    VT_DIFF_WENT, /* held memory at the end, and does not any more */
    VT_DIFF_SAME,
    VT_DIFF_STATES
};
extern const char *const vt_diff_names[VT_DIFF_STATES];

/* A place in one of the runs. */
struct vt_diff_side {
    bool there;
    const struct vt_process *process; /* of its largest site */
    const struct vt_site *site;       /* its largest */
    enum vt_verdict verdict;          /* the worst of its sites' */
    uint64_t live_bytes, live_count, bytes_at_peak, allocated_bytes, alloc_count;
};

struct vt_diff_row {
    enum vt_diff_state state;
    struct vt_diff_side sides[2]; /* before, after */
    unsigned likeness;            /* of their stacks, percent; 100: the same */
};

/* A run as a whole. */
struct vt_diff_total {
    uint64_t leaked_bytes; /* what fails the gate where nobody chose otherwise */
    uint64_t live_bytes, live_count, peak_bytes; /* device memory; peak: the largest of any process
                                                    and device */
    uint64_t alloc_count, ooms, processes;
};

struct vt_diff {
    struct vt_diff_row *rows; /* by state, the largest change first */
    uint32_t count, counts[VT_DIFF_STATES];
    struct vt_diff_total totals[2];
};

/* Compares. The models must outlive the result; free it with vt_diff_free. */
void vt_diff_make(const struct vt_model *before, const struct vt_model *after,
                  struct vt_diff *diff);
void vt_diff_free(struct vt_diff *diff);

#endif
