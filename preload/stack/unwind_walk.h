/* SPDX-License-Identifier: MIT */
/*
 * Finds the calling thread's native stack fast: by rules from the unwind tables, and without repeating the last walk.
 * For stack.c. libunwind is the reference, and handles all cases without rules.
 */
#ifndef VT_PRELOAD_UNWIND_WALK_H
#define VT_PRELOAD_UNWIND_WALK_H

#include "base/base.h"

#include <stdint.h>

#define VT_WALKS 4u

/* A walked stack, from the frame that called us outwards. Frame i has address[i] and the stack pointer sp[i]. The word
 * with its address is right below sp[i] (x86), or at back_at[i]. */
struct vt_walk {
    uintptr_t address[VT_DEPTH_MAX]; /* return addresses, innermost first */
    /* one more: the stack pointer of the outermost frame's caller */
    uintptr_t sp[VT_DEPTH_MAX + 1];
    uintptr_t back_at[VT_RETURN_AT_CFA ? 1 : VT_DEPTH_MAX + 1];
    uint64_t rule[VT_DEPTH_MAX];       /* the rule that led from the frame to its caller */
    uintptr_t fp_at[VT_DEPTH_MAX];     /* the word where the frame pointer was saved */
    uintptr_t fp[VT_DEPTH_MAX];        /* the frame pointer, if the rule reads it */
    uint64_t based[VT_DEPTH_MAX / 64]; /* a bit for each frame whose rule reads it */
    uint32_t n, most;
    uint32_t epoch; /* of the rules used; 0: empty */
    bool once;      /* some words are unknown: never compared */
    bool guessed;   /* some code has no table, so the frames after it may be wrong */
    bool ruled;     /* ended by a rule; else cut, or ended by an invalid return address */
    bool cut;       /* there are more frames */
    /* For stack.c: the stack's number, and the other data that it depends on. 0: none */
    uint32_t number, caller_stack;
    uint64_t python;
};

/* Where the return address of frame i was read; for n, the word that ended the stack, or the next one. */
static inline uintptr_t vt_walk_back_at(const struct vt_walk *w, uint32_t i) {
    return VT_RETURN_AT_CFA ? w->sp[i] - VT_RETURN_AT_CFA : w->back_at[i];
}

/* Kept per thread: the last stacks by their callers, and the readable part of the thread's stack. Zeroed at first. */
struct vt_walks {
    uint64_t order; /* a byte per way: its walk's index; then the free walk's; xor position */
    uintptr_t low, high;
    struct vt_walk walk[VT_WALKS + 1];
};

/* Walks outwards from a caller, up to `most` frames. `caller` called one of our functions, whose frame holds the saved
 * frame pointer and then the return address. NULL: it does not, or a frame is unknown, so use libunwind. `*again`: the
 * stack is unchanged since this walk was last used. Reads only the thread's stack and loaded modules' tables; takes no
 * lock for a stack of known addresses. */
struct vt_walk *vt_unwind_walk(struct vt_walks *walks, const struct vt_caller *caller,
                               uint32_t most, bool *again);

/* A hash of addresses: a sum, so that the processor can compute its terms in parallel. */
extern const uint64_t vt_walk_keys[VT_DEPTH_MAX];
static inline uint64_t vt_walk_hash(const uintptr_t *address, size_t n) {
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += address[i] * vt_walk_keys[i];
    return sum;
}

#endif
