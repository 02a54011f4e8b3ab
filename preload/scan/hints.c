/* SPDX-License-Identifier: MIT */
/*
 * Decides which pointers in blocks that CUDA's libraries may own count as the program's. Such a block may be a
 * library's record of an allocation, or an object of the program to which a library happens to point.
 *
 * The libraries' tables are recognized by their contents: words at one offset in blocks of one size that point to
 * nearly every live address. A pointer there proves nothing. But a type of the program may look the same, if each live
 * allocation is in an object of its own. So a pointer there counts if the same address is also at another place in such
 * blocks, because one of the two places is not a table.
 *
 * Called by flood.c.
 */
#include "flood.h"

#define PLACES     16384u
#define MORE       (PLACES + 1)
#define TRIES      64u
#define RECORD     4096u /* bytes: a larger block is not the record of a single allocation */
#define TABLE_FROM 8u    /* with fewer live allocations, a table proves nothing */

struct place {
    uint32_t block_bytes, offset; /* 0, 0: free */
    uint32_t last, count;         /* the last target counted here plus 1; how many targets */
};

/* NULL: the block is too large, or the table is full. */
static struct place *place_of(struct place *places, const struct vt_hint *h) {
    uint64_t hash = ((uint64_t)h->block_bytes << 32 | h->offset) * 0x9e3779b97f4a7c15ull;
    uint32_t i = (uint32_t)(hash >> 32) % PLACES;
    if (h->block_bytes > RECORD)
        return NULL;
    for (unsigned tries = 0; tries < TRIES; tries++, i = (i + 1) % PLACES) {
        struct place *p = &places[i];
        if (!p->block_bytes)
            *p = (struct place){.block_bytes = h->block_bytes, .offset = h->offset};
        if (p->block_bytes == h->block_bytes && p->offset == h->offset)
            return p;
    }
    return NULL;
}

static void count_places(struct place *places, const struct vt_hint *hints, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        struct place *p = place_of(places, &hints[i]);
        if (p && p->last != hints[i].target + 1) {
            p->last = hints[i].target + 1;
            p->count++;
        }
    }
}

/* Stores for each target the number of its place, counted from 1; MORE: several places. */
static void note_places(struct place *places, const struct vt_hint *hints, uint32_t n,
                        uint32_t *at) {
    for (uint32_t i = 0; i < n; i++) {
        const struct place *p = place_of(places, &hints[i]);
        uint32_t *known = &at[hints[i].target], this = p ? (uint32_t)(p - places) + 1 : MORE;
        *known = *known && *known != this ? MORE : this;
    }
}

void vt_scan_weigh_hints(struct vt_scan *scan, const struct vt_hint *hints, uint32_t n,
                         const struct vt_hint *in_cuda, uint32_t in_cuda_count) {
    uint32_t enough = scan->target_count - scan->target_count / 10;
    bool weigh = n && scan->target_count >= TABLE_FROM;
    struct place *places = weigh ? vt_scan_allocate(scan, PLACES * sizeof *places) : NULL;
    uint32_t *at = weigh ? vt_scan_allocate(scan, scan->target_count * sizeof *at) : NULL;
    if (scan->stop)
        return;
    if (weigh) {
        count_places(places, in_cuda, in_cuda_count);
        note_places(places, in_cuda, in_cuda_count, at);
    }
    for (uint32_t i = 0; i < n; i++) {
        struct vt_target *t = &scan->targets[hints[i].target];
        const struct place *p = weigh ? place_of(places, &hints[i]) : NULL;
        if ((p && p->count >= enough && at[hints[i].target] != MORE) || t->reached)
            continue;
        t->reached = true;
        /* Its contents may not have been scanned. */
        if (hints[i].theirs && vt_scan_may_lead_on(t))
            scan->in_doubt = true;
    }
}
