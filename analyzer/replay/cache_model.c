/* SPDX-License-Identifier: MIT */
/*
 * The model of PyTorch's caching allocator (see cache_model.h). Blocks are numbered; those of a
 * segment, or of a range of addresses, are chained. Free blocks are in a tree, by pool, stream, size
 * and address, which is balanced by random priorities.
 */
#include "cache_model.h"

#include "vramtrace/text.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct block {
    uint64_t address, size;
    uint32_t prev, next;  /* in the same segment or range; 0: none */
    uint32_t left, right; /* in the tree, or `left` in the list of unused blocks */
    uint32_t priority;
    uint32_t pool; /* 2 * stream, + 1 for the small one */
    bool used, mapped;
};

/* A pool's addresses, with expandable segments. */
struct range {
    uint32_t pool, first;
};

struct vt_cache_model {
    struct vt_cache_settings settings;
    uint64_t capacity, reserved;
    uint64_t range_bytes;
    uint64_t end; /* of the addresses so far */
    struct block *blocks;
    uint32_t count, room, unused, root, random;
    struct range *ranges;
    uint32_t range_count, range_room;
};

/* --- settings --- */

/* The text behind "name:"; NULL: not there. */
static const char *setting(const char *value, const char *name) {
    size_t length = strlen(name);
    for (const char *at = value; at; at = strchr(at, ',')) {
        at += strspn(at, ", ");
        if (!strncasecmp(at, name, length) && at[length] == ':')
            return at + length + 1;
    }
    return NULL;
}

struct vt_cache_settings vt_cache_settings_read(const char *value) {
    struct vt_cache_settings settings = {.max_split = UINT64_MAX};
    const char *expandable = value ? setting(value, "expandable_segments") : NULL;
    const char *split = value ? setting(value, "max_split_size_mb") : NULL;
    unsigned long long mib = split ? strtoull(split, NULL, 10) : 0;
    settings.expandable = expandable && !strncasecmp(expandable, "true", 4);
    if (mib && mib < 1ull << 40)
        settings.max_split = mib << 20;
    return settings;
}

/* --- blocks --- */

static uint64_t round_up(uint64_t size, uint64_t to) {
    return (size + to - 1) / to * to;
}

struct vt_cache_model *vt_cache_open(struct vt_cache_settings settings, uint64_t capacity,
                                     uint64_t device_bytes) {
    struct vt_cache_model *m = vt_alloc(1, sizeof *m);
    const uint64_t most = (uint64_t)VT_CACHE_LARGE_SEGMENT << 20;
    *m = (struct vt_cache_model){.settings = settings, .capacity = capacity, .random = 2463534242u};
    m->range_bytes = device_bytes < most / 2
                         ? round_up(device_bytes + device_bytes / 8, VT_CACHE_LARGE_SEGMENT)
                         : most;
    m->blocks = vt_alloc(m->room = 64, sizeof *m->blocks);
    m->count = 1; /* 0 is none */
    return m;
}

void vt_cache_close(struct vt_cache_model *m) {
    if (!m)
        return;
    free(m->blocks);
    free(m->ranges);
    free(m);
}

