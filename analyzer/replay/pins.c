/* SPDX-License-Identifier: MIT */
/*
 * Blocks that prevent the release of segments (see replay.h).
 */
#include "replay.h"

#include <stdlib.h>

uint32_t vt_pins_block_site(const struct vt_replay *r, uint64_t address) {
    const struct vt_address *entry =
        vt_addresses_find(&r->live, vt_address_key(address, VT_SPACE_BLOCK));
    return entry ? vt_replay_site_index(r, entry) : VT_NO_SITE;
}

struct pin_row {
    struct vt_pin pin;
    uint64_t region; /* the last region counted, from 1 */
};

static int most_pinned_first(const void *a, const void *b) {
    const struct pin_row *x = a, *y = b;
    return VT_ORDER({y->pin.pinned_bytes, x->pin.pinned_bytes}, {x->pin.site, y->pin.site});
}

uint32_t vt_pins_find(const struct vt_replay *r, unsigned device, struct vt_pin pins[VT_PINS]) {
    VT_SCOPED_MAP known = {0};
    VT_SCOPED struct pin_row *rows = NULL;
    size_t count = 0, room = 0, cursor = 0;
    struct vt_region region;
    for (uint64_t n = 1; vt_segments_region(r->segments, &cursor, &region); n++) {
        uint64_t in_use, largest, bytes = region.end - region.start;
        if (region.device != device)
            continue;
        vt_segments_sum(r->segments, &region, &in_use, &largest);
        if (!in_use || in_use > bytes / 2)
            continue;
        for (struct vt_region_piece piece = {0};
             vt_segments_next_piece(r->segments, &region, &piece);) {
            uint32_t site = piece.block ? vt_pins_block_site(r, piece.start) : VT_NO_SITE;
            if (site == VT_NO_SITE)
                continue;
            uint32_t i = vt_map_add(&known, site, (uint32_t)count);
            if (i == count)
                *VT_ADD(rows, count, room) = (struct pin_row){.pin = {.site = site}};
            rows[i].pin.blocks++;
            rows[i].pin.block_bytes += piece.end - piece.start;
            if (rows[i].region != n) {
                rows[i].region = n;
                rows[i].pin.segments++;
                rows[i].pin.pinned_bytes += bytes - in_use;
            }
        }
    }
    vt_sort(rows, count, sizeof *rows, most_pinned_first);
    if (count > VT_PINS)
        count = VT_PINS;
    for (size_t i = 0; i < count; i++)
        pins[i] = rows[i].pin;
    return (uint32_t)count;
}
