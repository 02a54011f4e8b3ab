/* SPDX-License-Identifier: MIT */
/*
 * The memory layout at chosen moments (struct vt_address_map). Maps are drawn during the replay, when it is not known
 * yet which peak, refusal and fragmentation will matter.
 *
 * - A peak is drawn before the next free, if it is 1 % higher than the last one drawn. By then, physical memory that
 *   makes a peak is mapped.
 * - Fragmentation is drawn whenever it is 1 % worse.
 * - A refusal is drawn at once; each device keeps the last OOMS_MOST that did not recover.
 * - Other maps are drawn at regular intervals of slots; when slots are merged, every second of these maps is dropped.
 *
 * A map takes a walk through all live allocations. Maps that could wait for a higher moment are drawn only while the
 * entries walked stay in proportion to the log's events. A map that is 1/8 higher, or of an error that a framework
 * raised, is always drawn.
 */
#include "walk.h"

#include <stdlib.h>
#include <string.h>

enum { OOMS_MOST = 8, BETWEEN = 16 };

/* The number of entries that may be walked in addition to one per event. */
#define WORK_AHEAD (1u << 22)

/* --- a map --- */

/* Driver memory at one address. */
struct place {
    struct vt_region region;
    bool segment;
};

/* The largest places; once the array is full, a heap with the smallest at its root. */
struct places {
    struct place *all;
    uint32_t count, room, most;
    uint64_t left_out;
};

struct drawing {
    const struct vt_replay *replay;
    struct vt_address_map *map;
    uint32_t region_room, piece_room;
    uint64_t least; /* pieces below this are merged with their neighbours */
    /* merged pieces that are not in the map yet, and their largest block, whose site is looked up later */
    struct vt_map_piece merged;
    uint64_t largest, largest_at;
};

static int by_start(const void *a, const void *b) {
    const struct place *x = a, *y = b;
    return VT_ORDER({x->region.start, y->region.start});
}

static bool is_less(const struct place *a, const struct place *b) {
    uint64_t x = a->region.end - a->region.start, y = b->region.end - b->region.start;
    return x < y || (x == y && a->region.start > b->region.start);
}

static void sink(struct places *p, uint32_t at, struct place place) {
    for (uint32_t child; (child = 2 * at + 1) < p->count; at = child) {
        if (child + 1 < p->count && is_less(&p->all[child + 1], &p->all[child]))
            child++;
        if (!is_less(&p->all[child], &place))
            break;
        p->all[at] = p->all[child];
    }
    p->all[at] = place;
}

static void add_place(struct places *p, struct place place) {
    if (p->count < p->most) {
        *VT_ADD(p->all, p->count, p->room) = place;
        return;
    }
    if (!p->left_out++)
        for (uint32_t i = p->count / 2; i-- > 0;)
            sink(p, i, p->all[i]);
    if (is_less(&p->all[0], &place))
        sink(p, 0, place);
}

/* The driver memory of a device. Unmapped physical memory has no address. */
static void find_places(const struct vt_replay *r, unsigned device, struct places *places) {
    size_t at = 0;
    if (r->segments) {
        struct place place = {.segment = true};
        const struct vt_segment *s;
        while (vt_segments_region(r->segments, &at, &place.region))
            if (place.region.device == device)
                add_place(places, place);
        for (at = 0; (s = vt_segments_next(r->segments, &at));)
            if (s->device == device && !s->holds)
                add_place(places, (struct place){.region = {.start = s->start,
                                                            .end = s->end,
                                                            .key = s->key,
                                                            .mapped = s->mapped}});
    } else {
        const struct vt_address *e;
        while ((e = vt_addresses_next(&r->live, &at)))
            if (vt_kind_space(e->kind) == VT_SPACE_DEVICE &&
                vt_kind_layer(e->kind) == VT_LAYER_DRIVER &&
                vt_replay_site_of(r, e)->device == device)
                add_place(places, (struct place){.region = {.start = vt_address_of(e),
                                                            .end = vt_address_of(e) + e->size,
                                                            .key = e->key}});
    }
    vt_sort(places->all, places->count, sizeof *places->all, by_start);
}

