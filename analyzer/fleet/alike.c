/* SPDX-License-Identifier: MIT */
/*
 * Parts sorted values into groups that are alike (see alike.h). Every limit has the figure that it was
 * chosen for; tests/unit/analyzer/fleet/alike_test.c fails without any of them.
 */
#include "alike.h"

#include <stdlib.h>

/* A gap parts values only if it is wider than this share of the lower one. Noise of 2 % up and down puts
 * the highest 4.1 % above the lowest. */
#define GAP_PERCENT 5

/* ... and wider than so many times the spread on either side: of 8 values by chance within 10 % up and
 * down, 1.3 % have such a gap, of 16 one in a thousand. */
#define GAP_SPREADS 3

/* Fewer values than FEW are near each other by chance: of 3 within 10 % up and down, 39 % would be parted,
 * of 6 still 9 %. So their gap has to be wider: then 6 % of 3 are, and less of more. One that holds a
 * quarter more is still seen beside noise of 2 %. But what is equal to the byte is not so by chance. */
#define FEW         8
#define FEW_PERCENT 15

/* From so many values on the spread is that of the middle half: a few stragglers do not hide others. */
#define MANY 8

/* The group that the others are compared with has two processes and a quarter of all: the stages of a
 * pipeline of four. Without it every rank of a job in which all differ would be named. */
#define MOST_PART 4

struct part {
    const struct vt_alike_value *values;
    uint32_t value_count, count;
};

uint64_t vt_alike_at(const struct vt_alike_value *values, uint32_t value_count, uint32_t count,
                     uint32_t index) {
    uint32_t none = count - value_count;
    return index < none ? 0 : values[index - none].value;
}

static uint64_t at(const struct part *p, uint32_t index) {
    return vt_alike_at(p->values, p->value_count, p->count, index);
}

static uint64_t spread(const struct part *p, const struct vt_alike *group) {
    uint32_t size = group->end - group->first, out = size >= MANY ? size / 4 : 0;
    return at(p, group->end - 1 - out) - at(p, group->first + out);
}

static bool parted(const struct part *p, const struct vt_alike *low, const struct vt_alike *high) {
    uint64_t gap = at(p, high->first) - at(p, low->end - 1);
    uint64_t below = spread(p, low), above = spread(p, high), wider = below > above ? below : above;
    bool equal = !wider && high->end - low->first > 2;
    if (p->count > 2 && p->count < FEW && !equal && gap <= at(p, low->end - 1) / 100 * FEW_PERCENT)
        return false;
    return gap > GAP_SPREADS * wider;
}

/* Parts at every gap that is wide by itself. */
static struct vt_alike *part_all(const struct part *p, uint64_t least, uint32_t *groups) {
    struct vt_alike *list = NULL;
    uint32_t count = 0, room = 0;
    VT_GROW(list, count, room);
    list[count++] = (struct vt_alike){0, p->count};
    /* all that have none are one value */
    uint32_t start = p->count - p->value_count;
    for (uint32_t i = start ? start : 1; i < p->count; i++) {
        uint64_t before = at(p, i - 1), gap = at(p, i) - before;
        if (gap <= least || gap <= before / 100 * GAP_PERCENT)
            continue;
        list[count - 1].end = i;
        VT_GROW(list, count, room);
        list[count++] = (struct vt_alike){i, p->count};
    }
    *groups = count;
    return list;
}

/* Joins neighbours whose gap is not wide beside their spread. What was joined is spread wider, so it
 * begins anew. There are few groups: each is 5 % above the one before. */
static void join(const struct part *p, struct vt_alike *list, uint32_t *groups) {
    bool joined = true;
    while (joined) {
        uint32_t kept = 0;
        joined = false;
        for (uint32_t i = 1; i < *groups; i++) {
            if (parted(p, &list[kept], &list[i])) {
                list[++kept] = list[i];
            } else {
                list[kept].end = list[i].end;
                joined = true;
            }
        }
        *groups = kept + 1;
    }
}

struct vt_alike *vt_alike_find(const struct vt_alike_value *values, uint32_t value_count,
                               uint32_t count, uint64_t least, uint32_t *groups, uint32_t *most) {
    struct part p = {values, value_count, count};
    struct vt_alike *list = part_all(&p, least, groups);
    join(&p, list, groups);
    *most = 0;
    for (uint32_t i = 1; i < *groups; i++)
        if (list[i].end - list[i].first > list[*most].end - list[*most].first)
            *most = i;
    uint32_t size = list[*most].end - list[*most].first,
             needed = (count + MOST_PART - 1) / MOST_PART;
    if (*groups > 1 && (count == 2 || size >= (needed > 2 ? needed : 2)))
        return list;
    free(list);
    return NULL;
}
