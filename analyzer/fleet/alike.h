/* SPDX-License-Identifier: MIT */
/*
 * Which of several values are alike, and which are not: outliers.c asks it for each line of code and
 * each owner of a group of peers.
 *
 * A median and a spread alone would do for one outlier among many. But ranks often come in groups: the
 * first and the last stage of a pipeline hold embeddings, and with two stages neither is a majority. So
 * values are parted where a gap is wide beside all that lies on either side of it.
 */
#ifndef VRAMTRACE_ANALYZER_FLEET_ALIKE_H
#define VRAMTRACE_ANALYZER_FLEET_ALIKE_H

#include "base/base.h"

/* A process's value. */
struct vt_alike_value {
    uint64_t value;
    uint32_t process;
};

/* Values that are alike: of the sorted values those from `first` up to `end`. */
struct vt_alike {
    uint32_t first, end;
};

/* Parts `values`, sorted by value, of `count` processes; those that have none are 0, and stand before
 * them. Indices count these too: index i is values[i - (count - value_count)]. Gaps of `least` and
 * below part nothing. Returns the groups (free them), and in *most which one the others are compared
 * with: the largest, of equal ones the one that holds least. NULL: all are alike, or so many differ
 * that nobody can be named. */
struct vt_alike *vt_alike_find(const struct vt_alike_value *values, uint32_t value_count,
                               uint32_t count, uint64_t least, uint32_t *groups, uint32_t *most);

/* The value at an index. */
uint64_t vt_alike_at(const struct vt_alike_value *values, uint32_t value_count, uint32_t count,
                     uint32_t index);

#endif
