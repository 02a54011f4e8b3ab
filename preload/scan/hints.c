/* SPDX-License-Identifier: MIT */
/*
 * Decides which pointers in blocks that CUDA's libraries may own count as the program's. Such a block may be a
 * library's record of an allocation, or an object of the program to which a library happens to point.
 *
 * The libraries' tables are recognized by their contents: words at one offset in blocks of one size (or UNSPLIT bytes
 * longer) that point to nearly every live address. A pointer in a table proves nothing. But a type of the program may
 * look like a table, if each live allocation has an object of its own. So a pointer in a table counts if the same
 * address is also at another place in such blocks, because one of the two places is then not a table.
 *
 * Called by flood.c.
 */
#include "flood.h"

#define PLACES     16384u
#define MORE       (PLACES + 1)
#define TRIES      64u
#define RECORD     4096u /* bytes: a larger block is not a single allocation's record */
#define TABLE_FROM 8u    /* fewer live allocations do not make a table */
/* glibc 2.36 (malloc.c, MINSIZE) does not split a chunk if less than 32 bytes would remain: the block gets 16 more. */
#define UNSPLIT    16u

struct place {
    uint32_t block_bytes, offset; /* 0, 0: free */
    uint32_t last, count;         /* 1 + the last target counted here; number of targets */
};

/* NULL: the block is too large, or the table is full. */
static struct place *place_at(struct place *places, uint32_t bytes, uint32_t offset) {
    uint64_t hash = ((uint64_t)bytes << 32 | offset) * 0x9e3779b97f4a7c15ull;
    uint32_t i = (uint32_t)(hash >> 32) % PLACES;
    if (bytes > RECORD)
        return NULL;
    for (unsigned tries = 0; tries < TRIES; tries++, i = (i + 1) % PLACES) {
        struct place *p = &places[i];
        if (!p->block_bytes)
            *p = (struct place){.block_bytes = bytes, .offset = offset};
        if (p->block_bytes == bytes && p->offset == offset)
            return p;
    }
    return NULL;
}

static struct place *place_of(struct place *places, const struct vt_hint *h) {
    return place_at(places, h->block_bytes, h->offset);
}

/* The hint's place if malloc made the block UNSPLIT bytes longer than requested. NULL: there is none. */
static struct place *place_if_unsplit(struct place *places, const struct vt_hint *h) {
    return h->block_bytes >= h->offset + sizeof(uint64_t) + UNSPLIT
               ? place_at(places, h->block_bytes - UNSPLIT, h->offset)
               : NULL;
}

static void count_at(struct place *p, uint32_t target) {
    if (p && p->last != target + 1) {
        p->last = target + 1;
        p->count++;
    }
}

static void count_places(struct place *places, const struct vt_hint *hints, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        count_at(place_of(places, &hints[i]), hints[i].target);
        count_at(place_if_unsplit(places, &hints[i]), hints[i].target);
    }
}

/* Whether the hint is in a table that has nearly all targets. */
static bool in_table(struct place *places, const struct vt_hint *h, uint32_t enough) {
    const struct place *p = place_of(places, h), *unsplit = place_if_unsplit(places, h);
    return (p && p->count >= enough) || (p && unsplit && unsplit->count >= enough);
}

/* Stores the number of each target's place, counted from 1; MORE: several places. */
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
        if (t->reached ||
            (weigh && at[hints[i].target] != MORE && in_table(places, &hints[i], enough)))
            continue;
        t->reached = true;
        /* The target's contents may not have been scanned. */
        if (hints[i].theirs && vt_scan_may_lead_on(t))
            scan->in_doubt = true;
    }
}
