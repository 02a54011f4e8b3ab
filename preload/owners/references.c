/* SPDX-License-Identifier: MIT */
/*
 * Writes, for each word on the path from a C or C++ variable to an allocation, the bytes around it and its target's
 * distance to the next word. The analyzer, which knows the variable's type, finds flags among these bytes that show
 * whether the pointer is still valid.
 *
 * A path through the heap is a chain of references, each written once. Called by paths.c.
 */
#include "owners.h"

#define PAGE        4096u
#define CHAIN_MOST  32u
#define AROUND_MOST 20000u /* records in a snapshot: max */

/* Bytes around a word. Words between the path's first and last get fewer. */
struct window {
    uint32_t before, behind;
};
#define BYTES_MOST 256u
static const struct window wide = {64, 192}, narrow = {16, 48};

/* Reads the bytes around a word, or only those on its page. Returns their number; *before: those before the word. */
static uint32_t read_around(struct vt_owners *w, uintptr_t word, struct window window,
                            uint8_t to[BYTES_MOST], uint32_t *before) {
    uintptr_t start = word - window.before, end = word + window.behind, page = word & ~(PAGE - 1ul);
    if (!vt_owners_read(w, to, start, end - start)) {
        start = start < page ? page : start;
        end = end > page + PAGE ? page + PAGE : end;
        if (!vt_owners_read(w, to, start, end - start))
            return 0;
    }
    *before = (uint32_t)(word - start);
    return (uint32_t)(end - start) & ~1u;
}

/* A record of `fixed` bytes and the bytes around a word; NULL: no space, or the limit is reached. */
static void *new_record(struct vt_owners *w, uint32_t type, uint32_t fixed, uintptr_t word,
                        struct window window, uint32_t *before, uint32_t *count) {
    uint8_t bytes[BYTES_MOST];
    uint32_t read = word ? read_around(w, word, window, bytes, before) : 0;
    uint32_t length = fixed + ((read / 2 + 7) & ~7u);
    if ((word && !read) || w->around_count == AROUND_MOST ||
        /* leave space for the paths, which matter more */
        w->answer->bytes + length > w->record_room / 2)
        return NULL;
    uint64_t *record = vt_owners_reserve(w, length);
    uint8_t *halves = (uint8_t *)record + fixed;
    *record = vt_word(type, 0, 0, length);
    *count = read / 2;
    for (uint32_t i = 0; i < read; i += 2)
        halves[i / 2] = (uint8_t)(vt_around_half(bytes[i]) | vt_around_half(bytes[i + 1]) << 4);
    w->answer->bytes += length;
    w->around_count++;
    return record;
}

/* Writes a reference. `from`: the word that points to `word`'s block; 0: none. Returns its number; 0: not written. */
static uint32_t write_reference(struct vt_owners *w, uintptr_t word, uintptr_t from,
                                uint32_t parent, struct window window) {
    uint32_t before = 0, count = 0;
    int64_t offset = from ? (int64_t)(word - vt_owners_word(w, from)) : 0;
    struct vt_rec_hop *r = offset == (int32_t)offset
                               ? new_record(w, VT_REC_HOP, sizeof *r, word, window, &before, &count)
                               : NULL;
    if (!r)
        return 0;
    r->number = ++w->answer->steps;
    r->parent = parent;
    r->offset = (int32_t)offset;
    r->before = before;
    r->count = count;
    return r->number;
}

/* Writes a reference, and before it those that lead to it. Returns its number; 0: not all could be written. */
static uint32_t write_references(struct vt_owners *w, uint32_t reference) {
    uint32_t chain[CHAIN_MOST], count = 0;
    for (; reference && !w->references[reference].number;
         reference = w->references[reference].parent) {
        if (count == CHAIN_MOST)
            return 0;
        chain[count++] = reference;
    }
    while (count) {
        const struct vt_reference *parent = &w->references[reference];
        struct vt_reference *h = &w->references[reference = chain[--count]];
        h->number = write_reference(w, h->at, h->parent ? parent->at : 0,
                                    h->parent ? parent->number : 0, h->parent ? narrow : wide);
        if (!h->number)
            return 0;
    }
    return w->references[reference].number;
}

void vt_owners_write_around(struct vt_owners *w, const struct vt_path_step *root, uint32_t step) {
    uint32_t before = 0, count = 0, last = 0;
    if (root->reference) {
        uint32_t number = write_references(w, root->reference);
        last = number
                   ? write_reference(w, root->last, w->references[root->reference].at, number, wide)
                   : 0;
        if (!last)
            return;
    }
    struct vt_rec_around *r =
        new_record(w, VT_REC_AROUND, sizeof *r, last ? 0 : root->word, wide, &before, &count);
    if (!r)
        return;
    r->step = step;
    r->before = before;
    r->count = count;
    r->hop = last;
}
