/* SPDX-License-Identifier: MIT */
/*
 * Items of one size, named by number from 1, taken and given back without locks and without malloc.
 * Memory is never unmapped, so an item may be read while another thread gives it back. For graph.c.
 */
#ifndef VT_PRELOAD_ARENA_H
#define VT_PRELOAD_ARENA_H

#include <stdint.h>

#define VT_ARENA_BLOCKS 1024u
#define VT_ARENA_ITEMS  4096u /* in a block */

/* The first member of an item; the owner's to use while it has the item. */
struct vt_item {
    uint32_t next; /* atomic */
    uint32_t zero;
};

struct vt_arena {
    uint32_t bytes;                         /* of an item */
    uint32_t used;                          /* atomic: numbers ever taken */
    uint64_t free;                          /* atomic: changes << 32 | first free item, 0: none */
    unsigned char *blocks[VT_ARENA_BLOCKS]; /* atomic */
};

uint32_t vt_arena_take(struct vt_arena *arena); /* 0: no memory */
void vt_arena_give(struct vt_arena *arena, uint32_t number);
void *vt_arena_get(const struct vt_arena *arena, uint32_t number); /* NULL for 0 */
void vt_arena_forget(struct vt_arena *arena);

#endif
