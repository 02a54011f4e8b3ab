/* SPDX-License-Identifier: MIT */
/*
 * The quality of a process's log: which conclusions it supports. build_head.c and build_notes.c fill it in. Commands
 * and formats use it instead of interpreting drops, cuts and damage themselves.
 */
#ifndef VRAMTRACE_ANALYZER_LOG_QUALITY_H
#define VRAMTRACE_ANALYZER_LOG_QUALITY_H

#include <stdbool.h>
#include <stdint.h>

struct vt_log_quality {
    bool complete;           /* undamaged up to the process's end; JSON `complete` */
    bool gaps;               /* cut off or damaged: the number of missing events is unknown */
    uint64_t missing;        /* events that could not be recorded; JSON `dropped_events` */
    uint64_t missing_live;   /* those that make the live set at the end uncertain; 0: it is exact */
    uint64_t missing_growth; /* those not followed by any recorded event: growth may be missed */
    uint64_t damaged;        /* upper limit of further events missing in damaged parts */
    /* ns: single events are known from here, as earlier ones were compacted (0: all); JSON `compacted_until_ns` */
    uint64_t details_from;
    /* ns: and up to here, where the log reached its bound (VT_UNKNOWN: to the end); JSON `events_until_ns` */
    uint64_t details_until;
    /* the note with the reason, an element of vt_process.notes; NULL: no events are missing */
    const char *missing_why;
};

/* Counts missing events. `live_listed`: the log lists the live blocks at the end. `ended`: nothing was recorded after
 * them. */
static inline void vt_log_misses(struct vt_log_quality *q, uint64_t count, bool live_listed,
                                 bool ended) {
    q->missing += count;
    q->missing_live += live_listed ? 0 : count;
    q->missing_growth += ended ? count : 0;
}

/* No event of the process is missing. */
static inline bool vt_log_is_whole(const struct vt_log_quality *q) {
    return q->complete && !q->missing;
}

/* Peaks are exact: no event is missing up to the log's end. Can be true while the process runs. */
static inline bool vt_log_peak_is_exact(const struct vt_log_quality *q) {
    return !q->missing && !q->gaps;
}

/* How many live blocks missing events may have freed; 0: the live set is exact. */
static inline uint64_t vt_log_doubtful_live(const struct vt_log_quality *q) {
    return q->missing_live + q->damaged;
}

/* More than one event in a hundred is missing, perhaps the largest allocation. A log of millions of events is still
 * worth comparing if a few are missing. */
static inline bool vt_log_lacks_much(const struct vt_log_quality *q, uint64_t events) {
    return q->missing > events / 100;
}

#endif
