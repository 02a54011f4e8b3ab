/* SPDX-License-Identifier: MIT */
/* Ranges that may be nested (see dwarf.h): sorted by start; each has the index of the range around it. */
#include "dwarf.h"

#include <stdlib.h>

struct vt_range_row {
    uint64_t low, high;
    uint32_t number, outer; /* outer: the row of the smallest range around it */
};

void vt_ranges_add(struct vt_ranges *ranges, uint64_t low, uint64_t high, uint32_t number) {
    if (low >= high)
        return;
    *VT_ADD(ranges->row, ranges->count, ranges->room) =
        (struct vt_range_row){low, high, number, VT_NO_RANGE};
}

static int compare_ranges(const void *a, const void *b) {
    const struct vt_range_row *x = a, *y = b;
    return VT_ORDER({x->low, y->low}, {y->high, x->high}, {x->number, y->number});
}

void vt_ranges_sort(struct vt_ranges *ranges) {
    struct vt_range_row *row = ranges->row;
    vt_sort(row, ranges->count, sizeof *row, compare_ranges);
    for (uint32_t i = 0, around = VT_NO_RANGE; i < ranges->count; around = i++) {
        while (around != VT_NO_RANGE && row[around].high <= row[i].low)
            around = row[around].outer;
        row[i].outer = around;
    }
}

/* The first row that starts above an address. */
static uint32_t above(const struct vt_ranges *ranges, uint64_t address) {
    uint32_t low = 0, high = ranges->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (ranges->row[middle].low <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

uint32_t vt_ranges_at(const struct vt_ranges *ranges, uint64_t address) {
    uint32_t next = above(ranges, address), i = next ? next - 1 : VT_NO_RANGE;
    while (i != VT_NO_RANGE && ranges->row[i].high <= address)
        i = ranges->row[i].outer;
    return i == VT_NO_RANGE ? VT_NO_RANGE : ranges->row[i].number;
}

uint64_t vt_ranges_next(const struct vt_ranges *ranges, uint64_t address) {
    uint32_t next = above(ranges, address);
    return next < ranges->count ? ranges->row[next].low : UINT64_MAX;
}

void vt_ranges_free(struct vt_ranges *ranges) {
    free(ranges->row);
    *ranges = (struct vt_ranges){0};
}
