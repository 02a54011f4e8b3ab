/* SPDX-License-Identifier: MIT */
/*
 * The table of live allocations during the replay: address -> size, origin, time. The replay spends most of its time
 * and memory here. A large table takes at most 32 bytes for each live allocation. A look-up reads two cache lines,
 * which callers prefetch. So the functions are inline.
 *
 * Entries lie side by side in the order of their numbers, and a number is reused once its entry is removed. Each line
 * of the index is a cache line: 15 slots, each with a number and some bits of the key's hash, and a count. The count is
 * of the entries that found this line full and went to a later line. So a removal moves no entry, and the index can be
 * nearly full. To grow, the index is rebuilt from the entries, which stay in place: the old and the new one never exist
 * together.
 */
#ifndef VRAMTRACE_ANALYZER_ADDRESSES_H
#define VRAMTRACE_ANALYZER_ADDRESSES_H

#include "base/base.h"
#include "logfile/logfile.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

struct vt_address {
    uint64_t key; /* vt_address_key; 0: not used */
    uint64_t size : 48;
    uint64_t sample : 16;       /* from vt_history_kept */
    uint32_t origin;            /* index in vt_replay.origins */
    uint32_t allocated_at : 24; /* time of allocation, in units of vt_replay.age_unit */
    uint32_t kind : 8;
};
static_assert(sizeof(struct vt_address) == 24, "24 bytes and a slot are at most 32");

enum {
    VT_ADDRESSES_LINE = 16, /* words: the slots, then the count */
    VT_ADDRESSES_SLOTS = 15,
    VT_ADDRESSES_PART_BITS = 18, /* a part of the entries takes three huge pages */
};

/* Start with vt_addresses_start, free with vt_addresses_free. */
struct vt_addresses {
    uint32_t *lines;
    uint32_t line_count;
    uint32_t number_mask; /* bits of a slot that are the entry's number; 0: the slot is empty */
    struct vt_address **parts; /* the entries, from number 1 */
    uint32_t part_count, part_room;
    uint32_t numbers;  /* assigned so far */
    uint32_t unused;   /* a number whose entry was removed; 0: none. Its `origin` is the next */
    uint64_t removed;  /* the key removed last, if none was added since; else 0 */
    uint32_t *slot;    /* that key's slot, in its first line */
    uint32_t word;     /* the slot's former value */
    size_t used, room; /* entries now; entries before the index grows */
};

/* One table holds all address spaces: the keys are those of events. */
static inline uint64_t vt_address_of(const struct vt_address *entry) {
    return entry->key & VT_ADDRESS_MASK;
}

void vt_addresses_start(struct vt_addresses *live);
void vt_addresses_free(struct vt_addresses *live);

/* Saves or reloads the table (base/saved_state.h). Numbers stay the same; the order of the index changes. */
void vt_addresses_state(struct vt_addresses *live, struct vt_state *s);

/* The table's size in bytes. */
size_t vt_addresses_bytes(const struct vt_addresses *live);

/* The entry with an assigned number. */
static inline struct vt_address *vt_addresses_at(const struct vt_addresses *live, uint32_t number) {
    return &live->parts[number >> VT_ADDRESSES_PART_BITS]
                       [number & ((1u << VT_ADDRESSES_PART_BITS) - 1)];
}

static inline uint64_t vt_addresses_hash(uint64_t key) {
    return (key ^ key >> 32) * 0x9e3779b97f4a7c15ull;
}

/* The line where the look-up of a hash begins. */
static inline uint32_t vt_addresses_home(const struct vt_addresses *live, uint64_t hash) {
    return (uint32_t)((hash >> 32) * live->line_count >> 32);
}

/* A hash's bits in a slot. */
static inline uint32_t vt_addresses_tag(const struct vt_addresses *live, uint64_t hash) {
    return (uint32_t)(hash >> 8) & ~live->number_mask;
}

