/* SPDX-License-Identifier: MIT */
/*
 * Creates, grows and frees the table of live allocations (see addresses.h).
 */
#include "addresses.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
    HUGE = 2 << 20,
    FIRST_LINES = 64,
    SMALL_LINES = 1 << 12, /* below this the index doubles */
    LARGE_LINES = 1 << 16, /* from here on it grows by a third */
};

/* Allocates memory in huge pages for random accesses: in small pages, nearly every access to a large table would
 * also miss the TLB. The rest after the last whole huge page, and the first `small` bytes, stay in small pages. */
static void *allocate(size_t bytes, size_t small) {
    void *memory = NULL;
    if (bytes >= HUGE) {
        memory = aligned_alloc(HUGE, (bytes + HUGE - 1) & ~(size_t)(HUGE - 1));
        if (memory)
            madvise((char *)memory + small, (bytes & ~(size_t)(HUGE - 1)) - small, MADV_HUGEPAGE);
    } else {
        memory = aligned_alloc(64, (bytes + 63) & ~(size_t)63);
    }
    return memory ? memory : vt_alloc(bytes, 1); /* this exits with a message */
}

static void size_index(struct vt_addresses *live, uint32_t lines) {
    size_t words = (size_t)lines * VT_ADDRESSES_LINE;
    free(live->lines);
    live->lines = allocate(words * sizeof *live->lines, 0);
    memset(live->lines, 0, words * sizeof *live->lines);
    live->line_count = lines;
    live->room = (size_t)lines * VT_ADDRESSES_SLOTS / 8 * 7;
    live->number_mask = UINT32_MAX >> __builtin_clz((uint32_t)live->room);
}

void vt_addresses_start(struct vt_addresses *live) {
    *live = (struct vt_addresses){0};
    size_index(live, FIRST_LINES);
    vt_addresses_extend(live);
    live->parts[0][0] = (struct vt_address){0};
}

void vt_addresses_free(struct vt_addresses *live) {
    for (uint32_t i = 0; i < live->part_count; i++)
        free(live->parts[i]);
    free(live->parts);
    free(live->lines);
    *live = (struct vt_addresses){0};
}

size_t vt_addresses_bytes(const struct vt_addresses *live) {
    return (size_t)live->line_count * VT_ADDRESSES_LINE * sizeof *live->lines +
           (live->numbers + (size_t)1) * sizeof **live->parts;
}

/* Doubles, then grows by half, then by a third: a doubled large index would be half empty and take 10 bytes for each
 * entry. */
static void add_lines(struct vt_addresses *live) {
    uint32_t lines = live->line_count;
    uint32_t more = lines < SMALL_LINES ? lines : lines < LARGE_LINES ? lines / 2 : lines / 3;
    size_index(live, lines + more);
}

/* Enters all entries. Returns their number. */
static size_t enter_all(struct vt_addresses *live) {
    enum { AHEAD = 16 };
    size_t count = 0;
    for (uint32_t number = 1; number <= live->numbers; number++) {
        if (number + AHEAD <= live->numbers)
            vt_addresses_fetch_line(live, vt_addresses_at(live, number + AHEAD)->key);
        uint64_t key = vt_addresses_at(live, number)->key;
        if (key)
            vt_addresses_enter(live, key, number);
        count += key != 0;
    }
    return count;
}

void vt_addresses_grow(struct vt_addresses *live) {
    add_lines(live);
    enter_all(live);
}

/* The first part begins in small pages, so it takes only its entries' memory; most logs need no more. */
void vt_addresses_extend(struct vt_addresses *live) {
    size_t bytes = sizeof **live->parts << VT_ADDRESSES_PART_BITS;
    VT_GROW(live->parts, live->part_count, live->part_room);
    live->parts[live->part_count] = allocate(bytes, live->part_count ? 0 : HUGE);
    live->part_count++;
}

/* --- saving and loading --- */

/* Whether the list of unused numbers has exactly those without a key, each once. */
static bool unused_are_all(const struct vt_addresses *live) {
    VT_SCOPED uint8_t *seen = vt_addresses_bits(live);
    size_t count = live->numbers - live->used;
    for (uint32_t number = live->unused; number; count--) {
        if (!count || number > live->numbers || vt_addresses_at(live, number)->key ||
            vt_addresses_set(seen, number))
            return false;
        number = vt_addresses_at(live, number)->origin;
    }
    return !count;
}

void vt_addresses_state(struct vt_addresses *live, struct vt_state *s) {
    VT_STATE_SECTION(s, "live", struct vt_address);
    uint64_t count =
        vt_state_count(s, live->numbers, sizeof(struct vt_address), sizeof live->numbers);
    if (s->loading) {
        vt_addresses_free(live);
        vt_addresses_start(live);
        live->numbers = (uint32_t)count;
    }
    VT_STATE(s, live->unused);
    for (uint64_t from = 1, next; from <= count; from = next) {
        uint64_t part = from >> VT_ADDRESSES_PART_BITS;
        next = (part + 1) << VT_ADDRESSES_PART_BITS;
        next = next <= count ? next : count + 1;
        if (part == live->part_count)
            vt_addresses_extend(live);
        vt_state_bytes(s, vt_addresses_at(live, (uint32_t)from),
                       (next - from) * sizeof(struct vt_address));
    }
    if (!s->loading)
        return;
    while (live->room <
           count) /* as many lines as when saved: the table once had this many entries */
        add_lines(live);
    live->used = enter_all(live);
    vt_state_expect(s, unused_are_all(live), "the unused numbers of live allocations, each once");
}
