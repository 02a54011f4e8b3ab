/* SPDX-License-Identifier: MIT */
/*
 * A binary heap of idle pieces (see idle_heap.h). Each piece knows its place in it, so that it is
 * taken out without a search.
 */
#include "idle_heap.h"

struct heap {
    struct vt_idle_heap *h;
    struct vt_pieces *pieces;
    enum vt_heap_of of;
};

static void put(struct heap heap, uint32_t at, struct vt_idle_row row) {
    heap.h->row[at] = row;
    heap.pieces->row[row.piece].place[heap.of] = at;
}

/* Puts `row` at `at` or above. */
static void sift_up(struct heap heap, uint32_t at, struct vt_idle_row row) {
    for (; at > 0 && heap.h->row[(at - 1) / 2].size < row.size; at = (at - 1) / 2)
        put(heap, at, heap.h->row[(at - 1) / 2]);
    put(heap, at, row);
}

/* Puts `row` at `at` or below. */
static void sift_down(struct heap heap, uint32_t at, struct vt_idle_row row) {
    const struct vt_idle_row *rows = heap.h->row;
    for (uint32_t child; (child = 2 * at + 1) < heap.h->count; at = child) {
        if (child + 1 < heap.h->count && rows[child + 1].size > rows[child].size)
            child++;
        if (rows[child].size <= row.size)
            break;
        put(heap, at, rows[child]);
    }
    put(heap, at, row);
}

void vt_idle_heap_add(struct vt_idle_heap *h, struct vt_pieces *pieces, enum vt_heap_of of,
                      uint32_t piece) {
    const struct vt_segment_piece *p = &pieces->row[piece];
    VT_GROW(h->row, h->count, h->room);
    sift_up((struct heap){h, pieces, of}, h->count++,
            (struct vt_idle_row){p->end - p->start, piece});
}

void vt_idle_heap_remove(struct vt_idle_heap *h, struct vt_pieces *pieces, enum vt_heap_of of,
                         uint32_t piece) {
    struct heap heap = {h, pieces, of};
    uint32_t at = pieces->row[piece].place[of];
    struct vt_idle_row last = h->row[--h->count];
    if (at == h->count)
        return;
    if (at > 0 && h->row[(at - 1) / 2].size < last.size)
        sift_up(heap, at, last);
    else
        sift_down(heap, at, last);
}
