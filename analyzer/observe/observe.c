/* SPDX-License-Identifier: MIT */
/*
 * The walk that timelines are made in (see observe.h), and the ring of the last changes.
 */
#include "parts.h"

#include <stdlib.h>

struct ring {
    struct vt_change *changes; /* the oldest at `count % VT_CHANGES`, once it is full */
    uint64_t count;            /* of all so far */
    size_t room;
};

struct maker {
    const struct vt_sources *sources;
    struct vt_timeline *timeline;
    struct vt_course_maker *courses; /* NULL: not asked for; likewise the others */
    struct vt_maps_maker *maps;
    struct ring *ring;
};

/* --- the last changes --- */

static void ring_add(struct maker *m, const struct vt_observed *o, unsigned layer, bool mapping) {
    struct ring *ring = m->ring;
    bool known = o->site != VT_NO_SITE;
    if (ring->count < VT_CHANGES)
        VT_GROW(ring->changes, ring->count, ring->room);
    ring->changes[ring->count++ % VT_CHANGES] = (struct vt_change){
        .at = vt_clock_ns(m->sources->clock, o->ticks),
        .address = o->address,
        .bytes = o->bytes,
        .site = known ? m->sources->index[o->site] : VT_NO_SITE,
        .thread = o->thread,
        .layer = (uint8_t)layer,
        .device = (uint8_t)o->device,
        .alloc = o->alloc,
        .segment = known && m->sources->replay->sites[o->site].segments,
        .unplaced = o->kind == VT_KIND_PHYSICAL && !mapping,
        .mapping = mapping,
    };
}

/* Gives the timeline the changes in order. */
static void ring_end(struct ring *ring, struct vt_timeline *t) {
    if (ring->count <= VT_CHANGES) {
        t->changes = ring->changes;
        t->change_count = (uint32_t)ring->count;
        return;
    }
    t->change_count = VT_CHANGES;
    t->changes_left_out = ring->count - VT_CHANGES;
    t->changes = vt_alloc(VT_CHANGES, sizeof *t->changes);
    for (uint32_t i = 0; i < VT_CHANGES; i++)
        t->changes[i] = ring->changes[(ring->count + i) % VT_CHANGES];
    free(ring->changes);
}

/* --- the walk --- */

static void on_begin(void *context, const struct vt_replay *r, uint64_t ticks) {
    struct maker *m = context;
    if (m->courses)
        vt_course_restart(m->courses, r, ticks);
}

static void on_change(void *context, const struct vt_replay *r, const struct vt_observed *o) {
    struct maker *m = context;
    if (m->maps)
        vt_maps_settle(m->maps, r, m->timeline);
    if (m->courses)
        vt_course_change(m->courses, r, o);
    if (m->ring && m->sources->index[o->site] != VT_NO_SITE)
        ring_add(m, o, r->sites[o->site].layer, false);
}

static void on_map(void *context, const struct vt_replay *r, const struct vt_observed *o) {
    struct maker *m = context;
    (void)r;
    if (m->ring && (o->site == VT_NO_SITE || m->sources->index[o->site] != VT_NO_SITE))
        ring_add(m, o, VT_LAYER_DRIVER, true);
}

static void on_stop(struct vt_observer *observer, const struct vt_replay *r) {
    struct maker *m = observer->context;
    vt_maps_draw(m->maps, r, m->timeline);
    observer->stop_at = vt_maps_next(m->maps);
}

int vt_observe_run(const struct vt_sources *sources, unsigned parts, struct vt_process *p,
                   struct vt_string *message) {
    struct ring ring = {0};
    struct vt_replay replay;
    struct maker m = {.sources = sources, .timeline = vt_alloc(1, sizeof *m.timeline)};
    struct vt_observer observer = {.context = &m,
                                   .begin = on_begin,
                                   .change = on_change,
                                   .map = on_map,
                                   .stop = on_stop,
                                   .stop_at = UINT64_MAX};
    p->timeline = m.timeline;
    if (parts & VT_TIMELINE_COURSES)
        m.courses = vt_course_begin(sources, p);
    if (parts & (VT_TIMELINE_MAPS | VT_TIMELINE_END)) {
        m.maps = vt_maps_begin(sources, p, parts & VT_TIMELINE_END);
        observer.stop_at = vt_maps_next(m.maps);
    }
    if (parts & VT_TIMELINE_CHANGES)
        m.ring = &ring;
    int error = vt_replay_run(sources->log, sources->window,
                              (struct vt_replay_wishes){.observer = &observer}, &replay, message);
    vt_replay_free(&replay);
    if (m.courses)
        vt_course_end(m.courses, m.timeline);
    if (m.maps)
        vt_maps_end(m.maps, m.timeline);
    ring_end(&ring, m.timeline);
    return error;
}