static void add_piece(struct drawing *d, struct vt_map_piece piece, uint64_t block) {
    struct vt_address_map *map = d->map;
    if (piece.blocks)
        piece.site = vt_pins_block_site(d->replay, block);
    *VT_ADD(map->pieces, map->piece_count, d->piece_room) = piece;
}

static void add_merged(struct drawing *d) {
    if (d->merged.bytes)
        add_piece(d, d->merged, d->largest_at);
    d->merged = (struct vt_map_piece){.site = VT_NO_SITE};
    d->largest = 0;
}

/* The pieces of a segment. Small ones are merged until they are large enough to be visible. */
static void draw_pieces(struct drawing *d, const struct place *place) {
    for (struct vt_region_piece at = {0};
         vt_segments_next_piece(d->replay->segments, &place->region, &at);) {
        uint64_t bytes = at.end - at.start;
        struct vt_map_piece piece = {
            .offset = at.start - place->region.start,
            .bytes = bytes,
            .idle_bytes = at.block ? 0 : bytes,
            .site = VT_NO_SITE,
            .blocks = at.block,
        };
        if (bytes >= d->least || d->merged.bytes >= d->least)
            add_merged(d);
        if (bytes >= d->least) {
            add_piece(d, piece, at.start);
            continue;
        }
        if (!d->merged.bytes)
            d->merged.offset = piece.offset;
        d->merged.bytes += piece.bytes;
        d->merged.idle_bytes += piece.idle_bytes;
        d->merged.blocks += piece.blocks;
        if (at.block && bytes > d->largest) {
            d->largest = bytes;
            d->largest_at = at.start;
        }
    }
    add_merged(d);
}

static void draw_region(struct drawing *d, const struct place *place) {
    struct vt_address_map *map = d->map;
    const struct vt_address *driver = vt_addresses_find(&d->replay->live, place->region.key);
    uint32_t site = driver ? vt_replay_site_index(d->replay, driver) : VT_NO_SITE;
    struct vt_map_region *region = VT_ADD(map->regions, map->region_count, d->region_room);
    *region = (struct vt_map_region){.address = place->region.start,
                                     .bytes = place->region.end - place->region.start,
                                     .site = site,
                                     .segment = place->segment,
                                     .mapped = place->region.mapped,
                                     .first = map->piece_count};
    if (place->segment)
        draw_pieces(d, place);
    else
        *VT_ADD(map->pieces, map->piece_count, d->piece_room) =
            (struct vt_map_piece){.bytes = region->bytes, .site = site, .blocks = 1};
    region->count = map->piece_count - region->first;
}

/* Chooses `least`: bytes / least limits the number of large pieces and of merged ones. */
static uint64_t least_piece(const struct vt_replay *r, const struct places *places) {
    uint64_t pieces = 0, bytes = 0;
    for (uint32_t i = 0; i < places->count; i++) {
        const struct place *place = &places->all[i];
        struct vt_region_piece piece = {0};
        bytes += place->segment ? place->region.end - place->region.start : 0;
        pieces += !place->segment;
        while (place->segment && vt_segments_next_piece(r->segments, &place->region, &piece))
            pieces++;
    }
    return pieces > 2 * places->most ? bytes / (2 * places->most) * 2 : 0;
}

static void draw(const struct vt_replay *r, uint32_t most, struct vt_address_map *map) {
    struct places places = {.most = most / 2};
    find_places(r, map->device, &places);
    struct drawing d = {.replay = r, .map = map, .least = least_piece(r, &places)};
    map->regions_left_out = places.left_out;
    for (uint32_t i = 0; i < places.count; i++)
        draw_region(&d, &places.all[i]);
    free(places.all);
}

/* --- the maps --- */

