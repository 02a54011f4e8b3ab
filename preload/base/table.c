/* SPDX-License-Identifier: MIT */
/*
 * The lock-free table (see table.h for what it promises and who uses it).
 *
 * A slot is found by hash and a bounded probe. Its key is EMPTY, GONE (was used), BUSY (being
 * written) or the entry's. A probe may stop at EMPTY: a slot never becomes EMPTY again.
 */
#include "table.h"
#include "atomic.h"
#include "sys.h"

#include <assert.h>
#include <sys/mman.h>

#define FIRST_SLOTS (1u << 14)
#define PROBES      64u

enum { EMPTY = 0, GONE = 1, BUSY = 2 };

static_assert(sizeof(struct vt_slot) == 32, "two to a cache line");

/* Behind a part's slots: a bit for each page of them that was ever written. Walks pass over the rest,
 * which most of a table is, instead of having the kernel map it. */
#define PAGE_SLOTS 128u
static_assert(PAGE_SLOTS * sizeof(struct vt_slot) == 4096, "a page");
static_assert(FIRST_SLOTS % (64 * PAGE_SLOTS) == 0, "whole words of bits");

static uint64_t part_slots(unsigned part) {
    return (uint64_t)FIRST_SLOTS << 2 * part;
}

static uint64_t part_words(unsigned part) {
    return part_slots(part) / (64 * PAGE_SLOTS);
}

static uint64_t *part_bits(struct vt_slot *p, unsigned part) {
    return (uint64_t *)(p + part_slots(part));
}

static uint64_t mix(uint64_t x) {
    x ^= x >> 32;
    x *= 0x9e3779b97f4a7c15ull;
    return x ^ x >> 29;
}

static struct vt_slot *part_get(const struct vt_table *table, unsigned part) {
    return vt_see(&table->parts[part]);
}

