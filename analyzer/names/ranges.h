/* SPDX-License-Identifier: MIT */
/*
 * Ranges of addresses that may lie in each other: which is the smallest around an address? For
 * scopes.c and elf_symbols.c.
 */
#ifndef VRAMTRACE_ANALYZER_RANGES_H
#define VRAMTRACE_ANALYZER_RANGES_H

#include "base/base.h"

#define VT_NO_RANGE UINT32_MAX

/* Start it as {0}; free with vt_ranges_free. */
struct vt_ranges {
    struct vt_range_row *row;
    uint32_t count, room;
};

/* Adds [low, high), which has a number of the caller's. Ignores an empty range. */
void vt_ranges_add(struct vt_ranges *ranges, uint64_t low, uint64_t high, uint32_t number);

/* To be called once all are added, before any is looked up. n log n. */
void vt_ranges_sort(struct vt_ranges *ranges);

/* The number of the smallest range around an address; of equal ones the highest number. VT_NO_RANGE:
 * there is none. */
uint32_t vt_ranges_at(const struct vt_ranges *ranges, uint64_t address);

/* The lowest start of a range above an address; UINT64_MAX: there is none. */
uint64_t vt_ranges_next(const struct vt_ranges *ranges, uint64_t address);

void vt_ranges_free(struct vt_ranges *ranges);

#endif
