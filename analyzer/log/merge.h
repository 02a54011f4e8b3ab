/* SPDX-License-Identifier: MIT */
/*
 * The order of events: a log's chunks are one thread's each; this hands out the events of all of
 * them by time, what frees first (vt_log_key). For replay.c, and for whatever else walks a log in
 * order.
 */
#ifndef VRAMTRACE_ANALYZER_MERGE_H
#define VRAMTRACE_ANALYZER_MERGE_H

#include "log_reader.h"

/* Some events that follow each other in time: each at bytes + offsets[i], whole and within bounds.
 * Behind them `ahead` more offsets may be looked at: later events of the same chunk, for
 * prefetching. Valid until the next call. */
struct vt_batch {
    const uint8_t *bytes;
    const uint16_t *offsets;
    uint32_t count, ahead;
    uint32_t tid; /* the thread whose events these are */
};

struct vt_merge;

/* Starts at the first event, ends after the last one whose time is at most `until` ticks. Never
 * NULL. */
struct vt_merge *vt_merge_open(const struct vt_log *log, uint64_t until);
bool vt_merge_next(struct vt_merge *merge, struct vt_batch *batch); /* false: no more */
/* 0, or -errno where the events ended early because a chunk could not be read: `message` says. */
int vt_merge_close(struct vt_merge *merge, struct vt_string *message);

#endif
