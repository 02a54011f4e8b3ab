/* SPDX-License-Identifier: MIT */
/*
 * The blocks of the model of PyTorch's allocator, and the tree of those that are free (see
 * cache_inside.h).
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

/* --- the tree of free blocks --- */

/* Addresses that are not mapped come last, of each pool by address. */
static int compare(const struct vt_cache_block *a, const struct vt_cache_block *b) {
    if (a->mapped != b->mapped)
        return a->mapped ? -1 : 1;
    if (a->pool != b->pool)
        return a->pool < b->pool ? -1 : 1;
    if (a->mapped && a->size != b->size)
        return a->size < b->size ? -1 : 1;
    return a->address < b->address ? -1 : a->address > b->address;
}

/* Divides a tree into blocks that come before `key` and others. */
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

void vt_cache_tree_insert(struct vt_cache_model *m, uint32_t i) {
    struct vt_cache_block *b = &m->blocks[i];
    uint32_t *at = &m->root;
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

void vt_cache_tree_erase(struct vt_cache_model *m, uint32_t i) {
    const struct vt_cache_block *b = &m->blocks[i];
    uint32_t *at = &m->root;
    while (*at && *at != i)
        at = compare(b, &m->blocks[*at]) < 0 ? &m->blocks[*at].left : &m->blocks[*at].right;
    if (!*at)
        return;
    uint32_t x = b->left, y = b->right;
    while (x && y) { /* joins the two trees below, the higher priority on top */
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
}

uint32_t vt_cache_tree_find(const struct vt_cache_model *m, const struct vt_cache_block *key,
                            bool last) {
    uint32_t found = 0;
    for (uint32_t at = m->root; at;) {
        bool before = compare(&m->blocks[at], key) < 0;
        if (before == last)
            found = at;
        at = before ? m->blocks[at].right : m->blocks[at].left;
    }
    return found;
}

uint32_t vt_cache_tree_after(const struct vt_cache_model *m, uint32_t i) {
    struct vt_cache_block key = m->blocks[i];
    key.address++;
    return vt_cache_tree_find(m, &key, false);
}

static void gather(const struct vt_cache_model *m, uint32_t tree, uint32_t *into, uint32_t *count) {
    if (!tree)
        return;
    gather(m, m->blocks[tree].left, into, count);
    if (m->blocks[tree].mapped) {
        into[(*count)++] = tree;
        gather(m, m->blocks[tree].right, into, count);
    }
}

uint32_t *vt_cache_tree_mapped(const struct vt_cache_model *m, uint32_t *count) {
    uint32_t *all = vt_alloc(m->count, sizeof *all);
    *count = 0;
    gather(m, m->root, all, count);
    return all;
}
