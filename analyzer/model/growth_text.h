/* SPDX-License-Identifier: MIT */
/*
 * How a leak grows, in the words of the report, the verdicts and watch.
 */
#ifndef VRAMTRACE_ANALYZER_GROWTH_TEXT_H
#define VRAMTRACE_ANALYZER_GROWTH_TEXT_H

#include "model.h"

/* What an iteration is called: "step", "round". */
static inline const char *vt_growth_unit(const struct vt_growth *growth) {
    return growth->marked ? growth->per : "round";
}

/* "p < ...": a bound of the chance that the trend is random. */
static inline const char *vt_growth_chance(const struct vt_growth *growth) {
    return growth->chance < 0.001 ? "0.001" : growth->chance < 0.01 ? "0.01" : "0.02";
}

/* Whether the device will be full so soon that it is worth saying: within 1000 times of how long the process
 * ran. */
static inline bool vt_growth_fills_soon(const struct vt_growth *growth, uint64_t ran) {
    return growth->full_in != VT_UNKNOWN && growth->full_in / 1000 <= ran;
}

#endif
