/* SPDX-License-Identifier: MIT */
/*
 * A lock-free table: key -> three words. No malloc, nobody waits, and nothing is ever unmapped, so
 * a slot's address stays good for the life of the process.
 *
 * Guarantees:
 *   - An entry is seen whole or not at all.
 *   - Who takes an entry out has it alone: of two takers one gets it. A take and a count concern the
 * entry whose words they return, also when the same key is taken out and inserted again meanwhile.
 *   - It grows by further tables, each four times the one before; an insert fails only when the
 * kernel gives no memory or every table is full.
 * One key at a time is the caller's affair: a second insert of a key that is there makes a second
 * entry (for counted entries, see below, that is harmless).
 *
 * Used by live.c (what is live), vmm.c (handles and mappings), pool.c, graph.c, wrap_share.c.
 */
#ifndef VT_PRELOAD_TABLE_H
#define VT_PRELOAD_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#define VT_TABLE_PARTS 12u
#define VT_TABLE_WORDS 3u

struct vt_slot {
    uint64_t key;     /* atomic; see table.c */
    uint64_t word[2]; /* atomic */
    uint64_t state;   /* atomic; word 2 in its lower half */
};

struct vt_table {
    struct vt_slot *parts[VT_TABLE_PARTS]; /* atomic */
};

/* Keys are any numbers from 3 on; a lower one is never found and never inserted. Word 2 has 32 bits.
 * False: no room. */
bool vt_table_insert(struct vt_table *table, uint64_t key, const uint64_t words[VT_TABLE_WORDS]);
/* Copies an entry's words. False: there is none. */
bool vt_table_find(const struct vt_table *table, uint64_t key, uint64_t words[VT_TABLE_WORDS]);
/* Takes an entry out; `words` gets what it was. False: there is none. */
bool vt_table_take(struct vt_table *table, uint64_t key, uint64_t words[VT_TABLE_WORDS]);
/* Takes an entry out only while its word 0 is that: it may have been replaced. */
bool vt_table_take_own(struct vt_table *table, uint64_t key, uint64_t first_word);
/* Puts an entry in the place of one with the same key. */
bool vt_table_replace(struct vt_table *table, uint64_t key, const uint64_t words[VT_TABLE_WORDS]);

/* Counted entries: word 2 is a count above 0. These two change it, and take the entry out when it
 * reaches 0 (then `words` is what it was, with count 0). False: there is no such entry. `words` may
 * be NULL. */
bool vt_table_count_up(struct vt_table *table, uint64_t key, uint64_t words[VT_TABLE_WORDS]);
bool vt_table_count_down(struct vt_table *table, uint64_t key, uint64_t words[VT_TABLE_WORDS]);

/* Calls `visit` for each entry. Where that answers true, the entry is taken out, and then `taken` is
 * called (NULL: nothing is); but not where another thread took it out first. Entries that come or go
 * meanwhile may be missed. Walks the whole table: not for every event. */
void vt_table_each(struct vt_table *table,
                   bool (*visit)(uint64_t key, const uint64_t words[VT_TABLE_WORDS], void *data),
                   void (*taken)(uint64_t key, const uint64_t words[VT_TABLE_WORDS], void *data),
                   void *data);

/* In a forked child: starts empty. The old memory stays mapped: copies that nobody touches. */
void vt_table_forget(struct vt_table *table);

#endif
