/* SPDX-License-Identifier: MIT */
/*
 * The door of scan/: which live allocations does the process still point to when it ends, and by
 * which named path are they held?
 *
 * Law: it runs on one thread, in mapped memory of its own: no malloc, no lock, no CUDA call. Memory
 * whose use is unknown counts as in use and reached, so an allocation is called lost only when
 * nothing points to it. An owner is named only if every step of the path to it is certain. Uses
 * base/, log/, books/, stack/ and event.c.
 */
#ifndef VT_PRELOAD_SCAN_H
#define VT_PRELOAD_SCAN_H

#include "preload.h"

/* Scans, and writes the result to the log. Once per process, before the END mark. If it cannot run,
 * it writes a note with the reason. The stack below `frame` is dead. */
void vt_scan_run(void *frame);

/* The same, when a runtime is about to destroy its context inside exit. Runs only if pinned or
 * managed memory is live, because its contents would be gone later. */
void vt_scan_before_teardown(void *frame);

/* Takes a snapshot of the owners of live memory, and writes it to the log. The calling thread waits
 * for it; others go on. `name` is the number of a NAME record (a phase's, or the program's own name
 * for the snapshot), or 0. Not within a recording. False: none was taken, because nothing is live,
 * another thread is taking one, or there is no log. With the GIL held, nothing changes Python's
 * objects meanwhile, which matters only where the memory cannot be copied. */
bool vt_owners_take(enum vt_snapshot_why why, uint32_t name);

/* The same without waiting: a child walks on in its copy of the memory as it is now. As memory grows
 * (VT_SNAPSHOT_GROWTH), it may take the place of an earlier one. `most_ns` of the processor's time is the most that
 * it may take; 0: the usual bound. False also if memory cannot be copied here, or the ones before are not done. */
bool vt_owners_begin(enum vt_snapshot_why why, uint32_t name, uint64_t ticks, uint64_t most_ns);
/* Writes what they found that are done. With `wait`, waits for all. */
enum vt_owners_state {
    VT_OWNERS_GO_ON = 1, /* some go on, or another thread is here */
    VT_OWNERS_LOST = 2   /* a child died */
};
unsigned vt_owners_finish(bool wait);
bool vt_owners_under_way(void);
/* Writes what is done, and kills what was begun as memory grew. Just before the process ends. */
void vt_owners_give_up(void);
/* What snapshots have cost so far, in ns of the processor's time: of the children, those under way with what they
 * may take; and of the program, by copies and the faults of pages that follow; what the next copy will take of that. */
struct vt_owners_cost {
    uint64_t spent, stood, next;
};
struct vt_owners_cost vt_owners_cost(void);
uint64_t vt_owners_private(void); /* resident bytes that are no file's */
void vt_owners_forked(void);

/* owners_moments.c: when they are taken, by VRAMTRACE_SNAPSHOT. */
void vt_moments_due(void); /* at the end of an event */
void vt_moments_end(void); /* before the process ends, while its memory is still as the program left
                            * it; and again later */
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
