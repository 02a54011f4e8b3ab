/* SPDX-License-Identifier: MIT */
/*
 * The calling thread's native stack, fast: by rules from the unwind tables, and without unwinding
 * again what was just unwound. For stack.c. libunwind stays the reference, and does what the rules
 * do not know.
 */
#ifndef VT_PRELOAD_UNWIND_WALK_H
#define VT_PRELOAD_UNWIND_WALK_H

#include "base/base.h"

#include <stdint.h>

#define VT_WALKS 4u

/* A stack as it was walked, from the frame that called us outwards. Frame i is at address[i], with the
 * stack pointer sp[i]; that address lies right below (x86), or at back_at[i]. */
struct vt_walk {
    uintptr_t address[VT_DEPTH_MAX]; /* return addresses, innermost first */
    uintptr_t sp[VT_DEPTH_MAX + 1];  /* one more: that of the outermost frame's caller */
    uintptr_t back_at[VT_RETURN_AT_CFA ? 1 : VT_DEPTH_MAX + 1];
    uint64_t rule[VT_DEPTH_MAX];       /* which led from the frame to its caller */
    uintptr_t fp_at[VT_DEPTH_MAX];     /* the word where the frame pointer was saved */
    uintptr_t fp[VT_DEPTH_MAX];        /* the frame pointer, where the rule reads it */
    uint64_t based[VT_DEPTH_MAX / 64]; /* a bit for each frame whose rule reads it */
    uint32_t n, most;
    uint32_t epoch; /* of the rules that it rests on; 0: it holds nothing */
    bool once;      /* there are frames whose words are not known: it is not compared */
    bool guessed;   /* code that no table tells of: what comes after it may be wrong */
    bool ruled;     /* it ends by a rule; else by a return address to nowhere, or it is cut */
    bool cut;       /* there are more frames */
    /* For stack.c: the number that the stack got, and what else it depends on. 0: none */
    uint32_t number, caller_stack;
    uint64_t python;
};

/* Where the return address of frame i was read; n: what ended the stack, or comes next. */
static inline uintptr_t vt_walk_back_at(const struct vt_walk *w, uint32_t i) {
    return VT_RETURN_AT_CFA ? w->sp[i] - VT_RETURN_AT_CFA : w->back_at[i];
}

/* What is kept per thread: the last stacks, by their callers, and the part of the thread's stack that
 * was found to be readable. All 0 at first. */
struct vt_walks {
    uint64_t
        order; /* a byte each: the walk of each way, then the free one, exclusive-or its place */
    uintptr_t low, high;
    struct vt_walk walk[VT_WALKS + 1];
};

/* Walks outwards from a caller, up to `most` frames. It called a function of ours that has a frame
 * pointer: the caller's frame pointer lies there, and then the return address. NULL: it does not, or a frame is not known, so libunwind must be asked. `*again`: it
 * is the very stack that this walk was the last time. Reads no memory but the thread's stack and loaded
 * modules' tables; no lock for a stack of known addresses. */
struct vt_walk *vt_unwind_walk(struct vt_walks *walks, const struct vt_caller *caller,
                               uint32_t most, bool *again);

/* A hash of addresses: a sum, so that none waits for another. */
extern const uint64_t vt_walk_keys[VT_DEPTH_MAX];
static inline uint64_t vt_walk_hash(const uintptr_t *address, size_t n) {
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += address[i] * vt_walk_keys[i];
    return sum;
}

#endif