/* A bit for each slot of a line that has `value` in the bits of `mask`. */
static inline unsigned vt_addresses_match(const uint32_t *line, uint32_t mask, uint32_t value) {
    unsigned found = 0;
#ifdef __SSE2__
    const __m128i *words = (const __m128i *)line;
    __m128i m = _mm_set1_epi32((int)mask), v = _mm_set1_epi32((int)value);
    __m128i a = _mm_cmpeq_epi32(_mm_and_si128(_mm_load_si128(words), m), v);
    __m128i b = _mm_cmpeq_epi32(_mm_and_si128(_mm_load_si128(words + 1), m), v);
    __m128i c = _mm_cmpeq_epi32(_mm_and_si128(_mm_load_si128(words + 2), m), v);
    __m128i d = _mm_cmpeq_epi32(_mm_and_si128(_mm_load_si128(words + 3), m), v);
    __m128i all = _mm_packs_epi16(_mm_packs_epi32(a, b), _mm_packs_epi32(c, d));
    found = (unsigned)_mm_movemask_epi8(all);
#else
    for (unsigned i = 0; i < VT_ADDRESSES_SLOTS; i++)
        found |= (unsigned)((line[i] & mask) == value) << i;
#endif
    return found & ((1u << VT_ADDRESSES_SLOTS) - 1);
}

static inline uint32_t vt_addresses_following(const struct vt_addresses *live, uint32_t line) {
    return line + 1 == live->line_count ? 0 : line + 1;
}

/* The slot of a key; NULL: not in the table. Valid until an entry is added or removed. */
static inline uint32_t *vt_addresses_slot(const struct vt_addresses *live, uint64_t key) {
    uint64_t hash = vt_addresses_hash(key);
    uint32_t at = vt_addresses_home(live, hash), tag = vt_addresses_tag(live, hash);
    for (;; at = vt_addresses_following(live, at)) {
        uint32_t *line = &live->lines[(size_t)at * VT_ADDRESSES_LINE];
        for (unsigned found = vt_addresses_match(line, ~live->number_mask, tag); found;
             found &= found - 1) {
            uint32_t *slot = &line[__builtin_ctz(found)];
            /* number 0 also has an entry, without a key */
            if (vt_addresses_at(live, *slot & live->number_mask)->key == key)
                return slot;
        }
        if (!line[VT_ADDRESSES_SLOTS])
            return NULL;
    }
}

/* The number of the entry in a slot. */
static inline uint32_t vt_addresses_number(const struct vt_addresses *live, const uint32_t *slot) {
    return *slot & live->number_mask;
}

/* The entry in a slot, or with a key (NULL: none). It does not move until it is removed. */
static inline struct vt_address *vt_addresses_in(const struct vt_addresses *live,
                                                 const uint32_t *slot) {
    return vt_addresses_at(live, *slot & live->number_mask);
}
static inline struct vt_address *vt_addresses_find(const struct vt_addresses *live, uint64_t key) {
    const uint32_t *slot = vt_addresses_slot(live, key);
    return slot ? vt_addresses_in(live, slot) : NULL;
}

/* Make room for more entries, and for the next number. Only for vt_addresses_add. */
void vt_addresses_grow(struct vt_addresses *live);
void vt_addresses_extend(struct vt_addresses *live);

/* Enters a number in the index. */
static inline void vt_addresses_enter(struct vt_addresses *live, uint64_t key, uint32_t number) {
    uint64_t hash = vt_addresses_hash(key);
    uint32_t at = vt_addresses_home(live, hash), *line;
    unsigned empty;
    while (line = &live->lines[(size_t)at * VT_ADDRESSES_LINE],
           !(empty = vt_addresses_match(line, UINT32_MAX, 0))) {
        line[VT_ADDRESSES_SLOTS]++;
        at = vt_addresses_following(live, at);
    }
    line[__builtin_ctz(empty)] = vt_addresses_tag(live, hash) | number;
}

/* Adds an entry with a key that is not in the table; the caller fills in the rest. */
static inline struct vt_address *vt_addresses_add(struct vt_addresses *live, uint64_t key) {
    uint32_t number = live->unused;
    if (live->used == live->room)
        vt_addresses_grow(live);
    if (number) {
        live->unused = vt_addresses_at(live, number)->origin;
    } else {
        number = ++live->numbers;
        if (number >> VT_ADDRESSES_PART_BITS == live->part_count)
            vt_addresses_extend(live);
    }
    vt_addresses_enter(live, key, number);
    live->used++;
    live->removed = 0;
    struct vt_address *entry = vt_addresses_at(live, number);
    entry->key = key;
    return entry;
}

