/* SPDX-License-Identifier: MIT */
/*
 * Public header of diff/: compares two runs site by site. Which sites appeared, disappeared, grew or shrank?
 *
 * Invariants: normal differences between two runs of the same program are not changes. Sites are matched by call stack
 * (stack_key.h), and a function's lines by their order, so moved lines or a new build do not matter. The remaining
 * sites are matched by similarity, which finds a site again after a function was renamed or a caller was added. A run
 * is the sum of its processes. Uses base, model, and gate (to define a leak); runs.h also uses logfile.
 *
 * Memory is compared at the end of the runs. But an interpreter frees most memory just before its end. So leaks are
 * compared by the bytes that fail the gate, and other sites of a Python process by the bytes held at its last
 * allocation. Owners are compared at moments of the same kind (diff_moments.c).
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
    bool leak; /* it leaks in one of the runs: leaked bytes are compared */
    enum vt_diff_state state;
    struct vt_diff_side sides[2]; /* before, after */
    uint64_t bytes[2];            /* the compared amounts */
    unsigned likeness;            /* similarity of the two stacks, in percent */
};

/* A run as a whole. */
struct vt_diff_total {
    uint64_t leaked_bytes;                       /* fails the gate by default */
    uint64_t live_bytes, live_count, peak_bytes; /* device memory; the largest peak of a process on
                                                    a device */
    uint64_t alloc_count, ooms, processes;
    bool gaps; /* a log is cut off or damaged, so absence proves nothing */
};

/* An owner's memory in the two runs. Its names can differ: the same site and role make it the same owner. */
struct vt_diff_owner {
    const struct vt_process *process[2];    /* of `owner` */
    const struct vt_memory_owner *owner[2]; /* before, after; NULL: not found */
    uint64_t bytes[2], count[2];
    bool comparable; /* false: in the run without the owner, it may merely be unrecorded */
    /* one run's snapshot did not find the owner, but its site holds about as much in both runs */
    bool unseen;
};

/* The index of the run whose name is shown: the second one, if it has the owner. */
static inline unsigned vt_diff_owner_side(const struct vt_diff_owner *o) {
    return o->owner[1] != NULL;
}

/* The compared snapshots of owners. */
struct vt_diff_moments {
    const struct vt_snapshot **of[2];   /* before, after; one per process, or NULL */
    const struct vt_snapshot *shown[2]; /* each run's fullest; NULL: owners were not searched for */
    bool alike;                         /* all are of the same kind */
    /* an owner found in only one run really appeared or disappeared: the snapshots are of the same kind, and (unlike
     * those taken during growth) show all live memory */
    bool tell;
};

struct vt_diff {
    struct vt_diff_row *rows; /* leaks first, then by state, the largest change first */
    uint32_t count, counts[2][VT_DIFF_STATES]; /* leaks, others */
    struct vt_diff_total totals[2];
    struct vt_diff_owner *owners; /* the largest change first */
    uint32_t owner_count;
    struct vt_diff_moments moments;
};

/* Fills `diff`. The models must outlive it; free it with vt_diff_free. Never fails. */
void vt_diff_make(const struct vt_model *before, const struct vt_model *after,
                  struct vt_diff *diff);

/* The key of a site's row in a run: sites with the same stack key (model/stack_key.h) and line share it. */
uint64_t vt_diff_site_key(const struct vt_site *site);

/* diff_moments.c chooses the snapshots; diff_owners.c fills the owners from these snapshots and the rows. */
void vt_diff_moments_choose(const struct vt_model *before, const struct vt_model *after,
                            struct vt_diff_moments *moments);
void vt_diff_owners_make(const struct vt_model *before, const struct vt_model *after,
                         struct vt_diff *diff);
void vt_diff_free(struct vt_diff *diff);

/* diff_doc.c: adds what changed; at most `top` rows of each kind. */
struct vt_doc;
void vt_diff_document(const struct vt_diff *diff, const struct vt_model *before,
                      const struct vt_model *after, uint32_t top, struct vt_doc *doc);

#endif
