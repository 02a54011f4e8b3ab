/* SPDX-License-Identifier: MIT */
/*
 * The events of all threads in the order of vt_log_key. In the file, each chunk holds the events of
 * one thread at a time. For the replay.
 */
#ifndef VRAMTRACE_ANALYZER_MERGE_H
#define VRAMTRACE_ANALYZER_MERGE_H

#include "log_reader.h"

/* Bytes that can be read at an event's record, which may be shorter: then the next record's follow. */
enum { VT_BATCH_READABLE = 64 };

/* Events that follow each other in time. `ahead` more follow: later events of the same chunk, for
 * prefetching. Valid until the next call. */
struct vt_batch {
    struct vt_event *events;
    const uint8_t *chunk; /* has the records of other events than allocations and frees */
    uint32_t count, ahead;
    uint32_t tid; /* the thread whose events these are */
};

struct vt_merge;

/* All events up to the time `until`, in ticks. Never NULL; the log must outlive it. Free it with
 * vt_merge_close. */
struct vt_merge *vt_merge_open(const struct vt_log *log, uint64_t until);
bool vt_merge_next(struct vt_merge *merge, struct vt_batch *batch); /* false: no more */
/* Frees it. Returns 0, or -errno with `message` if the events ended early, because a chunk could
 * not be read. */
int vt_merge_close(struct vt_merge *merge, struct vt_string *message);

#endif
