/* SPDX-License-Identifier: MIT */
/* What snapshot.c uses of the parts that decide whether memory is copied, and look after the copy. */
#ifndef VT_PRELOAD_COPY_H
#define VT_PRELOAD_COPY_H

#include "native/native.h"
#include "room.h"
#include "snapshot.h"

/* targets.c */

/* Finds what is looked for, but for the allocation at this address (0: none). */
void vt_owners_gather(struct vt_owners *w, uint64_t newest);
/* In the copy: leaves out what was freed before it was made. */
void vt_owners_drop_gone(struct vt_owners *w);

/* bounds.c */

void vt_owners_set_bounds(struct vt_owners *w);
/* Whether the memory may be copied: 0, or enum vt_missed. */
uint32_t vt_owners_why_not_copy(struct vt_owners *w, uint64_t *needed, uint64_t *left);
/* Whether the calling thread may search in place, within bounds that memory sets: all others sleep. */
bool vt_owners_may_stay(struct vt_owners *w, uint64_t *turns);
/* Whether a child may read the program's own memory, while the calling thread waits. */
bool vt_owners_may_share(struct vt_owners *w);
/* Whether a process runs, or waits for a processor alone. */
bool vt_owners_is_runnable(uint32_t pid);

/* Where memory's limits are, as these have found them. */
extern struct vt_room vt_bounds_room;

/* cost.c: a copy was made, in so much of the processor's time; what a child took, or may take, and what
 * of that it did not; of a child of fork. */
void vt_cost_copied(uint64_t ns);
void vt_cost_spent(int64_t ns);
/* A search as memory grew took so much, and did not come to its end if `partial`. */
void vt_cost_searched(uint64_t ns, bool partial);
void vt_cost_forked(void);

/* detach.c, in a copy. */

enum vt_detached { VT_DETACHED = 1, VT_DETACH_NO_TABLE, VT_DETACH_FAILED };
/* Gives up what the program may want to have for itself. `shares_descriptors`: the copy has the program's table of
 * descriptors until then; NO_TABLE: it still has it, and must end. */
enum vt_detached vt_copy_detach(bool shares_descriptors);
/* The calling task runs on any processor, and after all others, or at no real-time priority. Also in a child that
 * shares the memory. */
void vt_copy_give_way(bool idle);

/* copy_guard.c, in a copy. */

void vt_watch_end_first(void);
void vt_watch_begin(struct vt_owners_answer *answer, const struct vt_room *room);
/* Ends the copy. Does not return, nor does the second where its memory is being given back. */
void vt_watch_end(void);
void vt_watch_leaving(void);

#endif