void vt_picture_map_free(struct vt_picture_map *map) {
    free(map->map.regions);
    free(map->map.pieces);
}

static bool wants(const struct vt_pictures *p, unsigned device) {
    return device != VT_DEVICE_HOST && (p->device < 0 || device == (unsigned)p->device);
}

static void drop(struct vt_pictures *p, uint32_t number) {
    vt_picture_map_free(&p->maps[number]);
    p->maps[number] = p->maps[--p->map_count];
}

/* Draws a map of the present state, in place of lesser maps of its device and kind. */
static struct vt_picture_map *draw_now(struct vt_walk *w, unsigned device, enum vt_map_why why,
                                       uint64_t at, uint64_t level) {
    struct vt_pictures *p = w->pictures;
    bool replaces = why == VT_MAP_PEAK || why == VT_MAP_WORST || why == VT_MAP_END;
    for (uint32_t i = p->map_count; replaces && i-- > 0;)
        if (p->maps[i].map.device == device && p->maps[i].map.why == why &&
            (why != VT_MAP_WORST || p->maps[i].may_be))
            drop(p, i);
    struct vt_picture_map *made = VT_ADD(p->maps, p->map_count, p->map_room);
    *made = (struct vt_picture_map){.map = {.device = device, .at = at, .why = why},
                                    .level = level,
                                    .changes = p->change_count,
                                    .may_be = why == VT_MAP_WORST};
    const struct vt_reserve_device *reserve = vt_segments_device(w->r->segments, device);
    if (reserve) {
        made->map.reserved_bytes = reserve->now.reserved_bytes;
        made->map.in_use_bytes = reserve->now.in_use_bytes;
        made->map.largest_free_bytes = reserve->now.largest_free_bytes;
    }
    bool whole = why == VT_MAP_END && p->parts & VT_TIMELINE_END;
    draw(w->r, whole ? VT_MAP_PIECES_END : VT_MAP_PIECES, &made->map);
    return made;
}

/* Whether the events so far justify another walk through all live allocations. */
static bool can_pay(struct vt_walk *w) {
    struct vt_pictures *p = w->pictures;
    if (p->drawing_work + w->r->live.used > WORK_AHEAD + p->change_count)
        return false;
    p->drawing_work += w->r->live.used;
    return true;
}

static bool is_worth_it(struct vt_walk *w, uint64_t level, uint64_t drawn) {
    return level > drawn + drawn / 100 && (level > drawn + drawn / 8 || can_pay(w));
}

/* --- the moments --- */

void vt_picture_maps_falling(struct vt_walk *w) {
    w->pictures->peak_due = false;
    for (unsigned device = 0; device < 256; device++) {
        struct vt_picture_device *d = &w->pictures->devices[device];
        uint64_t live = w->r->devices[device].driver.live_bytes;
        if (d->peak_due && is_worth_it(w, live, d->peak_drawn)) {
            draw_now(w, device, VT_MAP_PEAK, d->changed_at, live);
            d->peak_drawn = live;
        }
        d->peak_due = false;
    }
}

/* The map of the worst fragmentation; `may_be`: the one that does not count yet. NULL: none. */
static struct vt_picture_map *worst_map(const struct vt_pictures *p, unsigned device, bool may_be) {
    for (uint32_t i = 0; i < p->map_count; i++)
        if (p->maps[i].map.device == device && p->maps[i].map.why == VT_MAP_WORST &&
            p->maps[i].may_be == may_be)
            return &p->maps[i];
    return NULL;
}

/* A map counts once the process has requested memory after it. */
static void settle_worst(struct vt_pictures *p, unsigned device,
                         const struct vt_reserve_device *reserve) {
    struct vt_picture_map *may_be = worst_map(p, device, true);
    struct vt_picture_map *old = worst_map(p, device, false);
    if (!may_be || reserve->worst.pinned_bytes < may_be->level)
        return;
    may_be->may_be = false;
    if (old)
        drop(p, (uint32_t)(old - p->maps));
}

