/* SPDX-License-Identifier: MIT */
/*
 * A run under other settings (see cache_model.h): one model for each of them.
 */
#include "cache_model.h"

#include <stdlib.h>

void vt_rehearsal_open(struct vt_rehearsal *r, unsigned device, uint64_t capacity,
                       uint64_t device_bytes, const struct vt_cache_settings *settings,
                       unsigned count) {
    *r = (struct vt_rehearsal){.device = device, .count = count};
    for (unsigned i = 0; i < count; i++)
        r->models[i] = vt_cache_open(settings[i], capacity, device_bytes);
}

void vt_rehearsal_close(struct vt_rehearsal *r) {
    for (unsigned i = 0; i < r->count; i++)
        vt_cache_close(r->models[i]);
    vt_map_free(&r->by_address);
    free(r->rows);
    free(r->unused);
}

void vt_rehearsal_alloc(struct vt_rehearsal *r, uint64_t address, uint64_t size, unsigned stream) {
    struct vt_rehearsal_row row;
    uint32_t at;
    vt_rehearsal_free(r, address);
    for (unsigned i = 0; i < r->count; i++) {
        row.blocks[i] = r->failed >> i & 1 ? 0 : vt_cache_alloc(r->models[i], size, stream);
        r->failed |= (uint32_t)!row.blocks[i] << i;
    }
    if (r->unused_count) {
        at = r->unused[--r->unused_count];
    } else {
        VT_GROW(r->rows, r->row_count, r->row_room);
        at = r->row_count++;
    }
    r->rows[at] = row;
    vt_map_put(&r->by_address, address, at);
}

void vt_rehearsal_free(struct vt_rehearsal *r, uint64_t address) {
    uint32_t at = vt_map_get(&r->by_address, address);
    if (at == VT_MAP_NONE)
        return;
    for (unsigned i = 0; i < r->count; i++)
        if (r->rows[at].blocks[i])
            vt_cache_free(r->models[i], r->rows[at].blocks[i]);
    vt_map_remove(&r->by_address, address);
    *VT_ADD(r->unused, r->unused_count, r->unused_room) = at;
}

uint32_t vt_rehearsal_request(struct vt_rehearsal *r, uint64_t size, unsigned stream) {
    uint32_t passed = 0;
    for (unsigned i = 0; i < r->count; i++) {
        uint32_t block = r->failed >> i & 1 ? 0 : vt_cache_alloc(r->models[i], size, stream);
        if (!block)
            continue;
        vt_cache_free(r->models[i], block);
        passed |= 1u << i;
    }
    return passed;
}
