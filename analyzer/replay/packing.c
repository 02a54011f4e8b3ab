/* SPDX-License-Identifier: MIT */
/*
 * Packs live blocks without holes (see cache_model.h): allocates them in a fresh allocator, largest first, and then the
 * request.
 */
#include "cache_model.h"

#include <stdlib.h>

struct live {
    uint64_t size;
    uint8_t stream;
};

static int largest_first(const void *a, const void *b) {
    const struct live *x = a, *y = b;
    return VT_ORDER({y->size, x->size}, {x->stream, y->stream});
}

/* Chooses the request's stream: the first stream without a sufficient idle piece, else a new one. A sufficient piece
 * in the request's pool would have been used if it belonged to the request's stream. */
static unsigned choose_stream(const struct vt_segments *f, unsigned device, uint64_t request) {
    uint64_t seen = 0, has_room = 0, largest, in_use;
    struct vt_region region;
    size_t cursor = 0;
    bool small = request <= VT_CACHE_SMALL;
    unsigned stream = 0, other = 0;
    while (vt_segments_region(f, &cursor, &region)) {
        if (region.device != device || region.small != small)
            continue;
        vt_segments_sum(f, &region, &in_use, &largest);
        seen |= 1ull << region.stream;
        if (largest >= request)
            has_room |= 1ull << region.stream;
    }
    while (stream < 63 && !((seen & ~has_room) >> stream & 1))
        stream++;
    while (other < 63 && seen >> other & 1)
        other++;
    return stream < 63 ? stream : has_room ? other : 0;
}

unsigned vt_packing_find(const struct vt_segments *f, unsigned device,
                         const struct vt_cache_settings *settings, uint64_t request, uint64_t *work,
                         struct vt_oom_cache *found) {
    struct vt_region region;
    VT_SCOPED struct live *live = NULL;
    size_t count = 0, room = 0, cursor = 0;
    request = (request + VT_CACHE_UNIT - 1) / VT_CACHE_UNIT * VT_CACHE_UNIT;
    unsigned stream = settings->max_split == UINT64_MAX ? choose_stream(f, device, request) : 0;
    while (*work && vt_segments_region(f, &cursor, &region)) {
        bool small = request <= VT_CACHE_SMALL;
        if (region.device != device)
            continue;
        for (struct vt_region_piece piece = {0}; vt_segments_next_piece(f, &region, &piece);) {
            uint64_t bytes = piece.end - piece.start;
            *work -= *work > 0;
            if (piece.block) {
                *VT_ADD(live, count, room) = (struct live){bytes, (uint8_t)region.stream};
            } else if (region.small != small) {
                found->other_pool_bytes += bytes;
            } else if (region.stream != stream) {
                found->other_stream_bytes += bytes;
            } else {
                found->usable_bytes += bytes;
                if (bytes > found->largest_usable_bytes)
                    found->largest_usable_bytes = bytes;
            }
        }
    }
    if (*work) {
        struct vt_cache_model *fresh = vt_cache_open(settings, UINT64_MAX, UINT64_MAX);
        vt_sort(live, count, sizeof *live, largest_first);
        for (size_t i = 0; i < count; i++)
            vt_cache_alloc(fresh, (struct vt_cache_request){live[i].size, 0, live[i].stream});
        vt_cache_alloc(fresh, (struct vt_cache_request){request, 0, (uint8_t)stream});
        found->need_bytes = vt_cache_figures(fresh)->reserved;
        found->known = true;
        vt_cache_close(fresh);
    }
    return stream;
}
