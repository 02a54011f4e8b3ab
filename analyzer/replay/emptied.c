/* SPDX-License-Identifier: MIT */
/*
 * Detects torch.cuda.empty_cache() and similar calls, for the rehearsal. The log has no event for the call, so it is
 * inferred from segments that return to the driver (see walk.h). After a refusal by the driver they return because the
 * allocator retries. With a fraction the allocator may also refuse a request itself, or collect old segments; then the
 * next request shows which it was. Called by accounting.c.
 */
#include "cache_model.h"
#include "walk.h"

/* The fewest bytes that a request of this size takes from the driver, if any. */
static uint64_t least_growth(uint64_t requested) {
    const uint64_t page = VT_CACHE_SMALL_SEGMENT;
    return (requested + page - 1) / page * page;
}

static uint64_t device_bytes(const struct vt_walk *w, unsigned device) {
    uint64_t bytes = 0;
    for (size_t i = 0; i < w->log->device_count; i++)
        if (w->log->devices[i].ordinal == device && w->log->devices[i].total_bytes)
            bytes = w->log->devices[i].total_bytes;
    return bytes;
}

void vt_emptied_note(struct vt_walk *w, const struct vt_segment *s) {
    struct vt_emptied *e = &w->emptied;
    if (!s || !s->holds || s->device != vt_rehearsal_device(w->rehearsal) ||
        vt_fails_is_open(&w->fails, w->tid))
        return;
    /* only segments of large blocks are collected */
    bool small = s->private || s->end - s->start < VT_CACHE_LARGE;
    if (e->pool == 1 + (uint64_t)s->private) {
        e->small |= small;
        return;
    }
    vt_emptied_finalize(w, 0);
    *e = (struct vt_emptied){.pool = 1 + (uint64_t)s->private,
                             .open = w->r->settings.fraction < 1,
                             .small = small,
                             .reserved =
                                 vt_segments_device(w->r->segments, s->device)->now.reserved_bytes};
    if (!e->open)
        vt_rehearsal_empty(w->rehearsal, s->private);
}

void vt_emptied_grow(struct vt_walk *w, uint64_t size) {
    w->emptied.grown += size;
    if (!w->emptied.open)
        w->emptied.pool = 0;
}

/* Whether the allocator released the segments itself, to make room for the request. */
static bool is_own(const struct vt_walk *w, uint64_t requested) {
    const struct vt_emptied *e = &w->emptied;
    const struct vt_cache_settings *s = &w->r->settings;
    double allowed = s->fraction * (double)device_bytes(w, vt_rehearsal_device(w->rehearsal));
    uint64_t growth = least_growth(requested);
    if (!e->grown)
        return false;
    if (e->grown > growth)
        growth = e->grown;
    return (double)(e->reserved + growth) > allowed ||
           (s->collect_from > 0 && !e->small && (double)e->reserved > s->collect_from * allowed);
}

void vt_emptied_finalize(struct vt_walk *w, uint64_t requested) {
    struct vt_emptied *e = &w->emptied;
    if (e->open && !is_own(w, requested))
        vt_rehearsal_empty(w->rehearsal, (uint32_t)(e->pool - 1));
    *e = (struct vt_emptied){0};
}
