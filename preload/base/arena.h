/* SPDX-License-Identifier: MIT */
/*
 * Fixed-size items, identified by a number from 1, allocated and freed without locks or malloc.
 * Blocks are never unmapped, so a thread may read an item while another frees it. Used by graph.c.
 */
#ifndef VT_PRELOAD_ARENA_H
#define VT_PRELOAD_ARENA_H

#include <stdint.h>

#define VT_ARENA_BLOCKS 1024u
#define VT_ARENA_ITEMS  4096u /* per block */

/* The first member of every item. Its owner may use the fields while the item is allocated. */
struct vt_item {
    uint32_t next; /* atomic */
    uint32_t zero;
};

struct vt_arena {
    uint32_t bytes;                         /* size of an item */
    uint32_t used;                          /* atomic: highest number ever allocated */
    uint64_t free;                          /* atomic: changes << 32 | first free item (0: none) */
    unsigned char *blocks[VT_ARENA_BLOCKS]; /* atomic */
};

uint32_t vt_arena_take(struct vt_arena *arena); /* 0: no memory */
void vt_arena_give(struct vt_arena *arena, uint32_t number);
void *vt_arena_get(const struct vt_arena *arena, uint32_t number); /* NULL for 0 */
void vt_arena_forget(struct vt_arena *arena);

#endif
