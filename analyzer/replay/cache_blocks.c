/* SPDX-License-Identifier: MIT */
/*
 * The blocks of the model of PyTorch's allocator, idle ones included (see cache_inside.h).
 */
#include "cache_inside.h"

#include <stdlib.h>

/* --- blocks --- */

uint32_t vt_cache_block_new(struct vt_cache_model *m, struct vt_cache_block block) {
    uint32_t i = m->unused;
    if (i) {
        m->unused = m->blocks[i].left;
    } else {
        VT_GROW(m->blocks, m->count, m->room);
        i = m->count++;
    }
    m->blocks[i] = block;
    if (block.prev)
        m->blocks[block.prev].next = i;
    if (block.next)
        m->blocks[block.next].prev = i;
    return i;
}

void vt_cache_block_drop(struct vt_cache_model *m, uint32_t i) {
    const struct vt_cache_block *b = &m->blocks[i];
    if (b->prev)
        m->blocks[b->prev].next = b->next;
    if (b->next)
        m->blocks[b->next].prev = b->prev;
    m->blocks[i].left = m->unused;
    m->unused = i;
}

uint32_t vt_cache_block_cut(struct vt_cache_model *m, uint32_t i, uint64_t bytes) {
    struct vt_cache_block rest = m->blocks[i];
    rest.address += bytes;
    rest.size -= bytes;
    rest.prev = i;
    rest.used = false;
    m->blocks[i].size = bytes;
    return vt_cache_block_new(m, rest);
}

bool vt_cache_block_join(struct vt_cache_model *m, uint32_t i, uint32_t next) {
    struct vt_cache_block *b = &m->blocks[i];
    const struct vt_cache_block *other = &m->blocks[next];
    if (!i || !next || b->used || other->used || b->mapped != other->mapped)
        return false;
    b->size += other->size;
    vt_cache_block_drop(m, next);
    return true;
}

/* --- idle blocks --- */

/* Each size up to 32 KiB has its own bin; above that, 64 bins lie between two powers of 2. */
static unsigned bin_of(uint64_t size) {
    uint64_t units = size / VT_CACHE_UNIT;
    if (units < 64)
        return (unsigned)units;
    unsigned power = 63 - (unsigned)__builtin_clzll(units);
    unsigned bin = 64 * (power - 5) + (units >> (power - 6) & 63);
    return bin < VT_CACHE_BINS ? bin : VT_CACHE_BINS - 1;
}

/* NULL: the pool has no idle block. */
static struct vt_cache_idle *idle_of(const struct vt_cache_model *m, uint32_t pool) {
    uint32_t i = pool < VT_CACHE_NEAR ? m->near[pool] - 1 : vt_map_get(&m->by_pool, pool);
    return i == VT_MAP_NONE ? NULL : &m->idle[i];
}

static int compare(const struct vt_cache_block *a, const struct vt_cache_block *b) {
    if (a->mapped && a->size != b->size)
        return a->size < b->size ? -1 : 1;
    return a->address < b->address ? -1 : a->address > b->address;
}

/* Divides a tree into the blocks before `key` and the others. */
static void divide(struct vt_cache_model *m, uint32_t tree, const struct vt_cache_block *key,
                   uint32_t *before, uint32_t *others) {
    while (tree) {
        struct vt_cache_block *b = &m->blocks[tree];
        if (compare(b, key) < 0) {
            *before = tree;
            before = &b->right;
            tree = b->right;
        } else {
            *others = tree;
            others = &b->left;
            tree = b->left;
        }
    }
    *before = *others = 0;
}

void vt_cache_idle_add(struct vt_cache_model *m, uint32_t i) {
    struct vt_cache_block *b = &m->blocks[i];
    unsigned bin = bin_of(b->size);
    struct vt_cache_idle *idle = idle_of(m, b->pool);
    if (!idle) {
        idle = VT_ADD(m->idle, m->idle_count, m->idle_room);
        *idle = (struct vt_cache_idle){0};
        vt_map_put(&m->by_pool, b->pool, m->idle_count - 1);
        if (b->pool < VT_CACHE_NEAR)
            m->near[b->pool] = m->idle_count;
    }
    uint32_t *at = b->mapped ? &idle->bins[bin] : &idle->unmapped;
    if (b->mapped)
        idle->used[bin / 64] |= 1ull << bin % 64;
    m->random ^= m->random << 13;
    m->random ^= m->random >> 17;
    m->random ^= m->random << 5;
    b->priority = m->random;
    b->idle_since = m->searches;
    while (*at && m->blocks[*at].priority >= b->priority)
        at = compare(b, &m->blocks[*at]) < 0 ? &m->blocks[*at].left : &m->blocks[*at].right;
    uint32_t below = *at;
    divide(m, below, b, &b->left, &b->right);
    *at = i;
}

