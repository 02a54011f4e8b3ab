/* SPDX-License-Identifier: MIT */
/*
 * Numbers that are joined to sets, reason by reason: union-find.
 */
#ifndef VRAMTRACE_ANALYZER_SETS_H
#define VRAMTRACE_ANALYZER_SETS_H

#include <stdint.h>

/* `count` sets of one number each: sets[i] is i. Free it. */
uint32_t *vt_sets_make(uint32_t count);

/* The least number of the set that `i` is in. */
uint32_t vt_sets_find(uint32_t *sets, uint32_t i);

/* Makes one set of those of `a` and of `b`. */
void vt_sets_join(uint32_t *sets, uint32_t a, uint32_t b);

#endif
