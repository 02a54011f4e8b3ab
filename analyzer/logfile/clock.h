/* SPDX-License-Identifier: MIT */
/*
 * Ticks <-> nanoseconds, by the two calibration pairs in a log's header.
 */
#ifndef VRAMTRACE_ANALYZER_CLOCK_H
#define VRAMTRACE_ANALYZER_CLOCK_H

#include "log_reader.h"

struct vt_clock {
    double ns_per_tick;
    bool guessed; /* no second pair, and the machine was rebooted: times are only proportional
                     */
};

/* Never fails: see `guessed`. */
struct vt_clock vt_clock_of(const struct vt_log *log);

static inline uint64_t vt_clock_ns(struct vt_clock clock, uint64_t ticks) {
    return (uint64_t)((double)ticks * clock.ns_per_tick);
}
static inline uint64_t vt_clock_ticks(struct vt_clock clock, double ns) {
    double ticks = ns / clock.ns_per_tick;
    return ticks >= (double)VT_TICKS_MASK ? VT_TICKS_MASK : (uint64_t)ticks;
}

#endif
