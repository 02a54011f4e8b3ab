/* SPDX-License-Identifier: MIT */
/*
 * Blocks and idle pieces by address (see pieces.h): a skip list, and a map of the starts.
 *
 * An allocator mostly places a block at the start of an idle piece, and a freed block is joined to its neighbours. The
 * map and the list's links do both in constant time. Only one piece in eight has a tower of further links, so most
 * pieces are added and removed without a search. The piece that contains an address is found in logarithmic time.
 */
#include "pieces.h"

#include <stdlib.h>

enum { LEVELS = 10 };

struct vt_pieces_tower {
    uint32_t next[LEVELS]; /* pieces; 0: none */
    uint32_t height;
};

void vt_pieces_open(struct vt_pieces *p) {
    *p = (struct vt_pieces){.random = 88172645463325252ull, .count = 1, .tower_count = 1};
    p->row = vt_alloc(p->room = 64, sizeof *p->row);
    p->tower = vt_alloc(p->tower_room = 64, sizeof *p->tower);
    p->tower[0].height = LEVELS;
}

void vt_pieces_close(struct vt_pieces *p) {
    free(p->row);
    free(p->unused);
    free(p->tower);
    free(p->unused_tower);
    vt_map_free(&p->by_start);
}

uint32_t vt_pieces_at(const struct vt_pieces *p, uint64_t start) {
    uint32_t i = vt_map_get(&p->by_start, start);
    return i == VT_MAP_NONE ? 0 : i;
}

/* The last piece with a tower that begins before `address`; fills `path` with each level's last such piece. */
static uint32_t descend(const struct vt_pieces *p, uint64_t address, uint32_t path[LEVELS]) {
    uint32_t at = 0, next;
    for (unsigned level = LEVELS; level-- > 0;) {
        while ((next = p->tower[p->row[at].tower].next[level]) && p->row[next].start < address)
            at = next;
        if (path)
            path[level] = at;
    }
    return at;
}

uint32_t vt_pieces_floor(const struct vt_pieces *p, uint64_t address) {
    uint32_t at = descend(p, address, NULL), next;
    while ((next = p->row[at].next) && p->row[next].start <= address)
        at = next;
    return at;
}

/* Gives one piece in eight a link on the first level, one in eight of these also a link on the second, and so on. */
static void build_tower(struct vt_pieces *p, uint32_t i) {
    uint32_t path[LEVELS], height = 0, tower;
    p->random ^= p->random << 13;
    p->random ^= p->random >> 7;
    p->random ^= p->random << 17;
    for (uint64_t bits = p->random; height < LEVELS && !(bits & 7); bits >>= 3)
        height++;
    if (!height)
        return;
    descend(p, p->row[i].start, path);
    if (p->unused_tower_count) {
        tower = p->unused_tower[--p->unused_tower_count];
    } else {
        VT_GROW(p->tower, p->tower_count, p->tower_room);
        tower = p->tower_count++;
    }
    p->row[i].tower = tower;
    p->tower[tower].height = height;
    for (uint32_t level = 0; level < height; level++) {
        uint32_t *link = &p->tower[p->row[path[level]].tower].next[level];
        p->tower[tower].next[level] = *link;
        *link = i;
    }
    for (uint32_t level = height; level < LEVELS; level++)
        p->tower[tower].next[level] = 0;
}

uint32_t vt_pieces_insert(struct vt_pieces *p, uint32_t before, struct vt_segment_piece piece) {
    uint32_t i;
    if (p->unused_count) {
        i = p->unused[--p->unused_count];
    } else {
        VT_GROW(p->row, p->count, p->room);
        i = p->count++;
    }
    piece.prev = before;
    piece.next = p->row[before].next;
    piece.tower = 0;
    p->row[i] = piece;
    p->row[before].next = i;
    if (piece.next)
        p->row[piece.next].prev = i;
    vt_map_put(&p->by_start, piece.start, i);
    build_tower(p, i);
    return i;
}

void vt_pieces_remove(struct vt_pieces *p, uint32_t i) {
    struct vt_segment_piece piece = p->row[i];
    uint32_t path[LEVELS];
    if (piece.tower) {
        const struct vt_pieces_tower *tower = &p->tower[piece.tower];
        descend(p, piece.start, path);
        for (uint32_t level = 0; level < tower->height; level++)
            p->tower[p->row[path[level]].tower].next[level] = tower->next[level];
        *VT_ADD(p->unused_tower, p->unused_tower_count, p->unused_tower_room) = piece.tower;
    }
    p->row[piece.prev].next = piece.next;
    if (piece.next)
        p->row[piece.next].prev = piece.prev;
    vt_map_remove(&p->by_start, piece.start);
    *VT_ADD(p->unused, p->unused_count, p->unused_room) = i;
}

/* --- a heap: each piece knows its index in it, so removal needs no search --- */

struct heap {
    struct vt_idle_heap *h;
    struct vt_pieces *pieces;
};

static void put(struct heap heap, uint32_t at, struct vt_idle_row row) {
    heap.h->row[at] = row;
    heap.pieces->row[row.piece].place = at;
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

void vt_idle_heap_add(struct vt_idle_heap *h, struct vt_pieces *pieces, uint32_t piece) {
    const struct vt_segment_piece *p = &pieces->row[piece];
    VT_GROW(h->row, h->count, h->room);
    sift_up((struct heap){h, pieces}, h->count++, (struct vt_idle_row){p->end - p->start, piece});
}

void vt_idle_heap_remove(struct vt_idle_heap *h, struct vt_pieces *pieces, uint32_t piece) {
    struct heap heap = {h, pieces};
    uint32_t at = pieces->row[piece].place;
    struct vt_idle_row last = h->row[--h->count];
    if (at == h->count)
        return;
    if (at > 0 && h->row[(at - 1) / 2].size < last.size)
        sift_up(heap, at, last);
    else
        sift_down(heap, at, last);
}
