/* SPDX-License-Identifier: MIT */
/*
 * The events of all threads in the order of vt_log_key. In the file, each chunk holds the events of
 * one thread at a time. For the replay.
 */
#ifndef VRAMTRACE_ANALYZER_MERGE_H
#define VRAMTRACE_ANALYZER_MERGE_H

#include "log_reader.h"

/* Bytes that can always be read at an event's record, even if the record is shorter. */
enum { VT_BATCH_READABLE = 64 };

/* Consecutive events of one thread. `ahead` later events of the same chunk follow in `events`, for prefetching.
 * Valid until the next call. */
struct vt_batch {
    struct vt_event *events;
    const uint8_t *chunk; /* contains the records of all other events than allocations and frees */
    uint32_t count, ahead;
    uint32_t tid; /* the events' thread */
};

struct vt_merge;

/* Never NULL; the log must outlive it. Free it with vt_merge_close. */
struct vt_merge *vt_merge_open(const struct vt_log *log);
/* From now on delivers events up to `until`, in ticks, as far as the log was read (vt_log_resume). A late event,
 * read after later ones were delivered, gets their time. */
void vt_merge_go_on(struct vt_merge *merge, uint64_t until);
bool vt_merge_next(struct vt_merge *merge, struct vt_batch *batch); /* false: no more for now */
uint64_t vt_merge_late(const struct vt_merge *merge);               /* number of late events */
/* Events that were read, but are later than `until`. */
uint64_t vt_merge_left(const struct vt_merge *merge);
/* If the events ended early, because a chunk could not be read: returns -errno with `message`; else 0. */
int vt_merge_failed(const struct vt_merge *merge, struct vt_string *message);
void vt_merge_close(struct vt_merge *merge);

/* Once vt_merge_next has no more: the time up to which all events, and none beyond, were delivered. */
uint64_t vt_merge_until(const struct vt_merge *merge);
/* Saves or loads the state of the merge, beside vt_log_state. */
void vt_merge_state(struct vt_merge *merge, struct vt_state *s);

#endif
