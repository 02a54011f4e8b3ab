/* SPDX-License-Identifier: MIT */
/*
 * Public header of snapshot/: when and in which process we search for the owners of live memory, and the result.
 *
 *   triggers.c    when to take snapshots: VRAMTRACE_SNAPSHOT
 *   snapshot.c    one snapshot: the child that walks, and its answer
 *   targets.c     the allocations to search for
 *   bounds.c      the limits of a search, and whether memory may be copied
 *   room.c        whether a copy of the process fits into memory
 *   detach.c      how a copy first releases everything that the program may want back
 *   copy_guard.c  how a copy ends when memory runs short
 *   cost.c        the cost of copies to the program
 *
 * Invariants: the program never waits for a lock, and no CUDA call is made. A copy is made only if it can do no harm.
 * Uses all modules before it.
 */
#ifndef VT_PRELOAD_SNAPSHOT_H
#define VT_PRELOAD_SNAPSHOT_H

#include "preload.h"

/* Takes a snapshot of the owners of live memory, and writes it to the log. The calling thread waits; others continue.
 * `name` is the number of a NAME record (a phase's name, or the program's own for the snapshot), or 0. Do not call
 * while recording. False: no snapshot was taken, because nothing is live, another thread is taking one, or there is no
 * log. If the caller holds the GIL, Python's objects do not change meanwhile; this matters only if the memory cannot be
 * copied. */
bool vt_snapshot_take(enum vt_snapshot_why why, uint32_t name);

/* The same without waiting: a child searches its copy of the current memory. A snapshot on growth (VT_SNAPSHOT_GROWTH)
 * may replace an earlier one. `most_ns`: limit of the child's processor time; 0: the usual limit. `ticks`: a time that
 * the thread announced; 0: now. Also false if memory cannot be copied here, or an earlier search is unfinished. */
bool vt_snapshot_begin(enum vt_snapshot_why why, uint32_t name, uint64_t ticks, uint64_t most_ns);
/* Writes the results of finished searches. With `wait`, waits for all searches. Returns these bits. */
enum vt_snapshot_state {
    VT_SNAPSHOT_RUNNING = 1, /* a search is still running, or another thread is here */
    VT_SNAPSHOT_LOST = 2     /* a child died */
};
unsigned vt_snapshot_finish(bool wait);
bool vt_snapshot_is_running(void);
/* Just before the process ends: writes finished results, and kills a search on growth. */
void vt_snapshot_abandon(void);
/* The cost of all snapshots so far, in ns of processor time. `spent`: the children's time; a running child counts with
 * its limit. `stood`: the program's time for copies and the page faults that follow. `next`: the next copy's estimated
 * `stood`. `search`: the next search's estimated `spent`. */
struct vt_snapshot_cost {
    uint64_t spent, stood, next, search;
};
struct vt_snapshot_cost vt_snapshot_cost(void);
uint64_t vt_snapshot_private_bytes(void); /* resident bytes that do not belong to files */
void vt_snapshot_forked(void);

/* triggers.c: decides when snapshots are taken, from VRAMTRACE_SNAPSHOT. */
void vt_triggers_run(void); /* at the end of an event: takes what vt_tls.due requests */
/* Call before the process ends, while its memory is still as the program left it, and again later. */
void vt_triggers_end(void);
/* Like vt_triggers_end, but after the first of exit's handlers have run: allocations that the others hold are not
 * lost. */
void vt_triggers_exit_handlers_ran(void);
/* The number and bytes of allocations that were live when Python ended, before it dropped its objects. 0: Python did
 * not end. */
uint64_t vt_triggers_python_ended(uint64_t *bytes);
void vt_triggers_context_ends(void);
void vt_triggers_finish(void); /* before the log ends: waits for running searches and writes them */
void vt_triggers_phase_ends(const char *name, uint32_t bytes);
/* The same for a range; its end has a number, but no name. */
void vt_triggers_range_starts(uint64_t range, const char *name, uint32_t bytes);
void vt_triggers_range_ends(uint64_t range);
/* The program asks for a snapshot. False: none was taken. */
bool vt_triggers_request(const char *name, uint32_t bytes);
/* Call if a framework reports its failed allocations: a refusal by the driver is then not final. */
void vt_triggers_framework_reports(void);
void vt_triggers_forked(void);

#endif
