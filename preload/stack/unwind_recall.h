/* SPDX-License-Identifier: MIT */
/*
 * Stacks that the thread had before, in the order in which it had them. For stack.c. A loop's stacks
 * come in the same order each time: the one that came next the last time is compared with the
 * thread's stack, and if it is that one, nothing is walked.
 */
#ifndef VT_PRELOAD_UNWIND_RECALL_H
#define VT_PRELOAD_UNWIND_RECALL_H

#include "unwind_walk.h"

#define VT_RECALL_STACKS 256u /* a number of them is a byte */
#define VT_RECALL_WORDS  128u /* a stack of more words is not kept */
#define VT_RECALL_KNOWN  4u
#define VT_RECALL_PASTS  16384u
#define VT_RECALL_HASHES 1024u

/* A native stack, with the numbers that stack.c gave to it. */
struct vt_recalled {
    struct vt_caller caller; /* as for vt_unwind_walk */
    uint64_t hash;           /* of its addresses */
    uint32_t epoch;          /* of the rules that it rests on */
    uint32_t n;              /* words; 0: it holds nothing */
    uint32_t turn;
    /* With a Python stack and the stack of the thread that waits. 0: none */
    uint32_t number[VT_RECALL_KNOWN], caller_stack[VT_RECALL_KNOWN];
    uint64_t python[VT_RECALL_KNOWN];
    uint32_t
        at[VT_RECALL_WORDS]; /* where its words lie: so many words from caller.frame, ascending */
    uint64_t word[VT_RECALL_WORDS];
};

/* What is kept per thread, from its first events on. */
struct vt_recalls {
    uint8_t after[2]
                 [VT_RECALL_PASTS]; /* which stack came next the last time: after many, after few */
    uint8_t by_hash[VT_RECALL_HASHES];
    struct vt_recalled stack[VT_RECALL_STACKS];
};

/* All 0 at first. */
struct vt_recall {
    struct vt_recalls *kept;           /* NULL: none yet */
    const struct vt_recalled *changed; /* the one that was expected, if its words have changed */
    uint32_t past;                     /* the last stacks, mixed: what comes next depends on them */
    uint32_t turn;                     /* which stack gives way to the next new one */
    uint32_t left, hits; /* events until it is judged whether this pays; those where it did */
    uint32_t pause;      /* how many events are left out if it does not */
    uint32_t pausing;    /* how many of them are left */
};

/* The calling thread's stack, if it is the one that was expected; else NULL. */
struct vt_recalled *vt_recall_expected(struct vt_recall *recall, const struct vt_caller *caller);

/* It was. */
void vt_recall_was(struct vt_recall *recall, const struct vt_recalled *r);

/* Whether the stack that was walked instead is to be kept. */
static inline bool vt_recall_wants(const struct vt_recall *recall, const struct vt_walk *walk) {
    return recall->kept && !recall->pausing && walk && !walk->once;
}

/* Keeps it: from now on it is expected after the last one. NULL: it is too long. */
struct vt_recalled *vt_recall_keep(struct vt_recall *recall, const struct vt_walk *walk,
                                   const struct vt_caller *caller, uint64_t hash);

/* 0: none is known. */
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
