/* SPDX-License-Identifier: MIT */
/*
 * How good a process's log is: what may be concluded from it. The build (build_head.c, build_notes.c) fills it in; every
 * command and format asks here instead of weighing drops, cuts and damage by itself.
 */
#ifndef VRAMTRACE_ANALYZER_LOG_QUALITY_H
#define VRAMTRACE_ANALYZER_LOG_QUALITY_H

#include <stdbool.h>
#include <stdint.h>

struct vt_log_quality {
    bool complete;    /* it reaches the process's end, undamaged; JSON `complete` */
    bool gaps;        /* it is cut off or damaged: how many events are missing is unknown */
    uint64_t missing; /* events that could not be recorded; JSON `dropped_events` */
    uint64_t
        missing_live; /* those that leave open what was live at the end; 0: the live set is exact */
    uint64_t missing_growth; /* those after which nothing was recorded: growth may be missed */
    uint64_t damaged;        /* at most this many more are missing where it is damaged */
    const char *
        missing_why; /* the note that says why events are missing, one of vt_process.notes; NULL: none are */
};

/* Counts events that are missing. `live_listed`: the log lists what was live at the end. `ended`: nothing was recorded
 * after them. */
static inline void vt_log_misses(struct vt_log_quality *q, uint64_t count, bool live_listed,
                                 bool ended) {
    q->missing += count;
    q->missing_live += live_listed ? 0 : count;
    q->missing_growth += ended ? count : 0;
}

/* Every event of the process's life is there. */
static inline bool vt_log_is_whole(const struct vt_log_quality *q) {
    return q->complete && !q->missing;
}

/* Peaks are exact: nothing is missing up to where the log ends. Also of a process that still runs. */
static inline bool vt_log_peak_is_exact(const struct vt_log_quality *q) {
    return !q->missing && !q->gaps;
}

/* So many live blocks of a site may have been freed by events that are missing; 0: the live set is exact. */
static inline uint64_t vt_log_doubtful_live(const struct vt_log_quality *q) {
    return q->missing_live + q->damaged;
}

/* More than one event in a hundred is missing: it may be the largest allocation. A log of millions that lost a few
 * is worth comparing. */
static inline bool vt_log_lacks_much(const struct vt_log_quality *q, uint64_t events) {
    return q->missing > events / 100;
}

#endif
