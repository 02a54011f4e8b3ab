/* SPDX-License-Identifier: MIT */
/*
 * Address maps, the last changes and alarms in the model's terms (see draw.h).
 */
#include "draw.h"

#include <stdlib.h>
#include <string.h>

static uint32_t site_of(const struct vt_sources *s, uint32_t replay_site) {
    return replay_site == VT_NO_SITE ? VT_NO_SITE : s->index[replay_site];
}

/* `count` items of `size` bytes; the caller frees them. */
static void *copied(const void *items, size_t count, size_t size) {
    void *copy = vt_alloc(count, size);
    if (count)
        memcpy(copy, items, count * size);
    return copy;
}

/* Whether a region is a caching allocator's although no block lay in it at that time: other memory of its call site
 * holds blocks. */
static bool is_fresh_segment(const struct vt_sources *s, const struct vt_map_region *region) {
    return !region->segment && region->site != VT_NO_SITE &&
           s->replay->sites[region->site].segments;
}

static void draw_map(const struct vt_sources *s, const struct vt_address_map *from,
                     struct vt_address_map *map) {
    *map = *from;
    map->at = vt_clock_ns(s->clock, from->at);
    map->regions = copied(from->regions, from->region_count, sizeof *map->regions);
    map->pieces = copied(from->pieces, from->piece_count, sizeof *map->pieces);
    for (uint32_t i = 0; i < map->piece_count; i++)
        map->pieces[i].site = site_of(s, map->pieces[i].site);
    for (uint32_t i = 0; i < map->region_count; i++) {
        struct vt_map_region *region = &map->regions[i];
        if (is_fresh_segment(s, region)) {
            region->segment = true;
            map->pieces[region->first] = (struct vt_map_piece){
                .bytes = region->bytes, .idle_bytes = region->bytes, .site = VT_NO_SITE};
        }
        region->site = site_of(s, region->site);
    }
}

/* Whether the model has a drawn moment. The model has only one of several refusals of a request. */
static bool is_shown(const struct vt_process *p, const struct vt_picture_map *from, uint32_t *oom) {
    *oom = 0;
    if (from->map.why == VT_MAP_OOM) {
        while (*oom < p->oom_count && p->ooms[*oom].number != from->map.oom)
            ++*oom;
        return *oom < p->oom_count;
    }
    return !from->may_be;
}

static int by_device(const void *a, const void *b) {
    const struct vt_address_map *x = a, *y = b;
    return VT_ORDER({x->device, y->device}, {x->at, y->at},
                    {x->why == VT_MAP_END, y->why == VT_MAP_END}, {x->why, y->why});
}

static void draw_maps(const struct vt_sources *s, const struct vt_pictures *pictures,
                      const struct vt_process *p, struct vt_timeline *t) {
    t->maps = vt_alloc(pictures->map_count, sizeof *t->maps);
    for (uint32_t i = 0; i < pictures->map_count; i++) {
        uint32_t oom;
        if (!is_shown(p, &pictures->maps[i], &oom))
            continue;
        draw_map(s, &pictures->maps[i].map, &t->maps[t->map_count]);
        t->maps[t->map_count++].oom = oom;
    }
    vt_sort(t->maps, t->map_count, sizeof *t->maps, by_device);
}

static void draw_changes(const struct vt_sources *s, const struct vt_pictures *pictures,
                         struct vt_timeline *t) {
    uint64_t kept = pictures->last_count - pictures->last_from;
    uint64_t first = kept > VT_CHANGES ? kept - VT_CHANGES : 0;
    t->changes_left_out = pictures->last_from + first;
    t->change_count = (uint32_t)(kept - first);
    t->changes = vt_alloc(t->change_count, sizeof *t->changes);
    for (uint32_t i = 0; i < t->change_count; i++) {
        struct vt_change *c = &t->changes[i];
        *c = pictures->last[(first + i) % VT_CHANGES];
        c->at = vt_clock_ns(s->clock, c->at);
        c->segment = c->site != VT_NO_SITE && s->replay->sites[c->site].segments;
        c->site = site_of(s, c->site);
    }
}

static void draw_alarms(const struct vt_sources *s, const struct vt_pictures *pictures,
                        struct vt_timeline *t) {
    t->alarms = copied(pictures->alarms, pictures->alarm_count, sizeof *t->alarms);
    t->alarm_count = pictures->alarm_count;
    t->alarms_left_out = pictures->alarms_left_out;
    for (uint32_t i = 0; i < t->alarm_count; i++)
        t->alarms[i].at = vt_clock_ns(s->clock, t->alarms[i].at);
}

void vt_draw_timeline(const struct vt_sources *sources, const struct vt_pictures *pictures,
                      struct vt_process *p) {
    struct vt_timeline *t = p->timeline = vt_alloc(1, sizeof *t);
    if (pictures->parts & VT_TIMELINE_COURSES)
        vt_draw_courses(sources, pictures, p, t);
    draw_maps(sources, pictures, p, t);
    draw_changes(sources, pictures, t);
    draw_alarms(sources, pictures, t);
}