static void note_worst(struct vt_walk *w, unsigned device) {
    struct vt_pictures *p = w->pictures;
    const struct vt_reserve_device *reserve = vt_segments_device(w->r->segments, device);
    uint64_t *drawn = &p->devices[device].worst_drawn;
    if (!reserve || reserve->now.pinned_bytes <= *drawn + *drawn / 100 ||
        reserve->now.pinned_bytes < reserve->worst.pinned_bytes)
        return;
    settle_worst(p, device, reserve);
    if (!is_worth_it(w, reserve->now.pinned_bytes, *drawn))
        return;
    *drawn = reserve->now.pinned_bytes;
    draw_now(w, device, VT_MAP_WORST, w->now, *drawn);
}

void vt_picture_maps_changed(struct vt_walk *w, const struct vt_replay_site *site, bool alloc) {
    struct vt_pictures *p = w->pictures;
    const struct vt_replay_device *d = &w->r->devices[site->device];
    struct vt_picture_device *own = &p->devices[site->device];
    if (!wants(p, site->device))
        return;
    if (alloc && site->layer == VT_LAYER_DRIVER && d->at_peak &&
        d->driver.live_bytes > own->peak_drawn + own->peak_drawn / 100)
        own->peak_due = p->peak_due = true;
    if (w->r->segments)
        note_worst(w, site->device);
}

/* Makes room for a map of a refusal: drops the first one that recovered, or else the first one. */
static void make_room(struct vt_walk *w, unsigned device) {
    struct vt_pictures *p = w->pictures;
    uint32_t count = 0, first = 0;
    bool first_recovered = false;
    for (uint32_t i = 0; i < p->map_count; i++) {
        const struct vt_address_map *map = &p->maps[i].map;
        if (map->device != device || map->why != VT_MAP_OOM)
            continue;
        const struct vt_replay_fail *f = &w->r->fails[map->oom];
        bool recovered = f->merged || (!f->raised && f->next_size >= f->size);
        if (!count++ || recovered > first_recovered ||
            (recovered == first_recovered && map->oom < p->maps[first].map.oom)) {
            first = i;
            first_recovered = recovered;
        }
    }
    if (count == OOMS_MOST)
        drop(p, first);
}

void vt_picture_maps_refused(struct vt_walk *w, uint32_t number) {
    struct vt_pictures *p = w->pictures;
    const struct vt_replay_fail *f = &w->r->fails[number];
    if (!(p->parts & VT_TIMELINE_MAPS) || !wants(p, f->device) ||
        vt_kind_layer(f->kind) == VT_LAYER_HOST)
        return;
    struct vt_picture_map *same = NULL;
    for (uint32_t i = 0; i < p->map_count; i++)
        if (p->maps[i].map.device == f->device && p->maps[i].map.why == VT_MAP_OOM &&
            (p->maps[i].changes == p->change_count || p->maps[i].map.oom == number))
            same = &p->maps[i];
    if (same && same->changes == p->change_count) { /* this map also shows this refusal */
        same->map.oom = number;
        same->map.at = f->ticks;
        return;
    }
    if (!f->raised && !can_pay(w))
        return;
    if (same)
        drop(p, (uint32_t)(same - p->maps));
    make_room(w, f->device);
    draw_now(w, f->device, VT_MAP_OOM, f->ticks, f->tracked_bytes)->map.oom = number;
}

static uint64_t ticks_between(const struct vt_slots *s) {
    return (uint64_t)(VT_COURSE_SLOTS / BETWEEN) << s->shift;
}

void vt_picture_maps_merge(struct vt_walk *w) {
    struct vt_pictures *p = w->pictures;
    for (uint32_t i = p->map_count; i-- > 0;)
        if (p->maps[i].map.why == VT_MAP_BETWEEN &&
            (p->maps[i].map.at - w->r->slots.begin) % (2 * ticks_between(&w->r->slots)))
            drop(p, i);
}

