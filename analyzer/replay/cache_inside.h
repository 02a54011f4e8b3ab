/* SPDX-License-Identifier: MIT */
/*
 * Inside the model of PyTorch's allocator (see cache_model.h): its blocks, for cache_blocks.c and
 * cache_model.c.
 *
 * Blocks are numbered; those of a segment, or of a range of addresses, are chained. What is not in
 * use is in a tree, which is balanced by random priorities: free blocks by pool, size and address,
 * and after them addresses that are not mapped.
 */
#ifndef VRAMTRACE_ANALYZER_CACHE_INSIDE_H
#define VRAMTRACE_ANALYZER_CACHE_INSIDE_H

#include "cache_model.h"

struct vt_cache_block {
    uint64_t address, size;
    uint64_t idle_since;  /* by vt_cache_model.searches: when it came into the tree */
    uint32_t prev, next;  /* in the same segment or range; 0: none */
    uint32_t left, right; /* in the tree, or `left` in the list of unused blocks */
    uint32_t priority;
    uint32_t pool; /* see vt_cache_pool */
    bool used, mapped;
};

struct vt_cache_model {
    struct vt_cache_settings settings;
    struct vt_cache_figures figures;
    uint64_t usable, outside;
    uint64_t allowed; /* to be reserved, by the fraction */
    uint64_t range_bytes;
    uint64_t end;      /* of the addresses so far */
    uint64_t searches; /* of the large pool that belongs to nobody */
    struct vt_cache_block *blocks;
    uint32_t count, room, unused, root, random;
    uint32_t *loose; /* pools of graphs and MemPools that are gone */
    uint32_t loose_count, loose_room;
};

/* A pool's number: whose it is, its stream, and whether it is for small blocks. */
static inline uint32_t vt_cache_pool(struct vt_cache_request request, bool small) {
    return request.private << 9 | (uint32_t)request.stream << 1 | small;
}

static inline bool vt_cache_is_small(uint32_t pool) {
    return pool & 1;
}

static inline uint32_t vt_cache_private(uint32_t pool) {
    return pool >> 9;
}

uint32_t vt_cache_block_new(struct vt_cache_model *m, struct vt_cache_block block);
/* Takes a block out of its chain. */
void vt_cache_block_drop(struct vt_cache_model *m, uint32_t i);
/* Leaves a block with its first bytes. Returns the rest, which is free. */
uint32_t vt_cache_block_cut(struct vt_cache_model *m, uint32_t i, uint64_t bytes);
/* Joins `next`, which follows `i`, to it, if both are free and mapped, or neither is. Neither is in
 * the tree. */
bool vt_cache_block_join(struct vt_cache_model *m, uint32_t i, uint32_t next);

/* The tree. */
void vt_cache_tree_insert(struct vt_cache_model *m, uint32_t i);
void vt_cache_tree_erase(struct vt_cache_model *m, uint32_t i);
/* The first free block that does not come before `key`; or, with `last`, the last that does. */
uint32_t vt_cache_tree_find(const struct vt_cache_model *m, const struct vt_cache_block *key,
                            bool last);
uint32_t vt_cache_tree_after(const struct vt_cache_model *m, uint32_t i);
/* All free blocks that are mapped, in order, `*count` of them. Free with free(). */
uint32_t *vt_cache_tree_mapped(const struct vt_cache_model *m, uint32_t *count);

#endif
