/* SPDX-License-Identifier: MIT */
/*
 * The table of live allocations during the replay: address -> size, context, site. The replay
 * spends its time here, so the functions are inline, a slot has 32 bytes, and callers prefetch.
 * Linear probing; deletion shifts entries back, because tombstones would slow down a long run. The
 * replay changes it; others only walk the slots.
 */
#ifndef VRAMTRACE_ANALYZER_ADDRESSES_H
#define VRAMTRACE_ANALYZER_ADDRESSES_H

#include "base/base.h"
#include "vramtrace/log_format.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

struct vt_address {
    uint64_t key;          /* vt_address_key; 0: empty */
    uint64_t size_context; /* as in struct vt_rec_alloc */
    uint32_t site;
    uint32_t kind : 8;
    uint32_t allocated_at : 24; /* when it was allocated, in units of vt_replay.age_unit */
    uint32_t sample;            /* from vt_history_kept */
};

struct vt_addresses {
    struct vt_address *slots;
    size_t mask, used;
    unsigned shift;
};

/* One table holds all address spaces: a key has the space + 1 in its three top bits, which no
 * address uses, so no key is 0. */
#define VT_ADDRESS_MASK 0x1fffffffffffffffull
static_assert(VT_SPACES < 8, "three bits");

static inline uint64_t vt_address_key(uint64_t address, unsigned space) {
    return (address & VT_ADDRESS_MASK) | (uint64_t)(space + 1) << 61;
}
static inline uint64_t vt_address_of(const struct vt_address *entry) {
    return entry->key & VT_ADDRESS_MASK;
}

static inline size_t vt_addresses_home(const struct vt_addresses *live, uint64_t key) {
    return (size_t)(key * 0x9e3779b97f4a7c15ull >> live->shift);
}

static inline void vt_addresses_prefetch(const struct vt_addresses *live, uint64_t key) {
    __builtin_prefetch(&live->slots[vt_addresses_home(live, key)], 1);
}

/* An empty table of 2^bits slots. Free `slots` with free(). */
static inline void vt_addresses_start(struct vt_addresses *live, unsigned bits) {
    enum { HUGE = 2 << 20 };
    size_t bytes = sizeof *live->slots << bits;
    if (bytes >= HUGE) {
        /* in a large table of small pages nearly every look-up would also miss the TLB */
        live->slots = aligned_alloc(HUGE, (bytes + HUGE - 1) & ~(size_t)(HUGE - 1));
        if (live->slots) {
            madvise(live->slots, bytes, MADV_HUGEPAGE);
            memset(live->slots, 0, bytes);
        }
    } else {
        live->slots = calloc((size_t)1 << bits, sizeof *live->slots);
    }
    if (!live->slots)
        live->slots = vt_alloc((size_t)1 << bits, sizeof *live->slots); /* exits with a message */
    live->mask = ((size_t)1 << bits) - 1;
    live->shift = 64 - bits;
    live->used = 0;
}

/* The slot with the key, or the empty slot for it. Valid until an entry is added or removed. */
static inline struct vt_address *vt_addresses_find(const struct vt_addresses *live, uint64_t key) {
    size_t i = vt_addresses_home(live, key);
    while (live->slots[i].key != key && live->slots[i].key != 0)
        i = (i + 1) & live->mask;
    return &live->slots[i];
}

/* Makes room for one more entry: call it before vt_addresses_find, to add. */
static inline void vt_addresses_reserve(struct vt_addresses *live) {
    if (live->used < live->mask - live->mask / 4)
        return;
    struct vt_addresses old = *live;
    vt_addresses_start(live, 64 - old.shift + 1);
    for (size_t i = 0; i <= old.mask; i++)
        if (old.slots[i].key)
            *vt_addresses_find(live, old.slots[i].key) = old.slots[i];
    live->used = old.used;
    free(old.slots);
}

static inline void vt_addresses_remove(struct vt_addresses *live, struct vt_address *entry) {
    size_t hole = (size_t)(entry - live->slots), i = hole;
    for (;;) {
        i = (i + 1) & live->mask;
        uint64_t key = live->slots[i].key;
        if (!key)
            break;
        /* It may move into the hole unless its own first slot lies between the hole and here. */
        if (((i - vt_addresses_home(live, key)) & live->mask) >= ((i - hole) & live->mask)) {
            live->slots[hole] = live->slots[i];
            hole = i;
        }
    }
    live->slots[hole].key = 0;
    live->used--;
}

#endif