void vt_cache_idle_remove(struct vt_cache_model *m, uint32_t i) {
    const struct vt_cache_block *b = &m->blocks[i];
    struct vt_cache_idle *idle = idle_of(m, b->pool);
    unsigned bin = bin_of(b->size);
    if (!idle)
        return;
    uint32_t *at = b->mapped ? &idle->bins[bin] : &idle->unmapped;
    while (*at && *at != i)
        at = compare(b, &m->blocks[*at]) < 0 ? &m->blocks[*at].left : &m->blocks[*at].right;
    if (!*at)
        return;
    uint32_t x = b->left, y = b->right;
    while (x && y) { /* joins the two subtrees, the higher priority on top */
        if (m->blocks[x].priority > m->blocks[y].priority) {
            *at = x;
            at = &m->blocks[x].right;
            x = *at;
        } else {
            *at = y;
            at = &m->blocks[y].left;
            y = *at;
        }
    }
    *at = x ? x : y;
    if (b->mapped && !idle->bins[bin])
        idle->used[bin / 64] &= ~(1ull << bin % 64);
}

/* vt_cache_idle_find within one tree. */
static uint32_t search(const struct vt_cache_model *m, uint32_t tree,
                       const struct vt_cache_block *key, bool last) {
    uint32_t found = 0;
    while (tree) {
        bool before = compare(&m->blocks[tree], key) < 0;
        if (before == last)
            found = tree;
        tree = before ? m->blocks[tree].right : m->blocks[tree].left;
    }
    return found;
}

/* The next bin with blocks, upwards or downwards; VT_CACHE_BINS: none. */
static unsigned next_bin(const struct vt_cache_idle *idle, unsigned bin, bool down) {
    int step = down ? -1 : 1;
    uint64_t others = down ? (1ull << bin % 64) - 1 : ~1ull << bin % 64;
    for (int word = (int)(bin / 64); word >= 0 && word < VT_CACHE_BINS / 64; word += step) {
        uint64_t bits = idle->used[word] & others;
        if (bits)
            return (unsigned)word * 64 +
                   (unsigned)(down ? 63 - __builtin_clzll(bits) : __builtin_ctzll(bits));
        others = UINT64_MAX;
    }
    return VT_CACHE_BINS;
}

uint32_t vt_cache_idle_find(const struct vt_cache_model *m, const struct vt_cache_block *key,
                            bool last) {
    const struct vt_cache_idle *idle = idle_of(m, key->pool);
    if (!idle)
        return 0;
    if (!key->mapped)
        return search(m, idle->unmapped, key, last);
    unsigned bin = bin_of(key->size);
    uint32_t found = search(m, idle->bins[bin], key, last);
    if (!found && (bin = next_bin(idle, bin, last)) < VT_CACHE_BINS)
        found = search(m, idle->bins[bin], key, last);
    return found;
}

uint32_t vt_cache_idle_after(const struct vt_cache_model *m, uint32_t i) {
    struct vt_cache_block key = m->blocks[i];
    key.address++;
    return vt_cache_idle_find(m, &key, false);
}

static void gather(const struct vt_cache_model *m, uint32_t tree, uint32_t *into, uint32_t *count) {
    if (!tree)
        return;
    gather(m, m->blocks[tree].left, into, count);
    into[(*count)++] = tree;
    gather(m, m->blocks[tree].right, into, count);
}

uint32_t *vt_cache_idle_mapped(const struct vt_cache_model *m, uint32_t *count) {
    uint32_t *all = vt_alloc(m->count, sizeof *all);
    *count = 0;
    for (uint32_t i = 0; i < m->idle_count; i++)
        for (unsigned bin = 0; bin < VT_CACHE_BINS; bin = next_bin(&m->idle[i], bin, false))
            gather(m, m->idle[i].bins[bin], all, count);
    return all;
}
