/* SPDX-License-Identifier: MIT */
/*
 * What is live at a moment of the replay: address -> size, context, site. Open addressing, 32 bytes
 * a slot, linear probing, deletion by shifting back (no tombstones, so a run of allocate and free
 * never slows down). Inline, because the replay spends its time here; the caller prefetches. For
 * replay.c; the others only walk it.
 */
#ifndef VRAMTRACE_ANALYZER_LIVE_H
#define VRAMTRACE_ANALYZER_LIVE_H

#include "base/util.h"
#include "vramtrace/log_format.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

struct vt_live_entry {
    uint64_t key;          /* vt_live_key; 0: empty */
    uint64_t size_context; /* as in struct vt_rec_alloc */
    uint32_t site;
    uint32_t kind : 8;
    uint32_t born : 24; /* when it was allocated, in the replay's age_unit */
    uint32_t sample;    /* of its site's history, in which it was allocated (vt_history_kept) */
};

struct vt_live {
    struct vt_live_entry *slots;
    size_t mask, used;
    unsigned shift;
};

/* All address spaces in one table: the space stands in the three top bits, from 1, so that no key
 * is 0. No address reaches them. */
#define VT_LIVE_ADDRESS 0x1fffffffffffffffull
static_assert(VT_SPACES < 8, "three bits");

static inline uint64_t vt_live_key(uint64_t address, unsigned space) {
    return (address & VT_LIVE_ADDRESS) | (uint64_t)(space + 1) << 61;
}
static inline uint64_t vt_live_address(const struct vt_live_entry *entry) {
    return entry->key & VT_LIVE_ADDRESS;
}

static inline size_t vt_live_home(const struct vt_live *live, uint64_t key) {
    return (size_t)(key * 0x9e3779b97f4a7c15ull >> live->shift);
}

static inline void vt_live_prefetch(const struct vt_live *live, uint64_t key) {
    __builtin_prefetch(&live->slots[vt_live_home(live, key)], 1);
}

static inline void vt_live_start(struct vt_live *live, unsigned bits) {
    enum { HUGE = 2 << 20 };
    size_t bytes = sizeof *live->slots << bits;
    if (bytes >= HUGE) {
        /* in a large table nearly every look-up would miss the TLB as well */
        live->slots = aligned_alloc(HUGE, (bytes + HUGE - 1) & ~(size_t)(HUGE - 1));
        if (live->slots) {
            madvise(live->slots, bytes, MADV_HUGEPAGE);
            memset(live->slots, 0, bytes);
        }
    } else {
        live->slots = calloc((size_t)1 << bits, sizeof *live->slots);
    }
    if (!live->slots)
        live->slots =
            vt_alloc((size_t)1 << bits, sizeof *live->slots); /* says that there is none */
    live->mask = ((size_t)1 << bits) - 1;
    live->shift = 64 - bits;
    live->used = 0;
}

/* The slot that holds the key, or the empty one where it would go. */
static inline struct vt_live_entry *vt_live_find(const struct vt_live *live, uint64_t key) {
    size_t i = vt_live_home(live, key);
    while (live->slots[i].key != key && live->slots[i].key != 0)
        i = (i + 1) & live->mask;
    return &live->slots[i];
}

/* Makes room for one more: call before vt_live_find when about to add. */
static inline void vt_live_reserve(struct vt_live *live) {
    if (live->used < live->mask - live->mask / 4)
        return;
    struct vt_live old = *live;
    vt_live_start(live, 64 - old.shift + 1);
    for (size_t i = 0; i <= old.mask; i++)
        if (old.slots[i].key)
            *vt_live_find(live, old.slots[i].key) = old.slots[i];
    live->used = old.used;
    free(old.slots);
}

static inline void vt_live_remove(struct vt_live *live, struct vt_live_entry *entry) {
    size_t hole = (size_t)(entry - live->slots), i = hole;
    for (;;) {
        i = (i + 1) & live->mask;
        uint64_t key = live->slots[i].key;
        if (!key)
            break;
        /* it may move into the hole if its home does not lie behind the hole */
        if (((i - vt_live_home(live, key)) & live->mask) >= ((i - hole) & live->mask)) {
            live->slots[hole] = live->slots[i];
            hole = i;
        }
    }
    live->slots[hole].key = 0;
    live->used--;
}

#endif