/* Adds an entry with the key that was removed last: allocators often reuse the block freed last. NULL: another key.
 * Searching the line would stall until the removal is in the cache, because processors do not forward a stored word
 * to a wider load. */
static inline struct vt_address *vt_addresses_add_again(struct vt_addresses *live, uint64_t key) {
    if (key != live->removed)
        return NULL;
    struct vt_address *entry = vt_addresses_at(live, live->unused);
    live->unused = entry->origin;
    *live->slot = live->word; /* so the entry's number is the first unused number */
    live->used++;
    live->removed = 0;
    entry->key = key;
    return entry;
}

static inline void vt_addresses_remove(struct vt_addresses *live, uint32_t *slot) {
    uint32_t number = *slot & live->number_mask;
    struct vt_address *entry = vt_addresses_at(live, number);
    uint32_t line = (uint32_t)((size_t)(slot - live->lines) / VT_ADDRESSES_LINE);
    uint32_t at = vt_addresses_home(live, vt_addresses_hash(entry->key));
    live->removed = at == line ? entry->key : 0;
    live->slot = slot;
    live->word = *slot;
    for (; at != line; at = vt_addresses_following(live, at))
        live->lines[(size_t)at * VT_ADDRESSES_LINE + VT_ADDRESSES_SLOTS]--;
    *slot = 0;
    entry->key = 0;
    entry->origin = live->unused;
    live->unused = number;
    live->used--;
}

/* The next entry by number. *at: 0 for the first entry, then the number of the entry returned. NULL: no more. */
static inline struct vt_address *vt_addresses_next(const struct vt_addresses *live, size_t *at) {
    while (*at < live->numbers) {
        struct vt_address *entry = vt_addresses_at(live, (uint32_t)++ * at);
        if (entry->key)
            return entry;
    }
    return NULL;
}

/* gcc drops calls of a function that only prefetches, as the function has no effect. The asm counts as an effect. */
static inline void vt_addresses_fetch(const void *memory) {
    __builtin_prefetch(memory, 1);
    __asm__ volatile("");
}

/* A bit for each number, all clear. Free it with free(). */
static inline uint8_t *vt_addresses_bits(const struct vt_addresses *live) {
    return (uint8_t *)vt_alloc(live->numbers / 8 + 1, 1);
}
/* Sets the bit of a number. Returns whether it was set. */
static inline bool vt_addresses_set(uint8_t *bits, size_t number) {
    bool was = bits[number / 8] >> number % 8 & 1;
    bits[number / 8] |= (uint8_t)(1 << number % 8);
    return was;
}

/* For a later look-up of a key: first fetch its line, then its entry. */
static inline void vt_addresses_fetch_line(const struct vt_addresses *live, uint64_t key) {
    uint32_t at = vt_addresses_home(live, vt_addresses_hash(key));
    vt_addresses_fetch(&live->lines[(size_t)at * VT_ADDRESSES_LINE]);
}

/* Looks up a key that will be needed soon, and fetches its entry. Returns the note for vt_addresses_noted. */
static inline uint64_t vt_addresses_note(const struct vt_addresses *live, uint64_t key) {
    uint64_t hash = vt_addresses_hash(key);
    const uint32_t *line = &live->lines[(size_t)vt_addresses_home(live, hash) * VT_ADDRESSES_LINE];
    unsigned found = vt_addresses_match(line, ~live->number_mask, vt_addresses_tag(live, hash));
    if (!found)
        return 0;
    /* every fourth entry spans two cache lines */
    const uint32_t *slot = &line[__builtin_ctz(found)];
    const struct vt_address *entry = vt_addresses_in(live, slot);
    vt_addresses_fetch(entry);
    vt_addresses_fetch(&entry->origin);
    return (uint64_t)(slot - live->lines);
}

/* The slot of a key that was noted before: it may have moved or been removed since. */
static inline uint32_t *vt_addresses_noted(const struct vt_addresses *live, uint64_t key,
                                           uint64_t note) {
    uint32_t *slot = &live->lines[note]; /* the index never shrinks */
    return vt_addresses_in(live, slot)->key == key ? slot : vt_addresses_slot(live, key);
}

#endif
