/* SPDX-License-Identifier: MIT */
/*
 * The lock-free table (see table.h for its guarantees and users).
 *
 * A slot is found by hash and a bounded probe. Its key is EMPTY, or the key of its last entry. A probe may stop at
 * EMPTY, because a slot never becomes EMPTY again.
 *
 * The key only guides the search. Only the slot's `state` tells whether there is an entry. It is one 64-bit word that
 * holds the value (word 2), the bits THERE and CLAIMED, and a generation.
 *
 *   insert   exchanges the state of a slot without an entry for the next generation and CLAIMED, then writes the key
 *            and the words, then replaces CLAIMED by THERE.
 *   look-up  reads state, words, key, state. If both states have the same generation and THERE, that generation held
 *            throughout, so the key and the words belong to it.
 *   change   (take, count) exchanges the state that the look-up read. If that succeeds, no other entry has used the
 *            slot since: a new entry would have a new generation. Only one of two takers finds THERE.
 *
 * Exchanging the key would not be enough: if the slot is taken and reused for the same key between the look-up and the
 * exchange, it looks unchanged (this happens with cuCtxDestroy: another context may get the same addresses before we
 * have removed the old ones). Exchanging a plain count would not be enough either: the slot's next entry may have the
 * same count.
 *
 * The loads of a look-up acquire, and the stores of an insert release: a thread that sees a word of a new entry also
 * sees that the previous one is gone. A look-up pairs with fill() and with end_entry(); model: TABLE_CLAIM,
 * TABLE_WORDS, TABLE_STATE, TABLE_SEE, TABLE_AGAIN, TABLE_TAKE.
 *
 * A generation has 30 bits. A change goes wrong only if a thread stalls between its look-up and its exchange while the
 * slot is reused a multiple of 2^30 times.
 *
 * A returning key, such as a reused address, finds its slot by the key left there: a put need not search further for an
 * entry, because only one thread at a time puts a key, and it takes the first slot that has the key.
 */
#include "table.h"
#include "atomic.h"
#include "preload.h"
#include "sys.h"

#include <assert.h>
#include <sys/mman.h>

#define FIRST_SLOTS VT_TABLE_FIRST_SLOTS
#define PROBES      64u

enum { EMPTY = 0, FIRST_KEY = 3 };

static_assert(sizeof(struct vt_slot) == 32, "two to a cache line");

#define ALWAYS_INLINE static inline __attribute__((always_inline))

#define VALUE           0xffffffffull
#define THERE           (1ull << 32)
#define CLAIMED         (1ull << 33)
#define NEXT_GENERATION (1ull << 34)
#define UPPER_HALF(x)   ((x) >> 32) /* generation, CLAIMED and THERE */

/* After a part's slots: a bit for each page of slots, set once the page is written. Most pages never are. A walk skips
 * them, so that the kernel need not map them. */
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

static struct vt_slot *part_get(const struct vt_table *table, unsigned part) {
    return vt_see(&table->parts[part]);
}