static struct vt_slot *part_make(struct vt_table *table, unsigned part) {
    struct vt_slot *p = part_get(table, part);
    if (p)
        return p;
    size_t bytes = part_slots(part) * sizeof(struct vt_slot) + part_words(part) * sizeof(uint64_t);
    struct vt_slot *fresh = vt_sys_mmap(bytes, PROT_READ | PROT_WRITE,
                                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (!fresh)
        return NULL;
    if (vt_claim(&table->parts[part], NULL, fresh))
        return fresh;
    vt_sys_munmap(fresh, bytes);
    return part_get(table, part);
}

static void mark_page(struct vt_slot *p, unsigned part, uint64_t slot) {
    uint64_t page = slot / PAGE_SLOTS, *bits = part_bits(p, part) + page / 64,
             bit = 1ull << page % 64;
    if (!(vt_get(bits) & bit))
        vt_or(bits, bit);
}

bool vt_table_insert(struct vt_table *table, uint64_t key, const uint64_t words[VT_TABLE_WORDS]) {
    if (key <= BUSY)
        return false;
    uint64_t hash = mix(key);
    for (unsigned part = 0; part < VT_TABLE_PARTS; part++) {
        struct vt_slot *p = part_make(table, part);
        if (!p)
            return false;
        uint64_t mask = part_slots(part) - 1;
        for (unsigned i = 0; i < PROBES; i++) {
            struct vt_slot *s = &p[(hash + i) & mask];
            uint64_t has = vt_get(&s->key);
            if ((has != EMPTY && has != GONE) || !vt_claim(&s->key, has, BUSY))
                continue;
            for (unsigned w = 0; w < VT_TABLE_WORDS; w++)
                vt_put(&s->word[w], words[w]);
            mark_page(p, part, (hash + i) & mask);
            vt_publish(&s->key, key);
            return true;
        }
    }
    return false;
}

/* What a look-up wants of the slots that have the key: true ends it. */
typedef bool (*wanted)(struct vt_slot *slot, uint64_t key, uint64_t words[VT_TABLE_WORDS]);

static bool search(const struct vt_table *table, uint64_t key, wanted want,
                   uint64_t words[VT_TABLE_WORDS]) {
    if (key <= BUSY)
        return false;
    uint64_t hash = mix(key);
    for (unsigned part = 0; part < VT_TABLE_PARTS; part++) {
        struct vt_slot *p = part_get(table, part);
        if (!p)
            return false;
        uint64_t mask = part_slots(part) - 1;
        for (unsigned i = 0; i < PROBES; i++) {
            struct vt_slot *s = &p[(hash + i) & mask];
            uint64_t has = vt_see(&s->key);
            if (has == EMPTY)
                break;
            if (has == key && want(s, key, words))
                return true;
        }
    }
    return false;
}

/* The words, and whether the entry was still the same after they were read. */
static bool read_words(struct vt_slot *s, uint64_t key, uint64_t words[VT_TABLE_WORDS]) {
    for (unsigned w = 0; w < VT_TABLE_WORDS; w++)
        words[w] = vt_see(&s->word[w]);
    return vt_get(&s->key) == key;
}

static bool take_slot(struct vt_slot *s, uint64_t key, uint64_t words[VT_TABLE_WORDS]) {
    return read_words(s, key, words) && vt_claim(&s->key, key, GONE);
}

bool vt_table_find(const struct vt_table *table, uint64_t key, uint64_t words[VT_TABLE_WORDS]) {
    return search(table, key, read_words, words);
}

bool vt_table_take(struct vt_table *table, uint64_t key, uint64_t words[VT_TABLE_WORDS]) {
    return search(table, key, take_slot, words);
}

bool vt_table_replace(struct vt_table *table, uint64_t key, const uint64_t words[VT_TABLE_WORDS]) {
    uint64_t was[VT_TABLE_WORDS];
    vt_table_take(table, key, was);
    return vt_table_insert(table, key, words);
}

/* --- counted entries --- */

/* A count that has reached 0 belongs to the thread that took it there: it alone takes the slot out,
 * and to the others the entry is gone already. */

static bool count_up(struct vt_slot *s, uint64_t key, uint64_t words[VT_TABLE_WORDS]) {
    for (uint64_t n = vt_see(&s->word[0]); n; n = vt_see(&s->word[0]))
        if (vt_claim(&s->word[0], n, n + 1)) {
            read_words(s, key, words);
            return true;
        }
    return false;
}

static bool count_down(struct vt_slot *s, uint64_t key, uint64_t words[VT_TABLE_WORDS]) {
    read_words(s, key, words);
    for (uint64_t n = vt_see(&s->word[0]); n; n = vt_see(&s->word[0]))
        if (vt_claim(&s->word[0], n, n - 1)) {
            words[0] = n - 1;
            if (n == 1)
                vt_publish(&s->key, (uint64_t)GONE);
            return true;
        }
    return false;
}

bool vt_table_count_up(struct vt_table *table, uint64_t key, uint64_t words[VT_TABLE_WORDS]) {
    uint64_t unused[VT_TABLE_WORDS];
    return search(table, key, count_up, words ? words : unused);
}

bool vt_table_count_down(struct vt_table *table, uint64_t key, uint64_t words[VT_TABLE_WORDS]) {
    uint64_t unused[VT_TABLE_WORDS];
    return search(table, key, count_down, words ? words : unused);
}

/* --- all of them --- */

static void page_each(struct vt_slot *p,
                      bool (*visit)(uint64_t key, const uint64_t words[VT_TABLE_WORDS], void *data),
                      void *data) {
    for (unsigned i = 0; i < PAGE_SLOTS; i++) {
        uint64_t key = vt_see(&p[i].key), words[VT_TABLE_WORDS];
        if (key > BUSY && read_words(&p[i], key, words) && visit(key, words, data))
            vt_claim(&p[i].key, key, GONE);
    }
}

void vt_table_each(struct vt_table *table,
                   bool (*visit)(uint64_t key, const uint64_t words[VT_TABLE_WORDS], void *data),
                   void *data) {
    for (unsigned part = 0; part < VT_TABLE_PARTS; part++) {
        struct vt_slot *p = part_get(table, part);
        if (!p)
            return;
        const uint64_t *bits = part_bits(p, part);
        for (uint64_t w = 0; w < part_words(part); w++)
            for (uint64_t left = vt_see(&bits[w]); left; left &= left - 1)
                page_each(p + (w * 64 + (unsigned)__builtin_ctzll(left)) * PAGE_SLOTS, visit, data);
    }
}

void vt_table_forget(struct vt_table *table) {
    for (unsigned part = 0; part < VT_TABLE_PARTS; part++)
        vt_put(&table->parts[part], NULL);
}
