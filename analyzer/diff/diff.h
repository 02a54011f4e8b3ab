/* SPDX-License-Identifier: MIT */
/*
 * The door of diff/: compares two runs site by site: what appeared, went, grew or shrank.
 *
 * Law: what always differs between two runs of the same program is no change. Sites are matched by
 * their call stacks (stack_key.h), so a moved line or a new build makes no difference. The
 * remaining sites are matched by likeness, so a site survives a renamed function or an additional
 * caller. All processes of a run count together. Bytes and counts are sums. Uses base and model.
 */
#ifndef VRAMTRACE_ANALYZER_DIFF_H
#define VRAMTRACE_ANALYZER_DIFF_H

#include "model/model.h"

enum vt_diff_state {
    VT_DIFF_APPEARED, /* holds memory at the end only in the second run */
    VT_DIFF_GREW,
    VT_DIFF_SHRANK,
    VT_DIFF_WENT, /* only in the first run */
    VT_DIFF_SAME,
    VT_DIFF_STATES
};
extern const char *const vt_diff_names[VT_DIFF_STATES];

/* A call site in one of the runs. */
struct vt_diff_side {
    bool there;
    const struct vt_process *process; /* of `site` */
    const struct vt_site *site;       /* the largest of its sites */
    enum vt_verdict verdict;          /* the worst of its sites */
    uint64_t live_bytes, live_count, bytes_at_peak, allocated_bytes, alloc_count;
};

struct vt_diff_row {
    enum vt_diff_state state;
    struct vt_diff_side sides[2]; /* before, after */
    unsigned likeness;            /* of the two stacks, in percent */
};

/* A run as a whole. */
struct vt_diff_total {
    uint64_t leaked_bytes;                       /* fails the gate by default */
    uint64_t live_bytes, live_count, peak_bytes; /* device memory; the largest peak of a process on
                                                    a device */
    uint64_t alloc_count, ooms, processes;
};

/* What one owner holds in the two runs. */
struct vt_diff_owner {
    const struct vt_process *process;    /* of `owner` */
    const struct vt_memory_owner *owner; /* in the second run, if it is there */
    uint64_t bytes[2], count[2];         /* before, after */
};

struct vt_diff {
    struct vt_diff_row *rows; /* by state, the largest change first */
    uint32_t count, counts[VT_DIFF_STATES];
    struct vt_diff_total totals[2];
    struct vt_diff_owner *owners; /* those that hold more first, the largest change first */
    uint32_t owner_count;
    bool owners_known[2]; /* whether someone looked for them */
};

/* Fills `diff`. The models must outlive it; free it with vt_diff_free. Never fails. */
void vt_diff_make(const struct vt_model *before, const struct vt_model *after,
                  struct vt_diff *diff);

/* diff_owners.c: fills the owners, for vt_diff_make. */
void vt_diff_owners_make(const struct vt_model *before, const struct vt_model *after,
                         struct vt_diff *diff);
void vt_diff_free(struct vt_diff *diff);

#endif
