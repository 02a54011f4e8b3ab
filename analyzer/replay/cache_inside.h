/* SPDX-License-Identifier: MIT */
/*
 * Internals of the model of PyTorch's allocator (see cache_model.h): its blocks, for cache_blocks.c and
 * cache_model.c.
 *
 * Blocks are numbered; those of a segment, or of a range of addresses, are chained. Idle blocks are kept
 * by pool, in trees balanced by random priorities: one for each range of sizes, by size and address, and
 * one for unmapped addresses.
 */
#ifndef VRAMTRACE_ANALYZER_CACHE_INSIDE_H
#define VRAMTRACE_ANALYZER_CACHE_INSIDE_H

#include "cache_model.h"

struct vt_cache_block {
    uint64_t address, size;
    uint64_t idle_since;  /* vt_cache_model.searches when the block became idle */
    uint32_t prev, next;  /* in the same segment or range; 0: none */
    uint32_t left, right; /* in a tree; `left` also in the list of unused blocks */
    uint32_t priority;
    uint32_t pool; /* see vt_cache_pool */
    bool used, mapped;
};

enum { VT_CACHE_BINS = 2048, VT_CACHE_NEAR = 64 };

struct vt_cache_idle {
    uint64_t used[VT_CACHE_BINS / 64]; /* a bit for each bin that has blocks */
    uint32_t bins[VT_CACHE_BINS];      /* roots of their trees */
    uint32_t unmapped;
};

struct vt_cache_model {
    struct vt_cache_settings settings;
    struct vt_cache_figures figures;
    uint64_t usable, outside;
    uint64_t allowed; /* the most bytes that the fraction allows */
    uint64_t range_bytes;
    uint64_t end;      /* end of the addresses used so far */
    uint64_t searches; /* number of searches in the large pool outside private pools */
    struct vt_cache_block *blocks;
    uint32_t count, room, unused, random;
    struct vt_cache_idle *idle; /* one for each pool that had an idle block */
    uint32_t idle_count, idle_room;
    struct vt_map by_pool;        /* a pool -> its index in `idle` */
    uint32_t near[VT_CACHE_NEAR]; /* 1 + that index, for the first pools; 0: none */
    uint32_t *loose;              /* pools of destroyed graphs and MemPools */
    uint32_t loose_count, loose_room;
};

/* A pool's number: its private pool, its stream, and whether it is for small blocks. */
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
/* Cuts a block to its first `bytes`. Returns the rest, which is free. */
uint32_t vt_cache_block_cut(struct vt_cache_model *m, uint32_t i, uint64_t bytes);
/* Joins `next` to `i`, which precedes it, if both are free and both or neither are mapped. Neither may
 * be in the idle trees. */
bool vt_cache_block_join(struct vt_cache_model *m, uint32_t i, uint32_t next);

/* Idle blocks; they must be removed before they change. */
void vt_cache_idle_add(struct vt_cache_model *m, uint32_t i);
void vt_cache_idle_remove(struct vt_cache_model *m, uint32_t i);
/* The first idle block at or after the key, with the key's pool and `mapped`; or, with `last`, the last one before
 * the key. 0: none. */
uint32_t vt_cache_idle_find(const struct vt_cache_model *m, const struct vt_cache_block *key,
                            bool last);
uint32_t vt_cache_idle_after(const struct vt_cache_model *m, uint32_t i);
/* All mapped idle blocks, `*count` of them. Free with free(). */
uint32_t *vt_cache_idle_mapped(const struct vt_cache_model *m, uint32_t *count);

#endif
