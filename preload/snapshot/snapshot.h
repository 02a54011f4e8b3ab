/* SPDX-License-Identifier: MIT */
/*
 * Public header of snapshot/: when the owners of live memory are looked for, in which process, and what is
 * written.
 *
 *   moments.c     when: VRAMTRACE_SNAPSHOT
 *   snapshot.c    one snapshot: the child that walks, and its answer
 *   targets.c     of what
 *   bounds.c      what it may take, and whether memory may be copied
 *   room.c        whether a copy of the process has room
 *   detach.c      what a copy gives up first, because the program may want it back
 *   copy_guard.c  how a copy leaves when memory runs short
 *   cost.c        what copies cost the program
 *
 * Invariants: the program never waits for a lock, and no CUDA call is made. A copy is made only where it can do
 * no harm. Uses all modules before it.
 */
#ifndef VT_PRELOAD_SNAPSHOT_H
#define VT_PRELOAD_SNAPSHOT_H

#include "preload.h"

/* Takes a snapshot of the owners of live memory, and writes it to the log. The calling thread waits
 * for it; others go on. `name` is the number of a NAME record (a phase's, or the program's own name
 * for the snapshot), or 0. Not within a recording. False: none was taken, because nothing is live,
 * another thread is taking one, or there is no log. With the GIL held, nothing changes Python's
 * objects meanwhile, which matters only where the memory cannot be copied. */
bool vt_owners_take(enum vt_snapshot_why why, uint32_t name);

/* The same without waiting: a child walks on in its copy of the memory as it is now. As memory grows
 * (VT_SNAPSHOT_GROWTH), it may take the place of an earlier one. `most_ns` of the processor's time is the most that
 * it may take; 0: the usual bound. `ticks`: a time that the thread announces, or 0: now. False also if memory cannot be
 * copied here, or the ones before are not done. */
bool vt_owners_begin(enum vt_snapshot_why why, uint32_t name, uint64_t ticks, uint64_t most_ns);
/* Writes the results of finished searches. With `wait`, waits for all. */
enum vt_owners_state {
    VT_OWNERS_GO_ON = 1, /* some go on, or another thread is here */
    VT_OWNERS_LOST = 2   /* a child died */
};
unsigned vt_owners_finish(bool wait);
bool vt_owners_under_way(void);
/* Writes what is done, and kills what was begun as memory grew. Just before the process ends. */
void vt_owners_give_up(void);
/* What snapshots have cost so far, in ns of the processor's time: of the children, those under way with what they
 * may take; and of the program, by copies and the faults of pages that follow; what the next copy will take of that; and
 * what the next search will take of the first. */
struct vt_owners_cost {
    uint64_t spent, stood, next, search;
};
struct vt_owners_cost vt_owners_cost(void);
uint64_t vt_owners_private(void); /* resident bytes that are no file's */
void vt_owners_forked(void);

/* moments.c: when they are taken, by VRAMTRACE_SNAPSHOT. */
void vt_moments_due(void); /* at the end of an event */
void vt_moments_end(void); /* before the process ends, while its memory is still as the program left
                            * it; and again later */
/* The same, when the first of exit's handlers have run: what they left held is not lost. */
void vt_moments_exit_goes_on(void);
/* What was live when Python ended, before it dropped its objects; 0: it did not end. */
uint64_t vt_moments_python_ended(uint64_t *bytes);
void vt_moments_context_ends(void);
void vt_moments_finish(void); /* before the log ends: what is under way is written */
void vt_moments_phase_ends(const char *name, uint32_t bytes);
/* The same for a range, whose end has a number and no name. */
void vt_moments_range_starts(uint64_t range, const char *name, uint32_t bytes);
void vt_moments_range_ends(uint64_t range);
/* The program's own call. False: none was taken. */
bool vt_moments_asked(const char *name, uint32_t bytes);
/* A framework reports what it cannot allocate: a refusal of the driver's is not the last word. */
void vt_moments_framework_reports(void);
void vt_moments_forked(void);

#endif
