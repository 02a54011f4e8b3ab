/* SPDX-License-Identifier: MIT */
/*
 * Public header of diff/: compares two runs site by site: what appeared, went, grew or shrank.
 *
 * Invariants: what always differs between two runs of the same program is no change. Sites are matched by
 * their call stacks (stack_key.h), the lines of one function in their order, so a moved line or a new
 * build makes no difference. The remaining sites are matched by likeness, so a site survives a renamed function or an additional
 * caller. All processes of a run count together. Bytes and counts are sums. Uses base, model and, for
 * what is a leak, gate; of two sets of runs (runs.h) log, too.
 *
 * What a site holds is compared as of the end. An interpreter frees most of it just before: so for a
 * leak, the bytes that fail the gate are compared, and for other sites of a process with Python, those
 * held at its last allocation. Owners are compared at moments of one kind (diff_moments.c).
 */
#ifndef VRAMTRACE_ANALYZER_DIFF_H
#define VRAMTRACE_ANALYZER_DIFF_H

#include "model/model.h"
#include "runs.h"

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
    VT_EMBED_SITE_FIGURES;            /* held_bytes: as vt_site_compared_bytes */
    uint64_t leaked_bytes;            /* fails the gate by default */
};

struct vt_diff_row {
    bool leak; /* in one of the runs; the bytes compared are then what leaked */
    enum vt_diff_state state;
    struct vt_diff_side sides[2]; /* before, after */
    uint64_t bytes[2];            /* these were compared */
    unsigned likeness;            /* of the two stacks, in percent */
};

/* A run as a whole. */
struct vt_diff_total {
    uint64_t leaked_bytes;                       /* fails the gate by default */
    uint64_t live_bytes, live_count, peak_bytes; /* device memory; the largest peak of a process on
                                                    a device */
    uint64_t alloc_count, ooms, processes;
    bool gaps; /* a log is cut off or damaged: what is not there may have been */
};

/* What one owner holds in the two runs. Its two names can differ: what the same site allocated for the
 * same role is the same memory. */
struct vt_diff_owner {
    const struct vt_process *process[2];    /* of `owner` */
    const struct vt_memory_owner *owner[2]; /* before, after; NULL: not there */
    uint64_t bytes[2], count[2];
    bool comparable; /* else what the run has where it is not there is unknown */
    bool unseen;     /* likewise, and its site holds about as much in both runs */
};

/* The index of the run that names it: the second one, if it is there. */
static inline unsigned vt_diff_owner_side(const struct vt_diff_owner *o) {
    return o->owner[1] != NULL;
}

/* The snapshots of owners that are compared: one of each process, or NULL. */
struct vt_diff_moments {
    const struct vt_snapshot **of[2]; /* before, after; parallel to the model's processes */
    const struct vt_snapshot
        *shown[2]; /* the fullest of each; NULL: owners were not searched for */
    bool alike;    /* all are of one kind */
    bool tell;     /* what only one run shows has come or gone: they are of one kind, and each shows
                  all that was live, unlike those that are taken as memory grows */
};

struct vt_diff {
    struct vt_diff_row *rows; /* leaks first, then by state, the largest change first */
    uint32_t count, counts[2][VT_DIFF_STATES]; /* of leaks, of others */
    struct vt_diff_total totals[2];
    struct vt_diff_owner *owners; /* the largest change first */
    uint32_t owner_count;
    struct vt_diff_moments moments;
};

/* Fills `diff`. The models must outlive it; free it with vt_diff_free. Never fails. */
void vt_diff_make(const struct vt_model *before, const struct vt_model *after,
                  struct vt_diff *diff);

/* The same for the sites of one row of a run: of one stack key (model/stack_key.h) and line. */
uint64_t vt_diff_site_key(const struct vt_site *site);

/* For vt_diff_make. diff_moments.c: chooses the snapshots; diff_owners.c: fills the owners from these
 * and from the rows. */
void vt_diff_moments_choose(const struct vt_model *before, const struct vt_model *after,
                            struct vt_diff_moments *moments);
void vt_diff_owners_make(const struct vt_model *before, const struct vt_model *after,
                         struct vt_diff *diff);
void vt_diff_free(struct vt_diff *diff);

#endif
