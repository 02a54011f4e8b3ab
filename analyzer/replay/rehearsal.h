/* SPDX-License-Identifier: MIT */
/*
 * A run once more, under other settings of PyTorch's allocator: would a request have passed that
 * failed? The replay reports every block of a device and every request that was given up. For
 * judge/, which advises a setting only if it would have helped.
 */
#ifndef VRAMTRACE_ANALYZER_REHEARSAL_H
#define VRAMTRACE_ANALYZER_REHEARSAL_H

#include "cache_model.h"

enum { VT_REHEARSALS = 6 };

struct vt_rehearsal {
    unsigned device, count;
    struct vt_cache_model *models[VT_REHEARSALS];
    uint32_t failed;          /* a bit for each: it refused what the program was given */
    struct vt_map by_address; /* a block -> its row */
    struct vt_rehearsal_row {
        uint32_t blocks[VT_REHEARSALS]; /* numbers in the models; 0: none */
    } * rows;
    uint32_t row_count, row_room, *unused, unused_count, unused_room;
};

/* `capacity`, `device_bytes`: see vt_cache_open. */
void vt_rehearsal_open(struct vt_rehearsal *r, unsigned device, uint64_t capacity,
                       uint64_t device_bytes, const struct vt_cache_settings *settings,
                       unsigned count);
void vt_rehearsal_close(struct vt_rehearsal *r);

void vt_rehearsal_alloc(struct vt_rehearsal *r, uint64_t address, uint64_t size, unsigned stream);
void vt_rehearsal_free(struct vt_rehearsal *r, uint64_t address);

/* A bit for each of the settings under which all until now would have passed, and this too. */
uint32_t vt_rehearsal_request(struct vt_rehearsal *r, uint64_t size, unsigned stream);

#endif
