/* SPDX-License-Identifier: MIT */
/*
 * What lay where at chosen moments (struct vt_address_map): the peak, refusals, the worst
 * fragmentation, the end, and moments between them that divide the run equally.
 */
#include "parts.h"

#include <stdlib.h>

enum { OOMS_MOST = 8 }; /* of a device's moments */

struct moment {
    uint64_t ticks;
    unsigned device;
    enum vt_map_why why;
    uint32_t oom;
};

struct vt_maps_maker {
    const struct vt_sources *sources;
    struct moment *moments; /* by time */
    uint32_t count, room, next;
    const struct moment *held; /* its map is to be drawn; NULL: none */
    bool whole_end;
    uint32_t map_room;
};

/* --- the moments --- */

static void add_moment(struct vt_maps_maker *m, struct moment moment) {
    *VT_ADD(m->moments, m->count, m->room) = moment;
}

static int by_time(const void *a, const void *b) {
    const struct moment *x = a, *y = b;
    return VT_ORDER({x->ticks, y->ticks}, {x->device, y->device}, {x->why, y->why},
                    {x->oom, y->oom});
}

/* Refusals without a recovery matter more, and later ones more than earlier ones. */
static uint32_t add_ooms(struct vt_maps_maker *m, const struct vt_process *p, unsigned device) {
    uint32_t added = 0;
    for (int recovered = 0; recovered <= 1; recovered++)
        for (uint32_t i = p->oom_count; i-- > 0 && added < OOMS_MOST;) {
            const struct vt_oom *oom = &p->ooms[i];
            const struct vt_replay *r = m->sources->replay;
            if (oom->device != device || (oom->outcome == VT_OOM_RECOVERED) != !!recovered ||
                oom->number >= r->fail_count)
                continue;
            add_moment(m, (struct moment){r->fails[oom->number].ticks, device, VT_MAP_OOM, i});
            added++;
        }
    return added;
}

static void choose_moments(struct vt_maps_maker *m, const struct vt_process *p,
                           const struct vt_device *d) {
    const struct vt_sources *s = m->sources;
    unsigned device = d->ordinal & 0xff;
    const struct vt_reserve_device *reserve = vt_segments_device(s->replay->segments, device);
    uint64_t begin = s->window.since, end = s->log->last_ticks;
    if (end > s->window.until)
        end = s->window.until;
    uint32_t taken = 2 + add_ooms(m, p, device);
    if (d->peak_bytes)
        add_moment(m, (struct moment){s->replay->devices[device].driver.peak_ticks, device,
                                      VT_MAP_PEAK, 0});
    add_moment(m, (struct moment){VT_TICKS_MASK, device, VT_MAP_END, 0});
    if (reserve && reserve->worst.reserved_bytes) {
        add_moment(m, (struct moment){reserve->worst.at, device, VT_MAP_WORST, 0});
        taken++;
    }
    uint32_t between = VT_MAP_MOMENTS - taken;
    for (uint32_t i = 1; i <= between && end > begin; i++)
        add_moment(m, (struct moment){begin + (uint64_t)((double)(end - begin) * i / (between + 1)),
                                      device, VT_MAP_BETWEEN, 0});
}

struct vt_maps_maker *vt_maps_begin(const struct vt_sources *sources, const struct vt_process *p,
                                    bool whole_end) {
    struct vt_maps_maker *m = vt_alloc(1, sizeof *m);
    m->sources = sources;
    m->whole_end = whole_end;
    for (uint32_t i = 0; i < p->device_count; i++)
        choose_moments(m, p, &p->devices[i]);
    vt_sort(m->moments, m->count, sizeof *m->moments, by_time);
    return m;
}

uint64_t vt_maps_next(const struct vt_maps_maker *m) {
    return m->next < m->count ? m->moments[m->next].ticks : UINT64_MAX;
}

/* --- a map --- */

/* Driver memory at one address. */
struct place {
    struct vt_region region;
    bool segment;
    bool fresh; /* a segment in which no block lay yet */
};

struct drawing {
    struct vt_maps_maker *maker;
    const struct vt_replay *replay;
    struct vt_address_map *map;
    uint32_t region_room, piece_room;
    uint64_t least; /* pieces below this are merged with their neighbours */
};

static uint32_t site_of(const struct drawing *d, uint32_t replay_site) {
    return replay_site == VT_NO_SITE ? VT_NO_SITE : d->maker->sources->index[replay_site];
}

static int by_start(const void *a, const void *b) {
    const struct place *x = a, *y = b;
    return VT_ORDER({x->region.start, y->region.start});
}

