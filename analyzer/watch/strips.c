/* SPDX-License-Identifier: MIT */
/*
 * The numbers for a device's bar and its course (see strips.h).
 */
#include "strips.h"

#define SPAN_MOST  (5 * VT_WATCH_MINUTE)
#define SPAN_LEAST (VT_WATCH_MINUTE / 60)

const struct vt_strip_look vt_strip_looks[VT_STRIPS] = {
    [VT_STRIP_IN_USE] = {"in use", '#'},       [VT_STRIP_CACHED] = {"cached", '='},
    [VT_STRIP_UNTRACKED] = {"untracked", ':'}, [VT_STRIP_OTHERS] = {"others", '-'},
    [VT_STRIP_FREE] = {"free", '.'},
};

uint64_t vt_strip_bytes(const struct vt_watch_device *d, enum vt_strip part) {
    const uint64_t bytes[VT_STRIPS] = {d->in_use, d->cached, d->device->untracked_bytes,
                                       d->device->other_processes_bytes, d->free};
    return bytes[part] == VT_UNKNOWN ? 0 : bytes[part];
}

static unsigned widest_of(const unsigned widths[VT_STRIPS]) {
    unsigned widest = 0;
    for (unsigned i = 0; i < VT_STRIPS; i++)
        widest = widths[i] > widths[widest] ? i : widest;
    return widest;
}

uint64_t vt_strips_bar(const struct vt_watch_device *d, unsigned columns,
                       unsigned widths[VT_STRIPS]) {
    uint64_t whole = 0;
    unsigned used = 0;
    for (unsigned i = 0; i < VT_STRIPS; i++)
        whole += vt_strip_bytes(d, i);
    for (unsigned i = 0; i < VT_STRIPS; i++) {
        uint64_t bytes = vt_strip_bytes(d, i);
        widths[i] = whole ? (unsigned)((double)bytes * columns / (double)whole) : 0;
        widths[i] += bytes && !widths[i];
        used += widths[i];
    }
    for (; used > columns; used--) /* take columns from the widest for the smallest parts */
        widths[widest_of(widths)]--;
    widths[whole ? widest_of(widths) : VT_STRIP_FREE] += columns - used;
    return whole;
}

/* Advances to a point, and raises a column's maximum to it. */
static void step_to_point(struct vt_strip_level *now, struct vt_strip_level *most,
                          const struct vt_watch_point *point) {
    now->live = point->live;
    now->in_use = point->in_use == VT_UNKNOWN ? now->in_use : point->in_use;
    most->live = now->live > most->live ? now->live : most->live;
    most->in_use = now->in_use > most->in_use ? now->in_use : most->in_use;
}

struct vt_strip_level *vt_strips_course(const struct vt_watch_device *d, uint64_t now,
                                        unsigned columns, struct vt_strip_course *c) {
    struct vt_strip_level level = {0}, *levels = vt_alloc(columns, sizeof *levels);
    uint32_t at = 0;
    *c = (struct vt_strip_course){0};
    c->span = now < SPAN_LEAST ? SPAN_LEAST : now < SPAN_MOST ? now : SPAN_MOST;
    uint64_t begin = now > c->span ? now - c->span : 0;
    for (; at < d->course_count && d->course[at].at < begin; at++)
        step_to_point(&level, &(struct vt_strip_level){0}, &d->course[at]);
    for (unsigned i = 0; i < columns; i++) {
        uint64_t end = begin + (uint64_t)((double)c->span * (i + 1) / columns);
        struct vt_strip_level *most = &levels[i];
        *most = level;
        for (; at < d->course_count && (d->course[at].at < end || i + 1 == columns); at++)
            step_to_point(&level, most, &d->course[at]);
        most->in_use = most->in_use < most->live ? most->in_use : most->live;
        c->highest = most->live > c->highest ? most->live : c->highest;
    }
    return levels;
}