__attribute__((noinline)) static struct vt_slot *part_make(struct vt_table *table, unsigned part) {
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

__attribute__((noinline)) static void mark_page(struct vt_slot *p, unsigned part, uint64_t slot) {
    uint64_t page = slot / PAGE_SLOTS, *bits = part_bits(p, part) + page / 64,
             bit = 1ull << page % 64;
    if (!(vt_get(bits) & bit))
        vt_or(bits, bit);
}

/* Whether the slot has never had an entry. */
static inline bool is_empty(const struct vt_slot *s, uint64_t key) {
    return key == EMPTY && vt_see(&s->state) == 0;
}

static inline bool is_free(uint64_t state) {
    return !(state & (THERE | CLAIMED));
}

/* Puts an entry into a slot of `p`. False: the slot is taken. */
ALWAYS_INLINE bool fill(struct vt_slot *p, unsigned part, struct vt_slot *s, uint64_t key,
                        const uint64_t words[VT_TABLE_WORDS]) {
    uint64_t was = vt_see(&s->state), now = (was & ~VALUE) + NEXT_GENERATION;
    if (!is_free(was) || !vt_claim(&s->state, was, now | CLAIMED))
        return false;
    if (VT_UNLIKELY(vt_get(&s->key) == EMPTY))
        mark_page(p, part, (uint64_t)(s - p));
    /* A thread that reads one of these words must then also see that the previous entry is gone. */
    vt_publish(&s->key, key);
    vt_publish(&s->word[0], words[0]);
    vt_publish(&s->word[1], words[1]);
    vt_publish(&s->state, now | THERE | (words[2] & VALUE));
    return true;
}

/* The slot where a key's search begins, and where most entries are; NULL: no slots yet. */
ALWAYS_INLINE struct vt_slot *home_of(const struct vt_table *table, uint64_t key) {
    struct vt_slot *p = part_get(table, 0);
    return VT_LIKELY(p != NULL) && VT_LIKELY(key >= FIRST_KEY)
               ? &p[vt_table_hash(key) & (FIRST_SLOTS - 1)]
               : NULL;
}

__attribute__((noinline)) static bool insert(struct vt_table *table, uint64_t key,
                                             const uint64_t words[VT_TABLE_WORDS]) {
    if (key < FIRST_KEY)
        return false;
    uint64_t hash = vt_table_hash(key);
    for (unsigned part = 0; part < VT_TABLE_PARTS; part++) {
        struct vt_slot *p = part_get(table, part);
        if (VT_UNLIKELY(!p) && !(p = part_make(table, part)))
            return false;
        uint64_t mask = part_slots(part) - 1;
        for (unsigned i = 0; i < PROBES; i++)
            if (fill(p, part, &p[(hash + i) & mask], key, words))
                return true;
    }
    return false;
}

VT_HOT bool vt_table_insert(struct vt_table *table, uint64_t key,
                            const uint64_t words[VT_TABLE_WORDS]) {
    struct vt_slot *home = home_of(table, key);
    return (VT_LIKELY(home != NULL) && VT_LIKELY(fill(part_get(table, 0), 0, home, key, words))) ||
           insert(table, key, words);
}

/* Called for each slot that has the key; true ends the search. */
typedef bool (*wanted)(struct vt_slot *slot, uint64_t key, uint64_t words[VT_TABLE_WORDS]);

ALWAYS_INLINE bool search(const struct vt_table *table, uint64_t key, wanted want,
                          uint64_t words[VT_TABLE_WORDS]) {
    if (key < FIRST_KEY)
        return false;
    uint64_t hash = vt_table_hash(key);
    for (unsigned part = 0; part < VT_TABLE_PARTS; part++) {
        struct vt_slot *p = part_get(table, part);
        if (!p)
            return false;
        uint64_t mask = part_slots(part) - 1;
        for (unsigned i = 0; i < PROBES; i++) {
            struct vt_slot *s = &p[(hash + i) & mask];
            uint64_t has = vt_see(&s->key);
            if (is_empty(s, has))
                break;
            if (has == key && want(s, key, words))
                return true;
        }
    }
    return false;
}

/* Reads a slot's words and state. False: the entry is not there. */
ALWAYS_INLINE bool read_entry(const struct vt_slot *s, uint64_t key, uint64_t words[VT_TABLE_WORDS],
                              uint64_t *state) {
    *state = vt_see(&s->state);
    words[0] = vt_see(&s->word[0]);
    words[1] = vt_see(&s->word[1]);
    words[2] = *state & VALUE;
    return *state & THERE && vt_see(&s->key) == key &&
           UPPER_HALF(vt_see(&s->state)) == UPPER_HALF(*state);
}

/* Ends the entry with this state. False: another thread changed it first. */
static bool end_entry(struct vt_slot *s, uint64_t state) {
    return vt_claim(&s->state, state, state & ~(VALUE | THERE));
}

static bool find_slot(struct vt_slot *s, uint64_t key, uint64_t words[VT_TABLE_WORDS]) {
    uint64_t state;
    return read_entry(s, key, words, &state);
}

ALWAYS_INLINE bool take_slot(struct vt_slot *s, uint64_t key, uint64_t words[VT_TABLE_WORDS]) {
    uint64_t state;
    while (read_entry(s, key, words, &state))
        if (end_entry(s, state))
            return true;
    return false;
}

static bool remove_own_slot(struct vt_slot *s, uint64_t key, uint64_t words[VT_TABLE_WORDS]) {
    uint64_t state, has[VT_TABLE_WORDS];
    while (read_entry(s, key, has, &state) && has[0] == words[0])
        if (end_entry(s, state))
            return true;
    return false;
}

VT_HOT bool vt_table_find(const struct vt_table *table, uint64_t key,
                          uint64_t words[VT_TABLE_WORDS]) {
    return search(table, key, find_slot, words);
}

__attribute__((noinline)) static bool take(const struct vt_table *table, uint64_t key,
                                           uint64_t words[VT_TABLE_WORDS]) {
    return search(table, key, take_slot, words);
}

VT_HOT bool vt_table_take(struct vt_table *table, uint64_t key, uint64_t words[VT_TABLE_WORDS]) {
    struct vt_slot *home = home_of(table, key);
    return (VT_LIKELY(home != NULL) && VT_LIKELY(vt_see(&home->key) == key) &&
            take_slot(home, key, words)) ||
           take(table, key, words);
}

bool vt_table_take_own(struct vt_table *table, uint64_t key, uint64_t first_word) {
    uint64_t words[VT_TABLE_WORDS] = {first_word};
    return search(table, key, remove_own_slot, words);
}

bool vt_table_replace(struct vt_table *table, uint64_t key, const uint64_t words[VT_TABLE_WORDS]) {
    uint64_t was[VT_TABLE_WORDS];
    vt_table_take(table, key, was);
    return vt_table_insert(table, key, words);
}

/* Uses the slot of the key's last entry, else a free one: preferably an empty one, so that other keys keep theirs. */
__attribute__((noinline)) static enum vt_table_put put(struct vt_table *table, uint64_t key,
                                                       const uint64_t words[VT_TABLE_WORDS],
                                                       uint64_t was[VT_TABLE_WORDS]) {
    struct vt_slot *p, *spare = NULL;
    unsigned part, spare_part = 0;
    enum vt_table_put done = VT_TABLE_NEW;
    uint64_t hash = vt_table_hash(key);
    for (part = 0; key >= FIRST_KEY && part < VT_TABLE_PARTS; part++) {
        if (!(p = part_get(table, part)))
            break;
        uint64_t mask = part_slots(part) - 1;
        for (unsigned i = 0; i < PROBES; i++) {
            struct vt_slot *s = &p[(hash + i) & mask];
            uint64_t has = vt_see(&s->key);
            if (has == key) {
                if (take_slot(s, key, was))
                    done = VT_TABLE_REPLACED;
                if (VT_LIKELY(fill(p, part, s, key, words)))
                    return done;
            }
            bool empty = is_empty(s, has);
            if (empty ? !spare || spare_part == part : !spare && is_free(vt_get(&s->state))) {
                spare = s;
                spare_part = part;
            }
            if (empty)
                break;
        }
    }
    if (spare && fill(part_get(table, spare_part), spare_part, spare, key, words))
        return done;
    return vt_table_insert(table, key, words) ? done : VT_TABLE_FULL;
}

VT_HOT enum vt_table_put vt_table_put(struct vt_table *table, uint64_t key,
                                      const uint64_t words[VT_TABLE_WORDS],
                                      uint64_t was[VT_TABLE_WORDS]) {
    struct vt_slot *home = home_of(table, key);
    return VT_LIKELY(home != NULL) && VT_LIKELY(vt_see(&home->key) == key) &&
                   VT_LIKELY(fill(part_get(table, 0), 0, home, key, words))
               ? VT_TABLE_NEW
               : put(table, key, words, was);
}

static bool count_up(struct vt_slot *s, uint64_t key, uint64_t words[VT_TABLE_WORDS]) {
    uint64_t state;
    while (read_entry(s, key, words, &state))
        if (vt_claim(&s->state, state, state + 1)) {
            words[2]++;
            return true;
        }
    return false;
}

/* The thread that takes the count to 0 removes the entry in the same exchange. */
static bool count_down(struct vt_slot *s, uint64_t key, uint64_t words[VT_TABLE_WORDS]) {
    uint64_t state;
    while (read_entry(s, key, words, &state))
        if (words[2] > 1 ? vt_claim(&s->state, state, state - 1) : end_entry(s, state)) {
            words[2]--;
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

struct walk {
    bool (*visit)(uint64_t key, const uint64_t words[VT_TABLE_WORDS], void *data);
    void (*taken)(uint64_t key, const uint64_t words[VT_TABLE_WORDS], void *data);
    void *data;
};

static void page_each(struct vt_slot *p, const struct walk *walk) {
    for (unsigned i = 0; i < PAGE_SLOTS; i++) {
        uint64_t key = vt_see(&p[i].key), words[VT_TABLE_WORDS], state;
        if (key >= FIRST_KEY && read_entry(&p[i], key, words, &state) &&
            walk->visit(key, words, walk->data) && end_entry(&p[i], state) && walk->taken)
            walk->taken(key, words, walk->data);
    }
}

void vt_table_each(struct vt_table *table,
                   bool (*visit)(uint64_t key, const uint64_t words[VT_TABLE_WORDS], void *data),
                   void (*taken)(uint64_t key, const uint64_t words[VT_TABLE_WORDS], void *data),
                   void *data) {
    const struct walk walk = {visit, taken, data};
    for (unsigned part = 0; part < VT_TABLE_PARTS; part++) {
        struct vt_slot *p = part_get(table, part);
        if (!p)
            return;
        const uint64_t *bits = part_bits(p, part);
        for (uint64_t w = 0; w < part_words(part); w++)
            for (uint64_t left = vt_see(&bits[w]); left; left &= left - 1)
                page_each(p + (w * 64 + (unsigned)__builtin_ctzll(left)) * PAGE_SLOTS, &walk);
    }
}

void vt_table_forget(struct vt_table *table) {
    for (unsigned part = 0; part < VT_TABLE_PARTS; part++)
        vt_put(&table->parts[part], NULL);
}