static int largest_first(const void *a, const void *b) {
    const struct vt_region *x = &((const struct place *)a)->region;
    const struct vt_region *y = &((const struct place *)b)->region;
    return VT_ORDER({y->end - y->start, x->end - x->start}, {x->start, y->start});
}

/* Whether a caching allocator took this memory, of which no block lies in it at the map's moment: others
 * of its call site hold blocks, as the changes say, too. */
static bool is_fresh_segment(const struct vt_maps_maker *m, const struct vt_replay *r,
                             const struct vt_segment *s) {
    const struct vt_address *driver = vt_addresses_find(&r->live, s->key);
    uint32_t site = driver ? vt_replay_site_index(r, driver) : VT_NO_SITE;
    return site != VT_NO_SITE && m->sources->replay->sites[site].segments;
}

/* The driver memory of a device. Physical memory that is not mapped has no address. */
static struct place *find_places(const struct vt_maps_maker *m, const struct vt_replay *r,
                                 unsigned device, uint32_t *count) {
    struct place *places = NULL;
    uint32_t room = 0;
    size_t at = 0;
    *count = 0;
    if (r->segments) {
        struct place place = {.segment = true};
        const struct vt_segment *s;
        while (vt_segments_region(r->segments, &at, &place.region))
            if (place.region.device == device)
                *VT_ADD(places, *count, room) = place;
        for (at = 0; (s = vt_segments_next(r->segments, &at));) {
            if (s->device != device || s->holds)
                continue;
            place.region = (struct vt_region){
                .start = s->start, .end = s->end, .key = s->key, .mapped = s->mapped};
            place.segment = place.fresh = is_fresh_segment(m, r, s);
            *VT_ADD(places, *count, room) = place;
        }
    } else {
        const struct vt_address *e;
        while ((e = vt_addresses_next(&r->live, &at)))
            if (vt_kind_space(e->kind) == VT_SPACE_DEVICE &&
                vt_kind_layer(e->kind) == VT_LAYER_DRIVER &&
                vt_replay_site_of(r, e)->device == device)
                *VT_ADD(places, *count, room) =
                    (struct place){.region = {.start = vt_address_of(e),
                                              .end = vt_address_of(e) + e->size,
                                              .key = e->key}};
    }
    return places;
}

static void add_piece(struct drawing *d, struct vt_map_piece piece) {
    struct vt_address_map *map = d->map;
    *VT_ADD(map->pieces, map->piece_count, d->piece_room) = piece;
}

/* The pieces of a segment. Small ones are put together until they are large enough to be seen. */
static void draw_pieces(struct drawing *d, const struct place *place) {
    struct vt_map_piece merged = {0};
    uint64_t largest = 0; /* block in `merged` */
    for (struct vt_region_piece at = {0};
         vt_segments_next_piece(d->replay->segments, &place->region, &at);) {
        uint64_t bytes = at.end - at.start;
        struct vt_map_piece piece = {
            .offset = at.start - place->region.start,
            .bytes = bytes,
            .idle_bytes = at.block ? 0 : bytes,
            .site = at.block ? site_of(d, vt_pins_block_site(d->replay, at.start)) : VT_NO_SITE,
            .blocks = at.block,
        };
        if (merged.bytes && (piece.bytes >= d->least || merged.bytes >= d->least)) {
            add_piece(d, merged);
            merged = (struct vt_map_piece){0};
        }
        if (piece.bytes >= d->least) {
            add_piece(d, piece);
            continue;
        }
        if (!merged.bytes) {
            merged = piece;
            largest = at.block ? piece.bytes : 0;
            continue;
        }
        merged.bytes += piece.bytes;
        merged.idle_bytes += piece.idle_bytes;
        merged.blocks += piece.blocks;
        if (at.block && piece.bytes > largest) {
            merged.site = piece.site;
            largest = piece.bytes;
        }
    }
    if (merged.bytes)
        add_piece(d, merged);
}

static void draw_region(struct drawing *d, const struct place *place) {
    struct vt_address_map *map = d->map;
    const struct vt_address *driver = vt_addresses_find(&d->replay->live, place->region.key);
    uint32_t site = driver ? site_of(d, vt_replay_site_index(d->replay, driver)) : VT_NO_SITE;
    struct vt_map_region *region = VT_ADD(map->regions, map->region_count, d->region_room);
    *region = (struct vt_map_region){.address = place->region.start,
                                     .bytes = place->region.end - place->region.start,
                                     .site = site,
                                     .segment = place->segment,
                                     .mapped = place->region.mapped,
                                     .first = map->piece_count};
    if (place->fresh)
        add_piece(d, (struct vt_map_piece){
                         .bytes = region->bytes, .idle_bytes = region->bytes, .site = VT_NO_SITE});
    else if (place->segment)
        draw_pieces(d, place);
    else
        add_piece(d, (struct vt_map_piece){.bytes = region->bytes, .site = site, .blocks = 1});
    region->count = map->piece_count - region->first;
}

