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

#define VT_WALK_FRAMES                                                                             \
    (VT_DEPTH_MAX + 48u) /* ours, and those of a runtime, come before the caller's */
#define VT_WALKS 4u

/* A stack as it was walked. Frame i is at address[i], with the stack pointer sp[i]. */
struct vt_walk {
    uintptr_t address[VT_WALK_FRAMES]; /* return addresses, innermost first */
    uintptr_t sp[VT_WALK_FRAMES];
    uintptr_t rbp[VT_WALK_FRAMES]; /* the frame pointer there */
    uintptr_t
        rbp_from[VT_WALK_FRAMES]; /* the word that it was read from; 0: the register. And flags */
    uint32_t n;
    uint32_t epoch; /* of the rules that it rests on; 0: it holds nothing */
    bool once;      /* there are frames whose words are not known: it is not compared */
    bool guessed;   /* code that no table tells of: what comes after it may be wrong */
    uintptr_t
        end_from; /* the word that ended it, a return address to nowhere; 0: a rule, or the limit */
    /* For stack.c: the number that the stack got, and what else it depends on. 0: none */
    uint32_t number, caller_stack;
    uint64_t python;
};

/* What is kept per thread: the last stacks, by their callers, and the part of the thread's stack that
 * was found to be readable. All 0 at first. */
struct vt_walks {
    uint32_t order; /* four bits each: the walk of each way, then the free one; 0: not yet */
    uintptr_t low, high;
    struct vt_walk walk[VT_WALKS + 1];
};

/* Walks from here outwards, up to `most` frames; its own frames come first. `caller`: an address on the
 * stack, which chooses the way. NULL: a frame is not known, so libunwind must be asked. `*again`: it is
 * the very stack that this walk was the last time. Reads no memory but the thread's stack and loaded
 * modules' tables; no lock for a stack of known addresses. */
struct vt_walk *vt_unwind_walk(struct vt_walks *walks, const void *caller, uint32_t most,
                               bool *again);

#endif
