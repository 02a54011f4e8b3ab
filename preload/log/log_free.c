/* SPDX-License-Identifier: MIT */
/*
 * Takes recycled chunks, which the compactor has given back (include/vramtrace/log_chunk.h). We prefer them to
 * extending the file; once the file has reached its limit, threads record events only in them.
 *
 * Called by log_chunks.c, only by threads of the process that the log describes.
 */
#define _GNU_SOURCE
#include "log_file.h"
#include "base/base.h"

#define LOOKS_EACH_SECOND 64u /* at the bound */

static bool enough;      /* atomic: there were enough at the last check */
static uint64_t look_at; /* atomic: ticks of the next check, if not `enough` */

/* Number of words in header.free_chunks. */
static unsigned count(const struct vt_log_header *h) {
    unsigned filled = 0;
    for (unsigned i = 0; i < VT_FREE_CHUNKS; i++)
        filled += vt_get(&h->free_chunks[i]) != 0;
    return filled;
}

/* The last few chunks are reserved for entries: names and stacks of later allocations. */
static void note(unsigned left) {
    bool are = left > vt_log_bound.kept_free;
    if (vt_get(&enough) != are)
        vt_put(&enough, are);
}

/* model: TAKE_CLAIM. The word is out of date if a compactor died or another thread was faster. */
static struct vt_chunk_header *claim(struct vt_chunk_header *c, uint64_t word) {
    uint64_t generation = vt_free_chunk_generation(word);
    if (vt_see(&c->magic) == VT_CHUNK_MAGIC && c->number == vt_free_chunk_number(word) &&
        vt_get(&c->finished) == generation + 1 &&
        vt_claim(&c->generation, generation, generation + 1)) {
        /* A reader that sees a record's first word sees the generation (give_back.c); model: TAKE_RECYCLED. */
        vt_fence();
        return c;
    }
    vt_sys_munmap(c, VT_CHUNK_BYTES);
    return NULL;
}

struct vt_chunk_header *vt_log_free_take(void) {
    struct vt_log_header *h = vt_log_header;
    struct vt_chunk_header *taken = NULL;
    if (!vt_get(&h->summary) || vt_log_buffered)
        return NULL;
    for (unsigned i = 0; !taken && i < VT_FREE_CHUNKS; i++) {
        uint64_t word = vt_see(&h->free_chunks[i]) /* pairs with fill_places; model: TAKE_SEE */,
                 number = vt_free_chunk_number(word);
        if (!word)
            continue;
        if (number && number < vt_get(&h->placed)) {
            struct vt_chunk_header *c = vt_log_map(number);
            if (!c)
                return NULL; /* the word stays for a later attempt */
            taken = claim(c, word);
        }
        vt_claim(&h->free_chunks[i], word, 0);
    }
    note(count(h));
    return taken;
}

bool vt_log_free_is_there(uint64_t now) {
    const struct vt_log_header *h = vt_log_header;
    if (!vt_get(&h->summary))
        return false;
    if (!vt_get(&enough) && now >= vt_get(&look_at)) {
        vt_put(&look_at, now + vt_get(&vt_log_second_ticks) / LOOKS_EACH_SECOND);
        note(count(h));
    }
    return vt_get(&enough);
}

void vt_log_free_forked(void) {
    vt_put(&enough, false);
    vt_put(&look_at, 0);
}
