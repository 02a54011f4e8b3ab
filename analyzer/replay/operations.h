/* SPDX-License-Identifier: MIT */
/*
 * Rounds of a program, as far as its stacks show them. A model of 48 layers allocates 48 times at one line of its
 * framework in a single call; a leak may do so in 48 calls. So a thread's successive allocations inside the same
 * operation (operations.def), called from the same place, are one round, and every other allocation is its own round.
 * Two calls without an allocation in between look like one, which underestimates growth.
 */
#ifndef VRAMTRACE_ANALYZER_OPERATIONS_H
#define VRAMTRACE_ANALYZER_OPERATIONS_H

#include "logfile/log_reader.h"

/* Zero-initialized: empty. Free with vt_operations_close. */
struct vt_operations {
    uint64_t *keys;   /* by stack index: its operation and call site; 0: unknown, 1: none */
    uint8_t *code_is; /* by code index: 0: unknown, 1: no operation, 2: an operation */
    struct vt_operations_thread {
        uint64_t key, round; /* of its last allocation */
    } * threads;
    uint32_t thread_count, thread_room;
    uint32_t waiting; /* the last thread that allocated for itself */
    uint64_t rounds;
};

#define VT_NO_OPERATION 1u /* the key of a stack without an operation */

/* Makes room for a thread. Only for vt_operations_next. */
void vt_operations_reach(struct vt_operations *operations, uint32_t thread);

/* The round of an allocation: numbers rise from 1. `stack`: index in log->stacks, or VT_NO_STACK.
 * `thread`: a small number that identifies the calling thread. */
uint64_t vt_operations_round(struct vt_operations *operations, const struct vt_log *log,
                             uint32_t stack, uint32_t thread);

/* Whether each of a stack's allocations is a round, regardless of its thread's earlier allocations. */
bool vt_operations_single(struct vt_operations *operations, const struct vt_log *log,
                          uint32_t stack);

/* The round of an allocation with such a stack, on a known thread. */
static inline uint64_t vt_operations_next(struct vt_operations *o, uint32_t thread) {
    if (thread >= o->thread_count)
        vt_operations_reach(o, thread);
    o->waiting = thread;
    o->threads[thread] = (struct vt_operations_thread){VT_NO_OPERATION, ++o->rounds};
    return o->rounds;
}
/* Forgets its results about stacks and codes, because the log has new ones. */
void vt_operations_forget(struct vt_operations *operations);
void vt_operations_close(struct vt_operations *operations);
/* Saves operations, or loads into empty ones (base/saved_state.h). */
void vt_operations_state(struct vt_operations *operations, struct vt_state *s);

#endif
