/* SPDX-License-Identifier: MIT */
/*
 * Ticks <-> nanoseconds (see clock.h). The rate comes from two pairs of (ticks, CLOCK_MONOTONIC) in the log, however
 * close they are, so that all readers of a log get the same nanoseconds. The tracer renews the second pair as the
 * process grows older, so it is never far from the events. If the log has only the first pair and the machine has not
 * rebooted since, the current time serves as the second, because both clocks are still running.
 */
#include "clock.h"

#include "vramtrace/ticks.h"

/* Counters run at 1 MHz to 20 GHz: x86's at 50 MHz or more, AArch64's often at 25 or 31. */
static bool plausible(double ns_per_tick) {
    return ns_per_tick >= 0.05 && ns_per_tick <= 1000;
}

static double rate(const struct vt_log_header *h, uint64_t ticks, uint64_t monotonic_ns) {
    if (ticks <= h->start_ticks || monotonic_ns <= h->start_monotonic_ns)
        return 0;
    return (double)(monotonic_ns - h->start_monotonic_ns) / (double)(ticks - h->start_ticks);
}

struct vt_clock vt_clock_of(const struct vt_log *log) {
    const struct vt_log_header *h = &log->header;
    if (h->clock == VT_CLOCK_MONOTONIC)
        return (struct vt_clock){.ns_per_tick = 1};
    double r = rate(h, h->calibration_ticks, h->calibration_monotonic_ns);
    if (plausible(r))
        return (struct vt_clock){.ns_per_tick = r};
    if (vt_log_is_of_boot(h)) {
        uint64_t now = vt_now_ns();
        r = rate(h, vt_ticks(), now);
        if (plausible(r))
            return (struct vt_clock){.ns_per_tick = r};
    }
    /* 2.5 GHz: a common rate of server processors' counters */
    return (struct vt_clock){.ns_per_tick = 0.4, .guessed = true};
}