/* So many pieces at most as there are bytes over `least`, for large ones and for merged ones. */
static uint64_t least_piece(const struct place *places, uint32_t count, uint64_t most) {
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < count; i++)
        bytes += places[i].segment ? places[i].region.end - places[i].region.start : 0;
    return bytes / most * 2;
}

static uint64_t count_pieces(const struct vt_replay *r, const struct place *places,
                             uint32_t count) {
    uint64_t pieces = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct vt_region_piece piece = {0};
        pieces += !places[i].segment || places[i].fresh;
        while (places[i].segment && vt_segments_next_piece(r->segments, &places[i].region, &piece))
            pieces++;
    }
    return pieces;
}

static void draw(struct vt_maps_maker *m, const struct vt_replay *r, const struct moment *moment,
                 struct vt_address_map *map) {
    uint32_t count;
    VT_SCOPED struct place *places = find_places(m, r, moment->device, &count);
    bool whole = m->whole_end && moment->why == VT_MAP_END;
    uint32_t most = whole ? VT_MAP_PIECES_END : VT_MAP_PIECES;
    struct drawing d = {.maker = m, .replay = r, .map = map};
    if (count > most / 2) {
        vt_sort(places, count, sizeof *places, largest_first);
        map->regions_left_out = count - most / 2;
        count = most / 2;
    }
    vt_sort(places, count, sizeof *places, by_start);
    if (count_pieces(r, places, count) > most)
        d.least = least_piece(places, count, most);
    for (uint32_t i = 0; i < count; i++)
        draw_region(&d, &places[i]);
}

static void draw_moment(struct vt_maps_maker *m, const struct moment *moment,
                        const struct vt_replay *r, struct vt_timeline *t) {
    const struct vt_sources *s = m->sources;
    struct vt_address_map *map = VT_ADD(t->maps, t->map_count, m->map_room);
    uint64_t ticks = moment->ticks;
    if (moment->why == VT_MAP_END)
        ticks = s->window.until < s->log->last_ticks ? s->window.until : s->log->last_ticks;
    *map = (struct vt_address_map){.device = moment->device,
                                   .at = vt_clock_ns(s->clock, ticks),
                                   .why = moment->why,
                                   .oom = moment->oom};
    const struct vt_reserve_device *reserve = vt_segments_device(r->segments, moment->device);
    if (reserve) {
        map->reserved_bytes = reserve->now.reserved_bytes;
        map->in_use_bytes = reserve->now.in_use_bytes;
        map->largest_free_bytes = reserve->now.largest_free_bytes;
    }
    draw(m, r, moment, map);
}

void vt_maps_settle(struct vt_maps_maker *m, const struct vt_replay *r, struct vt_timeline *t) {
    if (m->held)
        draw_moment(m, m->held, r, t);
    m->held = NULL;
}

/* Whether caching allocators map physical memory of a device: its peak is reached when the last of it
 * is created, before it has an address. */
static bool is_mapped(const struct vt_maps_maker *m, unsigned device) {
    struct vt_segments *segments = m->sources->replay->segments;
    const struct vt_reserve_device *reserve = vt_segments_device(segments, device);
    return reserve && reserve->mapped;
}

void vt_maps_draw(struct vt_maps_maker *m, const struct vt_replay *r, struct vt_timeline *t) {
    const struct moment *moment = &m->moments[m->next++];
    bool holds = moment->why == VT_MAP_PEAK && is_mapped(m, moment->device);
    if (holds || moment->why == VT_MAP_END)
        vt_maps_settle(m, r, t);
    if (holds)
        m->held = moment;
    else
        draw_moment(m, moment, r, t);
}

static int by_device(const void *a, const void *b) {
    const struct vt_address_map *x = a, *y = b;
    return VT_ORDER({x->device, y->device}, {x->at, y->at},
                    {x->why == VT_MAP_END, y->why == VT_MAP_END}, {x->why, y->why});
}

void vt_maps_end(struct vt_maps_maker *m, struct vt_timeline *t) {
    vt_sort(t->maps, t->map_count, sizeof *t->maps, by_device);
    free(m->moments);
    free(m);
}
