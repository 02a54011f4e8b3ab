/* SPDX-License-Identifier: MIT */
/*
 * Remembers the thread's previous stacks and their order. For stack.c. A loop's stacks come in the same order each
 * time. So the predicted next stack is compared with the thread's stack, and if it matches, no walk is needed.
 */
#ifndef VT_PRELOAD_UNWIND_RECALL_H
#define VT_PRELOAD_UNWIND_RECALL_H

#include "unwind_walk.h"

#define VT_RECALL_STACKS 256u /* an index fits into a byte */
#define VT_RECALL_WORDS  128u /* a longer stack is not kept */
#define VT_RECALL_KNOWN  4u
#define VT_RECALL_PASTS  16384u
#define VT_RECALL_HASHES 1024u

/* A native stack, with the numbers that stack.c gave it. */
struct vt_recalled {
    struct vt_caller caller; /* as for vt_unwind_walk */
    uint64_t hash;           /* of its addresses */
    uint32_t epoch;          /* of the rules used */
    uint32_t n;              /* number of words; 0: unused */
    uint32_t turn;
    /* Numbers, by Python stack and by the waiting thread's stack. 0: none */
    uint32_t number[VT_RECALL_KNOWN], caller_stack[VT_RECALL_KNOWN];
    uint64_t python[VT_RECALL_KNOWN];
    uint32_t
        at[VT_RECALL_WORDS]; /* positions of its words, in words from caller.frame, ascending */
    uint64_t word[VT_RECALL_WORDS];
};

/* Kept per thread, from its first events on. */
struct vt_recalls {
    /* The stack that followed last time, by the hash of the last stacks: many of them, or few. */
    uint8_t after[2][VT_RECALL_PASTS];
    uint8_t by_hash[VT_RECALL_HASHES];
    struct vt_recalled stack[VT_RECALL_STACKS];
};

/* Zeroed at first. */
struct vt_recall {
    struct vt_recalls *kept;           /* NULL: none yet */
    const struct vt_recalled *changed; /* the predicted stack, if its words have changed */
    uint32_t past;                     /* hash of the last stacks; the prediction depends on it */
    uint32_t turn;                     /* the stack that the next new stack replaces */
    uint32_t left, hits; /* events until the next check whether prediction pays; hits so far */
    uint32_t pause;      /* how many events to skip if it does not */
    uint32_t pausing;    /* how many of them remain */
};

/* Returns the predicted stack if it is the calling thread's; else NULL. */
struct vt_recalled *vt_recall_expected(struct vt_recall *recall, const struct vt_caller *caller);

/* Call when the prediction was right. */
void vt_recall_was(struct vt_recall *recall, const struct vt_recalled *r);

/* Whether to keep the stack that was walked because the prediction failed. */
static inline bool vt_recall_wants(const struct vt_recall *recall, const struct vt_walk *walk) {
    return recall->kept && !recall->pausing && walk && !walk->once;
}

/* Keeps the walked stack, so that it will be predicted after the last ones. NULL: too long. */
struct vt_recalled *vt_recall_keep(struct vt_recall *recall, const struct vt_walk *walk,
                                   const struct vt_caller *caller, uint64_t hash);

/* The stack's number; 0: none is known. */
static inline uint32_t vt_recall_number(const struct vt_recalled *r, uint64_t python,
                                        uint32_t caller_stack) {
    for (unsigned i = 0; i < VT_RECALL_KNOWN; i++)
        if (r->python[i] == python && r->caller_stack[i] == caller_stack && r->number[i])
            return r->number[i];
    return 0;
}

void vt_recall_number_is(struct vt_recalled *r, uint64_t python, uint32_t caller_stack,
                         uint32_t number);

#endif
