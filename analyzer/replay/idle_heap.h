/* SPDX-License-Identifier: MIT */
/*
 * Idle pieces with the largest first. For segments.c, which keeps one heap for each device, and one
 * for each pool of its allocator.
 */
#ifndef VRAMTRACE_ANALYZER_IDLE_HEAP_H
#define VRAMTRACE_ANALYZER_IDLE_HEAP_H

#include "pieces.h"

/* Which of a piece's places (see pieces.h) a heap keeps: its device's heap, or its pool's. */
enum vt_heap_of { VT_HEAP_DEVICE, VT_HEAP_POOL };

/* Zero-initialized: empty. Free `row` with free(). */
struct vt_idle_heap {
    struct vt_idle_row {
        uint64_t size; /* bytes */
        uint32_t piece;
    } * row;
    uint32_t count, room;
};

/* Adds a piece, or takes it out, which is in the heap. Its size must not change in between. */
void vt_idle_heap_add(struct vt_idle_heap *h, struct vt_pieces *pieces, enum vt_heap_of of,
                      uint32_t piece);
void vt_idle_heap_remove(struct vt_idle_heap *h, struct vt_pieces *pieces, enum vt_heap_of of,
                         uint32_t piece);

/* The size of the largest piece, in bytes; 0: empty. */
static inline uint64_t vt_idle_heap_largest(const struct vt_idle_heap *h) {
    return h->count ? h->row[0].size : 0;
}

#endif
