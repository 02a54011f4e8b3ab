/* SPDX-License-Identifier: MIT */
/* Inside snapshot/: snapshot.c's helpers, which decide whether memory is copied, and look after the copy. */
#ifndef VT_PRELOAD_COPY_H
#define VT_PRELOAD_COPY_H

#include "native/native.h"
#include "room.h"
#include "snapshot.h"

/* targets.c */

/* Collects the allocations to search for, except the one at `newest` (0: all). */
void vt_targets_gather(struct vt_owners *w, uint64_t newest);
/* In the copy: removes targets that were freed before the copy was made. */
void vt_targets_drop_freed(struct vt_owners *w);

/* bounds.c: the limits of a search, from the options and the size of the process. */

void vt_bounds_set(struct vt_owners *w);
/* Whether the memory may be copied. 0: yes; else the reason against it (enum vt_missed). Stores the number of bytes
 * that a copy may need, and the number left. */
uint32_t vt_bounds_why_not_copy(struct vt_owners *w, uint64_t *needed, uint64_t *left);
/* Whether the calling thread may search in place, because all others sleep; lowers the memory limit to the free memory.
 * *turns: how often the others ran so far. */
bool vt_bounds_may_search_in_place(struct vt_owners *w, uint64_t *turns);
/* Whether a child may read the program's own memory while the calling thread waits. */
bool vt_bounds_may_share(struct vt_owners *w);
/* Whether a process runs, or waits only for a processor. */
bool vt_bounds_is_runnable(uint32_t pid);

/* The memory limits that these functions found. */
extern struct vt_room vt_bounds_room;

/* cost.c, in ns of processor time. vt_cost_copied: the program made a copy. vt_cost_spent: a child used this time, or
 * was allowed it; negative: the unused part. */
void vt_cost_copied(uint64_t ns);
void vt_cost_spent(int64_t ns);
/* A search on growth used this time; `partial`: it did not finish. */
void vt_cost_searched(uint64_t ns, bool partial);
void vt_cost_forked(void);

/* detach.c, in a copy. */

enum vt_detached { VT_DETACHED = 1, VT_DETACH_NO_TABLE, VT_DETACH_FAILED };
/* Releases everything that the program may want for itself. `shares_descriptors`: the copy has the program's table of
 * descriptors until then. After NO_TABLE it still has that table, and must end. */
enum vt_detached vt_copy_detach(bool shares_descriptors);
/* Lets the calling task run on any processor, without real-time priority; `idle`: only when nothing else runs. Also
 * used in a child that shares the memory. */
void vt_copy_give_way(bool idle);

/* copy_guard.c, in a copy. */

void vt_copy_guard_die_first(void);
void vt_copy_guard_begin(struct vt_owners_answer *answer, const struct vt_room *room);
/* vt_copy_guard_end ends the copy. vt_copy_guard_wait_if_leaving does not return if the copy's memory is being
 * released. */
void vt_copy_guard_end(void);
void vt_copy_guard_wait_if_leaving(void);

#endif
