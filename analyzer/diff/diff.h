/* SPDX-License-Identifier: MIT */
/*
 * Public header of diff/: compares two runs site by site: which appeared, disappeared, grew or shrank.
 *
 * Invariants: normal differences between two runs of the same program are not changes. Sites are matched by their
 * call stacks (stack_key.h), the lines of one function in order, so a moved line or a new build makes no difference.
 * The remaining sites are matched by similarity, which finds a site after a function was renamed or a caller added.
 * All processes of a run are summed. Uses base, model and, to define a leak, gate; sets of runs (runs.h) also use
 * log.
 *
 * Memory is compared at the end of the runs. An interpreter frees most of it just before, so leaks are compared by
 * the bytes that fail the gate, and other sites of a Python process by the bytes held at its last allocation. Owners
 * are compared at moments of the same kind (diff_moments.c).
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
    bool leak; /* in one of the runs; the compared bytes are then the leaked ones */
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
    bool gaps; /* a log is cut off or damaged: data missing here may exist */
};

/* An owner's memory in the two runs. The names can differ: memory of the same site with the same role is the same. */
struct vt_diff_owner {
    const struct vt_process *process[2];    /* of `owner` */
    const struct vt_memory_owner *owner[2]; /* before, after; NULL: not found */
    uint64_t bytes[2], count[2];
    bool comparable; /* false: in the run without it, its memory is unknown */
    /* the snapshot did not find it there, but its site holds about as much in both runs */
    bool unseen;
};

/* The index of the run whose name is shown: the second one, if it has the owner. */
static inline unsigned vt_diff_owner_side(const struct vt_diff_owner *o) {
    return o->owner[1] != NULL;
}

/* The compared snapshots of owners: one per process, or NULL. */
struct vt_diff_moments {
    const struct vt_snapshot **of[2]; /* before, after; parallel to the model's processes */
    const struct vt_snapshot
        *shown[2]; /* the fullest of each; NULL: owners were not searched for */
    bool alike;    /* all are of the same kind */
    /* an owner in only one run appeared or disappeared: the snapshots are of the same kind, and show all live memory,
     * unlike those taken during growth */
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

/* The same for the sites of one row of a run: of one stack key (model/stack_key.h) and line. */
uint64_t vt_diff_site_key(const struct vt_site *site);

/* diff_moments.c chooses the snapshots; diff_owners.c fills the owners from these and from the rows. */
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
