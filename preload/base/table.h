/* SPDX-License-Identifier: MIT */
/*
 * A lock-free table: key -> three words. It is independent of malloc and never waits. Its memory stays
 * mapped, so a slot's address stays valid for the life of the process.
 *
 * Guarantees:
 *   - A reader sees an entry whole or not at all.
 *   - When two threads take the same entry, only one gets it. A take or a count applies to the
 *     entry whose words it returns, even if the same key is removed and inserted again meanwhile.
 *   - The table grows by adding parts, each four times as large as the one before. An insert fails
 *     only when the kernel gives no memory or every part is full.
 * The caller must not insert a key that is present: that makes a second entry (harmless for counted
 * entries, see below).
 *
 * Used by live.c (live allocations), vmm.c (handles and mappings), pool.c, graph.c, share.c
 * and context.c.
 */
#ifndef VT_PRELOAD_TABLE_H
#define VT_PRELOAD_TABLE_H

#include "atomic.h"
#include "machine/machine.h"

#include <stdbool.h>
#include <stdint.h>

#define VT_TABLE_PARTS 12u
#define VT_TABLE_WORDS 3u

struct vt_slot {
    uint64_t key;     /* atomic; see table.c */
    uint64_t word[2]; /* atomic */
    uint64_t state;   /* atomic; word 2 in its lower half, and whether there is an entry */
};

struct vt_table {
    struct vt_slot *parts[VT_TABLE_PARTS]; /* atomic */
};

#define VT_TABLE_FIRST_SLOTS (1u << 14)

/* Start of a key's search. */
static inline uint64_t vt_table_hash(uint64_t key) {
    key ^= key >> 32;
    key *= 0x9e3779b97f4a7c15ull;
    return key ^ key >> 29;
}

/* Keys are numbers from 3 up; lower keys are ignored. Word 2 has 32 bits.
 * False: no room. */
bool vt_table_insert(struct vt_table *table, uint64_t key, const uint64_t words[VT_TABLE_WORDS]);
/* Copies an entry's words. False: no entry. */
bool vt_table_find(const struct vt_table *table, uint64_t key, uint64_t words[VT_TABLE_WORDS]);
/* Removes an entry and returns its words. False: no entry. */
bool vt_table_take(struct vt_table *table, uint64_t key, uint64_t words[VT_TABLE_WORDS]);
/* Removes an entry only if its word 0 is `first_word`, because it may have been replaced meanwhile. */
bool vt_table_take_own(struct vt_table *table, uint64_t key, uint64_t first_word);
/* Replaces the entry with this key, or inserts one. */
bool vt_table_replace(struct vt_table *table, uint64_t key, const uint64_t words[VT_TABLE_WORDS]);

/* Inserts an entry, or replaces the one with this key and returns the old words. For keys that only one thread at a
 * time inserts or removes. Fast if the key was in the table before. */
enum vt_table_put { VT_TABLE_FULL, VT_TABLE_NEW, VT_TABLE_REPLACED };
enum vt_table_put vt_table_put(struct vt_table *table, uint64_t key,
                               const uint64_t words[VT_TABLE_WORDS], uint64_t was[VT_TABLE_WORDS]);
/* Prefetches a key's slot for writing, while other work is done. */
static inline void vt_table_ahead(const struct vt_table *table, uint64_t key) {
    uintptr_t slots = (uintptr_t)vt_get(&table->parts[0]); /* NULL does no harm */
    vt_machine_fetch_to_write(slots + (vt_table_hash(key) & (VT_TABLE_FIRST_SLOTS - 1)) *
                                          sizeof(struct vt_slot));
}

/* Counted entries: word 2 is a count above 0. These two change the count, and remove the entry
 * when it reaches 0; `words` then returns the entry with count 0. False: no entry. `words` may
 * be NULL. */
bool vt_table_count_up(struct vt_table *table, uint64_t key, uint64_t words[VT_TABLE_WORDS]);
bool vt_table_count_down(struct vt_table *table, uint64_t key, uint64_t words[VT_TABLE_WORDS]);

/* Calls `visit` for each entry. When it returns true, the entry is removed and `taken` is called
 * (may be NULL), unless another thread removed it first. Entries that come or go meanwhile may be
 * missed. It walks the whole table, so do not call it on every event. */
void vt_table_each(struct vt_table *table,
                   bool (*visit)(uint64_t key, const uint64_t words[VT_TABLE_WORDS], void *data),
                   void (*taken)(uint64_t key, const uint64_t words[VT_TABLE_WORDS], void *data),
                   void *data);

/* In a forked child: starts empty. The old memory stays mapped, but unused. */
void vt_table_forget(struct vt_table *table);

#endif
