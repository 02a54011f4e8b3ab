/* SPDX-License-Identifier: MIT */
/*
 * Fragmentation at the end of the run, at its worst, and over time: how much memory is reserved but not in use, how
 * large is its largest piece, and which blocks pin it (replay/pins.c)? Called by build.c for each device.
 *
 * If the log has a caching allocator's blocks, the driver allocations that contained blocks are the allocator's reserve
 * (replay/segments.c). If the log has no such blocks, all driver memory counts as in use. But then the answer is
 * unknown if a caching allocator's library is loaded, or if memory came from a stream-ordered pool, whose reserve the
 * driver does not report.
 */
#include "steps.h"

#include <stdlib.h>
#include <string.h>

static bool has_caching_allocator(const struct vt_log *log) {
    for (size_t i = 0; i < log->module_count; i++) {
        const struct vt_log_module *m = &log->modules[i];
        const struct vt_library *row = m->other ? NULL : vt_library_of(m->path);
        if ((row && row->what == VT_LIBRARY_CACHE) ||
            vt_library_named(m->path, "libtorch_cuda librmm"))
            return true;
    }
    return false;
}

static const struct vt_fragmentation unknown = {
    .reserved_bytes = VT_UNKNOWN,
    .in_use_bytes = VT_UNKNOWN,
    .free_bytes = VT_UNKNOWN,
    .largest_free_bytes = VT_UNKNOWN,
    .ratio = -1,
    .worst = {.at = VT_UNKNOWN},
    .granule_waste_bytes = VT_UNKNOWN,
};

/* --- the map --- */

enum { PIECES_MOST = 200000 }; /* more would be unreadable */

static void draw_map(const struct vt_sources *from, unsigned device, struct vt_fragmentation *f) {
    const struct vt_replay *r = from->replay;
    uint32_t segment_room = 0, piece_room = 0;
    size_t cursor = 0;
    struct vt_region region;
    while (vt_segments_region(r->segments, &cursor, &region)) {
        if (region.device != device)
            continue;
        if (f->piece_count >= PIECES_MOST) {
            f->segments_left_out++;
            continue;
        }
        struct vt_segment_map *map = VT_ADD(f->segments, f->segment_count, segment_room);
        *map = (struct vt_segment_map){
            .address = region.start, .bytes = region.end - region.start, .first = f->piece_count};
        vt_segments_sum(r->segments, &region, &map->in_use_bytes, &map->largest_free_bytes);
        for (struct vt_region_piece piece = {0};
             vt_segments_next_piece(r->segments, &region, &piece);) {
            uint32_t site = piece.block ? vt_pins_block_site(r, piece.start) : VT_NO_SITE;
            *VT_ADD(f->pieces, f->piece_count, piece_room) =
                (struct vt_piece){.offset = piece.start - region.start,
                                  .bytes = piece.end - piece.start,
                                  .site = site == VT_NO_SITE ? VT_NO_SITE : from->index[site],
                                  .idle = !piece.block};
        }
        map->count = f->piece_count - map->first;
    }
}

/* --- the driver's pages --- */

struct span {
    uint64_t start, end;
};

static int compare_spans(const void *a, const void *b) {
    const struct span *x = a, *y = b;
    return VT_ORDER({x->start, y->start});
}

/* An estimate of the waste by plain allocations, assuming that the driver reserves 2 MiB pages, which allocations may
 * share. The driver does not report this waste. */
static uint64_t granule_waste(const struct vt_replay *r, unsigned device) {
    const uint64_t granule = DRIVER_PAGE;
    struct vt_map seen = {0}; /* pages in which single spans begin */
    VT_SCOPED struct span *spans = NULL;
    size_t count = 0, room = 0;
    uint64_t taken = 0, asked = 0, end = 0;
    const struct vt_address *entry;
    for (size_t at = 0; (entry = vt_addresses_next(&r->live, &at));) {
        const struct vt_replay_site *site = vt_replay_site_of(r, entry);
        if (entry->kind != VT_KIND_DEVICE || site->device != device || site->segments)
            continue;
        uint64_t start = vt_address_of(entry), size = entry->size;
        struct span span = {start & ~(granule - 1), (start + size + granule - 1) & ~(granule - 1)};
        asked += size;
        if (span.end - span.start == granule && !vt_map_add_key(&seen, span.start))
            continue;
        *VT_ADD(spans, count, room) = span;
    }
    vt_sort(spans, count, sizeof *spans, compare_spans);
    for (size_t i = 0; i < count; i++) {
        uint64_t start = spans[i].start > end ? spans[i].start : end;
        if (spans[i].end > start) {
            taken += spans[i].end - start;
            end = spans[i].end;
        }
    }
    vt_map_free(&seen);
    return taken > asked ? taken - asked : 0;
}

/* --- the whole --- */

static struct vt_moment moment_in_ns(struct vt_clock clock, struct vt_moment moment) {
    moment.at = vt_clock_ns(clock, moment.at);
    return moment;
}

static void measure_blocks(const struct vt_sources *from, const struct vt_reserve_device *reserve,
                           struct vt_device *device) {
    struct vt_fragmentation *f = &device->fragmentation;
    const struct vt_moment *now = &reserve->now;
    *f = (struct vt_fragmentation){
        .reserved_bytes = now->reserved_bytes,
        .in_use_bytes = now->in_use_bytes,
        .free_bytes = now->reserved_bytes - now->in_use_bytes,
        .largest_free_bytes = now->largest_free_bytes,
        .worst = {.at = VT_UNKNOWN},
    };
    f->ratio = vt_fragmentation_ratio(f->free_bytes, f->largest_free_bytes);
    f->last = moment_in_ns(from->clock, reserve->last);
    if (reserve->worst.reserved_bytes)
        f->worst = moment_in_ns(from->clock, reserve->worst);
    f->moments = vt_alloc(reserve->moment_count, sizeof *f->moments);
    for (uint32_t i = 0; i < reserve->moment_count; i++)
        f->moments[f->moment_count++] = moment_in_ns(from->clock, reserve->moments[i]);
    f->pins = vt_alloc(VT_PINS, sizeof *f->pins);
    f->pin_count = vt_pins_find(from->replay, device->ordinal, f->pins);
    for (uint32_t i = 0; i < f->pin_count; i++)
        f->pins[i].site = from->index[f->pins[i].site];
    draw_map(from, device->ordinal, f);
}

void vt_fragmentation_measure(const struct vt_sources *from, struct vt_device *device) {
    const struct vt_replay *replay = from->replay;
    unsigned ordinal = device->ordinal & 0xff;
    const struct vt_reserve_device *reserve = vt_segments_device(replay->segments, ordinal);
    bool pooled = false;
    for (size_t i = 0; i < replay->site_count; i++)
        pooled |= replay->sites[i].pooled && replay->sites[i].device == ordinal;
    if (reserve)
        measure_blocks(from, reserve, device);
    else if (replay->devices[ordinal].framework.used || pooled || has_caching_allocator(from->log))
        device->fragmentation = unknown;
    else
        device->fragmentation = (struct vt_fragmentation){.reserved_bytes = device->live_bytes,
                                                          .in_use_bytes = device->live_bytes,
                                                          .worst = {.at = VT_UNKNOWN}};
    device->fragmentation.granule_waste_bytes = granule_waste(replay, ordinal);
}