static uint32_t new_block(struct vt_cache_model *m, struct block block) {
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

/* Takes a block out of its chain. */
static void drop_block(struct vt_cache_model *m, uint32_t i) {
    const struct block *b = &m->blocks[i];
    if (b->prev)
        m->blocks[b->prev].next = b->next;
    if (b->next)
        m->blocks[b->next].prev = b->prev;
    m->blocks[i].left = m->unused;
    m->unused = i;
}

/* Leaves a block with its first bytes. Returns the rest, which is free. */
static uint32_t cut(struct vt_cache_model *m, uint32_t i, uint64_t bytes) {
    struct block rest = m->blocks[i];
    rest.address += bytes;
    rest.size -= bytes;
    rest.prev = i;
    rest.used = false;
    m->blocks[i].size = bytes;
    return new_block(m, rest);
}

/* --- the tree of free blocks --- */

static int compare(const struct block *a, const struct block *b) {
    if (a->pool != b->pool)
        return a->pool < b->pool ? -1 : 1;
    if (a->size != b->size)
        return a->size < b->size ? -1 : 1;
    return a->address < b->address ? -1 : a->address > b->address;
}

/* Divides a tree into blocks that come before `key` and others. */
static void divide(struct vt_cache_model *m, uint32_t tree, const struct block *key,
                   uint32_t *before, uint32_t *others) {
    while (tree) {
        struct block *b = &m->blocks[tree];
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

static void insert(struct vt_cache_model *m, uint32_t i) {
    struct block *b = &m->blocks[i];
    uint32_t *at = &m->root;
    m->random ^= m->random << 13;
    m->random ^= m->random >> 17;
    m->random ^= m->random << 5;
    b->priority = m->random;
    while (*at && m->blocks[*at].priority >= b->priority)
        at = compare(b, &m->blocks[*at]) < 0 ? &m->blocks[*at].left : &m->blocks[*at].right;
    uint32_t below = *at;
    divide(m, below, b, &b->left, &b->right);
    *at = i;
}

static void erase(struct vt_cache_model *m, uint32_t i) {
    const struct block *b = &m->blocks[i];
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

/* The first free block that does not come before `key`; or, with `last`, the last that does. */
static uint32_t find(const struct vt_cache_model *m, const struct block *key, bool last) {
    uint32_t found = 0;
    for (uint32_t at = m->root; at;) {
        bool before = compare(&m->blocks[at], key) < 0;
        if (before == last)
            found = at;
        at = before ? m->blocks[at].right : m->blocks[at].left;
    }
    return found;
}

static uint32_t after(const struct vt_cache_model *m, uint32_t i) {
    struct block key = m->blocks[i];
    key.address++;
    return find(m, &key, false);
}

/* --- segments --- */

static bool is_small(uint32_t pool) {
    return pool & 1;
}

static bool is_split(const struct block *b) {
    return b->prev || b->next;
}

static uint64_t granule(uint32_t pool) {
    return is_small(pool) ? VT_CACHE_SMALL_SEGMENT : VT_CACHE_LARGE_SEGMENT;
}

static bool reserve(struct vt_cache_model *m, uint64_t bytes) {
    if (bytes > m->capacity - m->reserved)
        return false;
    m->reserved += bytes;
    return true;
}

/* Joins `next`, which follows `i`, to it, if both are free and mapped, or neither is. Neither is in
 * the tree. */
static bool join(struct vt_cache_model *m, uint32_t i, uint32_t next) {
    struct block *b = &m->blocks[i];
    const struct block *other = &m->blocks[next];
    if (!i || !next || b->used || other->used || b->mapped != other->mapped)
        return false;
    b->size += other->size;
    drop_block(m, next);
    return true;
}

/* Maps the first bytes of unmapped addresses. */
static bool map(struct vt_cache_model *m, uint32_t i, uint64_t bytes) {
    bytes = round_up(bytes, granule(m->blocks[i].pool));
    if (!reserve(m, bytes))
        return false;
    if (bytes < m->blocks[i].size)
        cut(m, i, bytes);
    m->blocks[i].mapped = true;
    return true;
}

/* Maps what is missing from `i` on. What could be mapped stays so. */
static uint32_t extend(struct vt_cache_model *m, uint32_t i, uint64_t size) {
    if (m->blocks[i].mapped)
        erase(m, i);
    else if (!map(m, i, size < m->blocks[i].size ? size : m->blocks[i].size))
        return 0;
    while (m->blocks[i].size < size) {
        uint32_t next = m->blocks[i].next;
        uint64_t missing = size - m->blocks[i].size;
        if (m->blocks[next].mapped) {
            erase(m, next);
        } else if (!map(m, next, missing < m->blocks[next].size ? missing : m->blocks[next].size)) {
            insert(m, i);
            return 0;
        }
        join(m, i, next);
    }
    uint32_t next = m->blocks[i].next;
    if (next && m->blocks[next].mapped && !m->blocks[next].used) {
        erase(m, next);
        join(m, i, next);
    }
    return i;
}

/* The lowest addresses of a range that are free or not mapped; 0: none. */
static uint32_t find_addresses(const struct vt_cache_model *m, uint32_t first, uint64_t size) {
    for (uint32_t i = first; i; i = m->blocks[i].next) {
        if (m->blocks[i].mapped)
            continue;
        uint32_t before = m->blocks[i].prev;
        uint32_t from = before && !m->blocks[before].used ? before : i;
        uint64_t bytes = 0;
        for (uint32_t at = from; at && !m->blocks[at].used && bytes < size; at = m->blocks[at].next)
            bytes += m->blocks[at].size;
        if (bytes >= size)
            return from;
    }
    return 0;
}

/* Expandable segments: maps addresses of the pool. */
static uint32_t new_addresses(struct vt_cache_model *m, uint32_t pool, uint64_t size) {
    uint32_t found = 0;
    for (uint32_t i = 0; i < m->range_count && !found; i++)
        if (m->ranges[i].pool == pool)
            found = find_addresses(m, m->ranges[i].first, size);
    if (!found && size <= m->range_bytes) {
        found =
            new_block(m, (struct block){.address = m->end, .size = m->range_bytes, .pool = pool});
        m->end += m->range_bytes;
        *VT_ADD(m->ranges, m->range_count, m->range_room) = (struct range){pool, found};
    }
    return found ? extend(m, found, size) : 0;
}

static uint32_t new_segment(struct vt_cache_model *m, uint32_t pool, uint64_t size) {
    if (m->settings.expandable)
        return new_addresses(m, pool, size);
    uint64_t bytes = is_small(pool)          ? VT_CACHE_SMALL_SEGMENT
                     : size < VT_CACHE_LARGE ? VT_CACHE_LARGE_SEGMENT
                                             : round_up(size, VT_CACHE_SMALL_SEGMENT);
    if (!reserve(m, bytes))
        return 0;
    m->end += bytes;
    return new_block(
        m, (struct block){.address = m->end - bytes, .size = bytes, .pool = pool, .mapped = true});
}

/* --- releasing --- */

static void release_segment(struct vt_cache_model *m, uint32_t i) {
    erase(m, i);
    m->reserved -= m->blocks[i].size;
    drop_block(m, i);
}

/* Unmaps the granules that lie wholly in a free block. */
static void unmap(struct vt_cache_model *m, uint32_t i) {
    uint32_t first = m->blocks[i].prev;
    uint64_t unit = granule(m->blocks[i].pool); /* of which ranges begin at a multiple */
    uint64_t start = m->blocks[i].address, end = start + m->blocks[i].size;
    uint64_t from = round_up(start, unit), to = end / unit * unit;
    if (from >= to)
        return;
    erase(m, i);
    if (from > start) {
        uint32_t middle = cut(m, i, from - start);
        insert(m, i);
        first = i;
        i = middle;
    }
    if (to < end)
        insert(m, cut(m, i, to - from));
    m->blocks[i].mapped = false;
    m->reserved -= to - from;
    join(m, i, m->blocks[i].next);
    join(m, first, i);
}

static void gather(const struct vt_cache_model *m, uint32_t tree, uint32_t *into, uint32_t *count) {
    if (!tree)
        return;
    gather(m, m->blocks[tree].left, into, count);
    into[(*count)++] = tree;
    gather(m, m->blocks[tree].right, into, count);
}

static void release_all(struct vt_cache_model *m) {
    uint32_t *all = vt_alloc(m->count, sizeof *all), count = 0;
    gather(m, m->root, all, &count);
    for (uint32_t i = 0; i < count; i++) {
        if (m->settings.expandable)
            unmap(m, all[i]);
        else if (!is_split(&m->blocks[all[i]]))
            release_segment(m, all[i]);
    }
    free(all);
}

/* With max_split: releases one large segment that would do, or several, the largest first. */
static bool release_oversized(struct vt_cache_model *m, uint32_t pool, uint64_t size) {
    uint64_t wanted = size > m->settings.max_split ? size : m->settings.max_split, released = 0;
    struct block key = {.pool = pool, .size = wanted};
    if (m->settings.max_split == UINT64_MAX || m->settings.expandable)
        return false;
    uint32_t i = find(m, &key, false);
    if (i && m->blocks[i].pool == pool) {
        release_segment(m, i);
        return true;
    }
    while (released < wanted) {
        i = find(m, &key, true);
        if (!i || m->blocks[i].pool != pool || m->blocks[i].size < m->settings.max_split)
            return false;
        released += m->blocks[i].size;
        release_segment(m, i);
    }
    return true;
}

/* --- requests --- */

/* The size that counts for the best fit: what a block before unmapped addresses can grow to. */
static uint64_t grown(const struct vt_cache_model *m, uint32_t i) {
    uint32_t next = m->blocks[i].next;
    return m->blocks[i].size + (next && !m->blocks[next].mapped ? m->blocks[next].size : 0);
}

static uint32_t take_free(struct vt_cache_model *m, uint32_t pool, uint64_t size) {
    uint64_t max_split = m->settings.max_split;
    uint32_t i = find(m, &(struct block){.pool = pool, .size = size}, false);
    if (!i || m->blocks[i].pool != pool)
        return 0;
    for (uint32_t next = m->settings.expandable ? after(m, i) : 0;
         next && m->blocks[next].pool == pool && grown(m, next) < grown(m, i);
         next = after(m, next))
        i = next;
    if (size < max_split ? m->blocks[i].size >= max_split
                         : m->blocks[i].size >= size + VT_CACHE_LARGE_SEGMENT)
        return 0;
    erase(m, i);
    return i;
}

/* A log may say anything: no size is larger than a range, and no address occurs twice. */
uint32_t vt_cache_alloc(struct vt_cache_model *m, uint64_t size, unsigned stream) {
    const uint64_t most = (uint64_t)VT_CACHE_LARGE_SEGMENT << 20;
    if (size > most || m->end > UINT64_MAX - 2 * most)
        return 0;
    size = round_up(size ? size : 1, VT_CACHE_UNIT);
    uint32_t pool = 2 * stream + (size <= VT_CACHE_SMALL), i = take_free(m, pool, size);
    if (!i)
        i = new_segment(m, pool, size);
    if (!i && release_oversized(m, pool, size))
        i = new_segment(m, pool, size);
    if (!i) {
        release_all(m);
        i = new_segment(m, pool, size);
    }
    if (!i)
        return 0;
    uint64_t rest = m->blocks[i].size - size;
    if (is_small(pool) || m->settings.expandable
            ? rest >= VT_CACHE_UNIT
            : size < m->settings.max_split && rest > VT_CACHE_SMALL)
        insert(m, cut(m, i, size));
    m->blocks[i].used = true;
    return i;
}

void vt_cache_free(struct vt_cache_model *m, uint32_t i) {
    uint32_t prev = m->blocks[i].prev, next = m->blocks[i].next;
    m->blocks[i].used = false;
    if (next && m->blocks[next].mapped && !m->blocks[next].used) {
        erase(m, next);
        join(m, i, next);
    }
    if (prev && m->blocks[prev].mapped && !m->blocks[prev].used) {
        erase(m, prev);
        join(m, prev, i);
        i = prev;
    }
    insert(m, i);
}

uint64_t vt_cache_reserved(const struct vt_cache_model *m) {
    return m->reserved;
}
