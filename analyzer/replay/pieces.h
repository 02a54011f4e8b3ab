/* SPDX-License-Identifier: MIT */
/*
 * The pieces of segments: blocks and idle memory, by address; and a heap of idle pieces, largest first. For
 * segments.c.
 */
#ifndef VRAMTRACE_ANALYZER_PIECES_H
#define VRAMTRACE_ANALYZER_PIECES_H

#include "base/base.h"

/* A block, or an idle piece. Its start never changes. */
struct vt_segment_piece {
    uint64_t start, end;
    uint32_t prev, next; /* by address, touching or not; 0: none */
    uint32_t tower;
    uint32_t place; /* an idle piece's index in its heap */
    uint8_t device;
    bool block;
    bool wall_before, wall_after; /* its edge is the end of an unmapped segment */
};

struct vt_pieces {
    struct vt_segment_piece *row; /* by number; 0 is the list's head, and means "none" */
    uint32_t count, room;
    uint32_t *unused; /* unused numbers in `row` */
    uint32_t unused_count, unused_room;
    struct vt_map by_start;
    struct vt_pieces_tower *tower;
    uint32_t tower_count, tower_room;
    uint32_t *unused_tower;
    uint32_t unused_tower_count, unused_tower_room;
    uint64_t random;
};

void vt_pieces_open(struct vt_pieces *p);
void vt_pieces_close(struct vt_pieces *p);

/* The piece that begins at `start`; the last piece that begins at or before `address`. 0: none. */
uint32_t vt_pieces_at(const struct vt_pieces *p, uint64_t start);
uint32_t vt_pieces_floor(const struct vt_pieces *p, uint64_t address);

/* Adds a piece after `before`, the last piece that begins before it, or 0. May move `row`. */
uint32_t vt_pieces_insert(struct vt_pieces *p, uint32_t before, struct vt_segment_piece piece);
void vt_pieces_remove(struct vt_pieces *p, uint32_t i);

/* --- a heap for each device --- */

/* Zero-initialized: empty. Free `row` with free(). */
struct vt_idle_heap {
    struct vt_idle_row {
        uint64_t size; /* bytes */
        uint32_t piece;
    } * row;
    uint32_t count, room;
};

/* Add a piece, or remove a piece that is in the heap. Its size must not change in between. */
void vt_idle_heap_add(struct vt_idle_heap *h, struct vt_pieces *pieces, uint32_t piece);
void vt_idle_heap_remove(struct vt_idle_heap *h, struct vt_pieces *pieces, uint32_t piece);

/* The size of the largest piece, in bytes; 0: empty. */
static inline uint64_t vt_idle_heap_largest(const struct vt_idle_heap *h) {
    return h->count ? h->row[0].size : 0;
}

#endif
