/* SPDX-License-Identifier: MIT */
/*
 * The growth of a site or a leak as text, for all outputs.
 */
#ifndef VRAMTRACE_ANALYZER_GROWTH_TEXT_H
#define VRAMTRACE_ANALYZER_GROWTH_TEXT_H

#include "model.h"

/* The name of an iteration: "step", "iteration". */
static inline const char *vt_growth_unit(const struct vt_growth *growth) {
    return growth->marked ? growth->per : "iteration";
}

/* Adds the sentence of the growth's rule: "18 rises, p < 0.001". */
void vt_growth_evidence(const struct vt_growth *growth, struct vt_string *text);

/* Adds "1.00 MiB per step". */
void vt_growth_pace(const struct vt_growth *growth, struct vt_string *text);

/* Whether the device will be full soon enough to report: within 1000 times the length of the run. */
static inline bool vt_growth_fills_soon(const struct vt_growth *growth, uint64_t ran) {
    return growth->full_in != VT_UNKNOWN && growth->full_in / 1000 <= ran;
}

#endif
