/* SPDX-License-Identifier: MIT */
/*
 * The log's clock: the processor's counter if its rate is constant, else CLOCK_MONOTONIC. The header has two pairs of
 * readings of both clocks, so that a reader can convert ticks.
 *
 * Called by log.c and log_chunks.c; vt_log_ticks by every module.
 */
#define _GNU_SOURCE
#include "log_file.h"
#include "base/base.h"

#include <time.h>

uint32_t vt_log_clock;
struct vt_clock_pair vt_log_clock_start;
static struct vt_clock_pair rate;           /* the longest span so far, which gives the best rate */
uint64_t vt_log_second_ticks = 1000000000u; /* atomic; ticks per second, by that rate */
static uint32_t calibrating;                /* atomic: a try-lock */
uint64_t vt_log_calibrate_at;               /* atomic: ticks of the next measurement */

#define CLOCK_STOPPED 0xffu /* a value of vt_log_clock, never in a log */
#define READINGS      4u
#define CLOSE         (vt_get(&vt_log_second_ticks) >> 19) /* ticks: two microseconds */
static uint64_t stopped; /* atomic: the time of the stop, incremented to keep events in order */

VT_COLD uint64_t vt_log_slow_ticks(void) {
    if (vt_log_clock == CLOCK_STOPPED)
        return vt_add(&stopped, 1) + 1;
    return vt_sys_clock_ns(CLOCK_MONOTONIC);
}

/* The thread may be interrupted between the two readings, so the closest of a few pairs is used. */
static struct vt_clock_pair clock_pair(void) {
    struct vt_clock_pair best = {0, 0};
    uint64_t apart = UINT64_MAX;
    for (unsigned i = 0; i < READINGS && apart > CLOSE; i++) {
        uint64_t before = vt_log_raw_ticks(), ns = vt_sys_clock_ns(CLOCK_MONOTONIC),
                 took = vt_log_raw_ticks() - before;
        if (took >= apart)
            continue;
        apart = took;
        best = (struct vt_clock_pair){before + took / 2, ns};
    }
    return best;
}

void vt_log_start_clock(void) {
    vt_log_clock = vt_machine_steady_ticks() ? VT_CLOCK_TSC : VT_CLOCK_MONOTONIC;
    if (vt_log_clock == VT_CLOCK_TSC)
        vt_put(&vt_log_second_ticks, vt_ticks_per_second());
    vt_log_clock_start = clock_pair();
}

void vt_log_stop_clock(bool tsc) {
    if (vt_log_clock == CLOCK_STOPPED || (!tsc && vt_log_clock == VT_CLOCK_TSC))
        return;
    vt_put(&stopped, vt_log_raw_ticks());
    vt_log_clock = CLOCK_STOPPED;
}

uint64_t vt_log_ticks(void) {
    return vt_log_now();
}

/* Measures the second calibration pair; a longer span is better. Repeated each time the process's age has doubled
 * (vt_log_enter). So a time in the log is off by at most twice the error of a reading, even if the process was killed,
 * and readers need no clock of their own. `calibration_ticks` is 0 while the other field changes; pairs with
 * vt_log_read_header; model: CALIBRATE. */
void vt_log_calibrate(struct vt_log_header *header) {
    if (!vt_claim(&calibrating, 0, 1))
        return;
    bool running = vt_log_clock != CLOCK_STOPPED && !vt_get(&vt_sys_sealed);
    struct vt_clock_pair now = running ? clock_pair() : vt_log_clock_start;
    if (running && now.ticks - vt_log_clock_start.ticks > rate.ticks) {
        rate.ticks = now.ticks - vt_log_clock_start.ticks;
        rate.monotonic_ns = now.monotonic_ns - vt_log_clock_start.monotonic_ns;
        if (rate.monotonic_ns)
            vt_put(&vt_log_second_ticks,
                   (uint64_t)((double)rate.ticks * 1e9 / (double)rate.monotonic_ns));
    }
    vt_put(&vt_log_calibrate_at, running ? 2 * rate.ticks : UINT64_MAX);
    vt_publish(&header->calibration_ticks, (uint64_t)0);
    vt_publish(&header->calibration_monotonic_ns,
               vt_log_clock_start.monotonic_ns + rate.monotonic_ns);
    vt_publish(&header->calibration_ticks, vt_log_clock_start.ticks + rate.ticks);
    vt_publish(&calibrating, 0);
}

void vt_log_clock_forked(void) {
    vt_log_clock_start = clock_pair();
    vt_put(&calibrating, 0);
}