void vt_picture_maps_evict(struct vt_pictures *p) {
    for (uint32_t i = p->map_count; i-- > 0;)
        if (p->maps[i].map.why == VT_MAP_BETWEEN)
            drop(p, i);
}

void vt_picture_maps_pass(struct vt_walk *w) {
    struct vt_pictures *p = w->pictures;
    const struct vt_slots *s = &w->r->slots;
    uint64_t each = ticks_between(s);
    uint64_t at = s->begin + (vt_slots_begin_of(s, s->slot) - s->begin) / each * each;
    if (!(p->parts & VT_TIMELINE_MAPS) || at <= p->between_at)
        return;
    p->between_at = at;
    for (uint32_t i = 0; i < s->device_count; i++)
        if (wants(p, s->devices[i].device))
            draw_now(w, s->devices[i].device, VT_MAP_BETWEEN, at, 0);
}

void vt_picture_maps_begin(struct vt_walk *w) {
    struct vt_pictures *p = w->pictures;
    p->between_at = w->r->slots.begin;
    for (unsigned d = 0; d < 256 && p->parts & VT_TIMELINE_MAPS; d++)
        if (w->r->devices[d].driver.live_bytes && wants(p, d)) {
            p->devices[d].changed_at = w->r->slots.begin;
            p->devices[d].peak_due = p->peak_due = true;
        }
}

void vt_picture_maps_end(struct vt_walk *w) {
    struct vt_pictures *p = w->pictures;
    const struct vt_slots *s = &w->r->slots;
    uint64_t last = w->log->last_ticks, until = w->window.until;
    if (!(p->parts & (VT_TIMELINE_MAPS | VT_TIMELINE_END)))
        return;
    vt_picture_maps_falling(w);
    for (uint32_t i = 0; i < s->device_count; i++) {
        unsigned device = s->devices[i].device;
        const struct vt_reserve_device *reserve = vt_segments_device(w->r->segments, device);
        if (!wants(p, device))
            continue;
        if (reserve)
            settle_worst(p, device, reserve);
        draw_now(w, device, VT_MAP_END, until < last ? until : last, 0);
    }
}

void vt_picture_map_state(struct vt_picture_map *m, const struct vt_replay *r, struct vt_state *s) {
    struct vt_address_map *map = &m->map;
    uint32_t region_room, piece_room;
    VT_STATE(s, map->device);
    VT_STATE(s, map->at);
    VT_STATE(s, map->why);
    VT_STATE(s, map->oom);
    VT_STATE(s, map->reserved_bytes);
    VT_STATE(s, map->in_use_bytes);
    VT_STATE(s, map->largest_free_bytes);
    VT_STATE(s, map->regions_left_out);
    VT_STATE_ARRAY(s, map->regions, map->region_count, region_room);
    VT_STATE_ARRAY(s, map->pieces, map->piece_count, piece_room);
    VT_STATE(s, m->level);
    VT_STATE(s, m->changes);
    vt_state_bool(s, &m->may_be);
    vt_state_within(s, map->device, 256, "devices");
    vt_state_within(s, map->why, VT_MAP_BETWEEN + 1, "reasons for a map");
    vt_state_expect(s, map->why != VT_MAP_OOM || map->oom < r->fail_count, "a map's refusal");
    VT_STATE_BOOLS(s, map->regions, map->region_count, segment);
    VT_STATE_BOOLS(s, map->regions, map->region_count, mapped);
    for (uint32_t i = 0; s->loading && i < map->region_count; i++) {
        const struct vt_map_region *region = &map->regions[i];
        vt_state_expect(s, (uint64_t)region->first + region->count <= map->piece_count,
                        "a region's pieces");
        if (region->site != VT_NO_SITE)
            vt_state_within(s, region->site, r->site_count, "sites");
    }
    for (uint32_t i = 0; s->loading && i < map->piece_count; i++)
        if (map->pieces[i].site != VT_NO_SITE)
            vt_state_within(s, map->pieces[i].site, r->site_count, "sites");
}
