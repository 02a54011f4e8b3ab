/* SPDX-License-Identifier: MIT */
/*
 * The model of PyTorch's caching allocator (see cache_model.h): how a request is served.
 */
#include "cache_inside.h"

#include <stdlib.h>
#include <string.h>

static uint64_t round_up(uint64_t size, uint64_t to) {
    return (size + to - 1) / to * to;
}

/* --- opening, copying, closing --- */

struct vt_cache_model *vt_cache_open(const struct vt_cache_settings *settings, uint64_t usable,
                                     uint64_t device_bytes) {
    struct vt_cache_model *m = vt_alloc(1, sizeof *m);
    const uint64_t most = (uint64_t)VT_CACHE_LARGE_SEGMENT << 20;
    *m = (struct vt_cache_model){.settings = *settings, .usable = usable, .random = 2463534242u};
    m->allowed = settings->fraction < 1 && device_bytes < most
                     ? (uint64_t)(settings->fraction * (double)device_bytes + 0.5)
                     : UINT64_MAX;
    m->range_bytes = device_bytes < most / 2 ? device_bytes + device_bytes / 8 : most;
    m->blocks = vt_alloc(m->room = 64, sizeof *m->blocks);
    m->count = 1; /* 0 is none */
    return m;
}

struct vt_cache_model *vt_cache_copy(const struct vt_cache_model *m, uint64_t usable) {
    struct vt_cache_model *copy = vt_alloc(1, sizeof *copy);
    *copy = *m;
    copy->usable = usable;
    copy->blocks = vt_alloc(copy->room = m->count, sizeof *copy->blocks);
    memcpy(copy->blocks, m->blocks, m->count * sizeof *m->blocks);
    copy->idle = vt_alloc(copy->idle_room = m->idle_count, sizeof *copy->idle);
    if (m->idle_count)
        memcpy(copy->idle, m->idle, m->idle_count * sizeof *m->idle);
    copy->by_pool = (struct vt_map){0};
    for (size_t i = 0; i < m->by_pool.slots; i++)
        if (m->by_pool.values[i] != VT_MAP_NONE)
            vt_map_put(&copy->by_pool, m->by_pool.keys[i], m->by_pool.values[i]);
    copy->loose = NULL;
    copy->loose_count = copy->loose_room = 0;
    for (uint32_t i = 0; i < m->loose_count; i++)
        *VT_ADD(copy->loose, copy->loose_count, copy->loose_room) = m->loose[i];
    return copy;
}

void vt_cache_close(struct vt_cache_model *m) {
    if (!m)
        return;
    free(m->blocks);
    free(m->idle);
    vt_map_free(&m->by_pool);
    free(m->loose);
    free(m);
}

const struct vt_cache_figures *vt_cache_figures(const struct vt_cache_model *m) {
    return &m->figures;
}

/* --- the driver's memory --- */

static void raise_peak(struct vt_cache_model *m) {
    struct vt_cache_figures *f = &m->figures;
    if (f->reserved > f->peak_reserved)
        f->peak_reserved = f->reserved;
    if (f->reserved + m->outside > f->peak_bytes)
        f->peak_bytes = f->reserved + m->outside;
}

static bool is_there(struct vt_cache_model *m, uint64_t bytes, uint64_t limit) {
    if (bytes <= limit)
        return true;
    m->figures.missing_bytes = bytes - limit;
    return false;
}

static bool reserve(struct vt_cache_model *m, uint64_t bytes) {
    if (!is_there(m, m->figures.reserved + m->outside + bytes, m->usable))
        return false;
    m->figures.reserved += bytes;
    raise_peak(m);
    return true;
}

bool vt_cache_set_outside(struct vt_cache_model *m, uint64_t bytes) {
    m->outside = bytes;
    if (!is_there(m, m->figures.reserved + bytes, m->usable))
        return false;
    raise_peak(m);
    return true;
}

/* --- segments --- */

static bool is_split(const struct vt_cache_block *b) {
    return b->prev || b->next;
}

static uint64_t granule(const struct vt_cache_model *m, uint32_t pool) {
    return vt_cache_is_small(pool) ? VT_CACHE_SMALL_SEGMENT : m->settings.large_segment;
}

static uint64_t segment_bytes(const struct vt_cache_model *m, uint32_t pool, uint64_t size) {
    return vt_cache_is_small(pool) || size < VT_CACHE_LARGE
               ? granule(m, pool)
               : round_up(size, VT_CACHE_SMALL_SEGMENT);
}

/* Maps the first `bytes` of unmapped addresses, or as many as there are. */
static bool map(struct vt_cache_model *m, uint32_t i, uint64_t bytes) {
    uint64_t size = m->blocks[i].size;
    bytes = round_up(bytes < size ? bytes : size, granule(m, m->blocks[i].pool));
    if (!reserve(m, bytes))
        return false;
    vt_cache_idle_remove(m, i);
    if (bytes < size)
        vt_cache_idle_add(m, vt_cache_block_cut(m, i, bytes));
    m->blocks[i].mapped = true;
    return true;
}

/* Maps the missing addresses from `i` on. After a failure, mapped ones stay mapped. */
static uint32_t extend(struct vt_cache_model *m, uint32_t i, uint64_t size) {
    if (m->blocks[i].mapped)
        vt_cache_idle_remove(m, i);
    else if (!map(m, i, size))
        return 0;
    while (m->blocks[i].size < size) {
        uint32_t next = m->blocks[i].next;
        if (m->blocks[next].mapped) {
            vt_cache_idle_remove(m, next);
        } else if (!map(m, next, size - m->blocks[i].size)) {
            vt_cache_idle_add(m, i);
            return 0;
        }
        vt_cache_block_join(m, i, next);
    }
    uint32_t next = m->blocks[i].next;
    if (next && m->blocks[next].mapped && !m->blocks[next].used) {
        vt_cache_idle_remove(m, next);
        vt_cache_block_join(m, i, next);
    }
    return i;
}

/* Whether free or unmapped addresses of this size begin at a block. */
static bool has_addresses(const struct vt_cache_model *m, uint32_t i, uint64_t size) {
    uint64_t bytes = 0;
    for (; i && !m->blocks[i].used && bytes < size; i = m->blocks[i].next)
        bytes += m->blocks[i].size;
    return bytes >= size;
}

/* Expandable segments: maps the lowest suitable addresses of the pool. */
static uint32_t new_addresses(struct vt_cache_model *m, uint32_t pool, uint64_t size) {
    uint32_t i = vt_cache_idle_find(m, &(struct vt_cache_block){.pool = pool}, false);
    for (; i; i = vt_cache_idle_after(m, i)) {
        uint32_t before = m->blocks[i].prev;
        uint32_t from = before && !m->blocks[before].used ? before : i;
        if (has_addresses(m, from, size))
            return extend(m, from, size);
    }
    uint64_t bytes = round_up(m->range_bytes, granule(m, pool));
    if (size > bytes)
        return 0;
    i = vt_cache_block_new(m,
                           (struct vt_cache_block){.address = m->end, .size = bytes, .pool = pool});
    m->end +=
        round_up(bytes, 2 * m->settings.large_segment); /* a multiple of both pools' granules */
    vt_cache_idle_add(m, i);
    return extend(m, i, size);
}

static uint32_t new_segment(struct vt_cache_model *m, uint32_t pool, uint64_t size) {
    uint64_t bytes = segment_bytes(m, pool, size);
    if (!is_there(m, m->figures.reserved + bytes, m->allowed))
        return 0;
    if (m->settings.expandable)
        return new_addresses(m, pool, size);
    if (!reserve(m, bytes))
        return 0;
    m->end += bytes;
    return vt_cache_block_new(
        m, (struct vt_cache_block){
               .address = m->end - bytes, .size = bytes, .pool = pool, .mapped = true});
}

/* --- releasing --- */

static void release_segment(struct vt_cache_model *m, uint32_t i) {
    vt_cache_idle_remove(m, i);
    m->figures.reserved -= m->blocks[i].size;
    vt_cache_block_drop(m, i);
}

/* Joins an unmapped block to its neighbour, if both are unmapped. */
static void join_unmapped(struct vt_cache_model *m, uint32_t i, uint32_t next, uint32_t beside) {
    if (!beside || m->blocks[beside].mapped)
        return;
    vt_cache_idle_remove(m, beside);
    vt_cache_block_join(m, i, next);
}

/* Unmaps the granules that lie wholly inside a free block. */
static void unmap(struct vt_cache_model *m, uint32_t i) {
    uint64_t unit = granule(m, m->blocks[i].pool); /* a range begins at a multiple of `unit` */
    uint64_t start = m->blocks[i].address, end = start + m->blocks[i].size;
    uint64_t from = round_up(start, unit), to = end / unit * unit;
    if (from >= to)
        return;
    vt_cache_idle_remove(m, i);
    if (from > start) {
        uint32_t middle = vt_cache_block_cut(m, i, from - start);
        vt_cache_idle_add(m, i);
        i = middle;
    }
    if (to < end)
        vt_cache_idle_add(m, vt_cache_block_cut(m, i, to - from));
    m->blocks[i].mapped = false;
    m->figures.reserved -= to - from;
    uint32_t before = m->blocks[i].prev, next = m->blocks[i].next;
    join_unmapped(m, i, next, next);
    join_unmapped(m, before, i, before);
    vt_cache_idle_add(m, before && !m->blocks[before].mapped ? before : i);
}

/* Whether a pool's idle segments are released: not while it belongs to a graph or a MemPool. */
static bool is_releasable(const struct vt_cache_model *m, uint32_t pool) {
    uint32_t private = vt_cache_private(pool);
    for (uint32_t i = 0; private && i < m->loose_count; i++)
        if (m->loose[i] == private)
            return true;
    return !private;
}

static void release_all(struct vt_cache_model *m) {
    uint32_t count;
    VT_SCOPED uint32_t *all = vt_cache_idle_mapped(m, &count);
    for (uint32_t i = 0; i < count; i++) {
        if (!is_releasable(m, m->blocks[all[i]].pool))
            continue;
        if (m->settings.expandable)
            unmap(m, all[i]);
        else if (!is_split(&m->blocks[all[i]]))
            release_segment(m, all[i]);
    }
}

void vt_cache_empty(struct vt_cache_model *m, uint32_t private) {
    if (private && !is_releasable(m, private << 9))
        *VT_ADD(m->loose, m->loose_count, m->loose_room) = private;
    release_all(m);
}

/* With max_split: releases one segment that is large enough, or several, the largest first. */
static bool release_oversized(struct vt_cache_model *m, uint32_t pool, uint64_t size) {
    uint64_t wanted = size > m->settings.max_split ? size : m->settings.max_split, released = 0;
    struct vt_cache_block key = {.pool = pool, .size = wanted, .mapped = true};
    if (m->settings.max_split == UINT64_MAX || m->settings.expandable)
        return false;
    uint32_t i = vt_cache_idle_find(m, &key, false);
    if (i) {
        release_segment(m, i);
        return true;
    }
    while (released < wanted) {
        i = vt_cache_idle_find(m, &key, true);
        if (!i || m->blocks[i].size < m->settings.max_split)
            return false;
        released += m->blocks[i].size;
        release_segment(m, i);
    }
    return true;
}

/* Releases the large pool's segments that were idle longest, in passes, until usage is below the threshold. */
static void collect(struct vt_cache_model *m) {
    uint64_t most = (uint64_t)(m->settings.collect_from * (double)m->allowed), age = 0, freed = 0;
    uint64_t reserved = m->figures.reserved;
    uint32_t count, idle = 0;
    if (m->settings.expandable || reserved <= most)
        return;
    VT_SCOPED uint32_t *all = vt_cache_idle_mapped(m, &count);
    for (uint32_t i = 0; i < count; i++) {
        const struct vt_cache_block *b = &m->blocks[all[i]];
        if (vt_cache_is_small(b->pool) || vt_cache_private(b->pool) || is_split(b))
            continue;
        age += m->searches - b->idle_since;
        all[idle++] = all[i];
    }
    for (bool any = true; any && idle && freed < reserved - most;) {
        double mean = (double)age / idle;
        uint32_t left = 0;
        for (uint32_t i = 0; i < idle; i++) {
            uint64_t own = m->searches - m->blocks[all[i]].idle_since;
            if ((double)own < mean) {
                all[left++] = all[i];
                continue;
            }
            freed += m->blocks[all[i]].size;
            age -= own;
            release_segment(m, all[i]);
        }
        any = left < idle;
        idle = left;
    }
}

/* --- requests --- */

/* Rounds up to one of the steps between two powers of 2. */
static uint64_t round_request(const struct vt_cache_settings *s, uint64_t size) {
    unsigned log = size ? 63 - (unsigned)__builtin_clzll(size) : 0;
    unsigned interval = log > 20 ? log - 20 : 0;
    uint64_t steps =
        s->divisions[interval < VT_CACHE_INTERVALS ? interval : VT_CACHE_INTERVALS - 1];
    if (steps > 1 && size > VT_CACHE_UNIT * steps)
        return round_up(size, (1ull << log) / steps);
    return round_up(size ? size : 1, VT_CACHE_UNIT);
}

/* A block's size for the best fit: it can grow into unmapped addresses that follow. */
static uint64_t grown(const struct vt_cache_model *m, uint32_t i) {
    uint32_t next = m->blocks[i].next;
    return m->blocks[i].size + (next && !m->blocks[next].mapped ? m->blocks[next].size : 0);
}

static uint32_t find_free(const struct vt_cache_model *m, uint32_t pool, uint64_t size) {
    const struct vt_cache_settings *s = &m->settings;
    struct vt_cache_block key = {.pool = pool, .size = size, .mapped = true};
    uint32_t i = vt_cache_idle_find(m, &key, false);
    if (!i)
        return 0;
    for (uint32_t next = s->expandable ? vt_cache_idle_after(m, i) : 0;
         next && grown(m, next) < grown(m, i); next = vt_cache_idle_after(m, next))
        i = next;
    uint64_t found = m->blocks[i].size;
    if (size < s->max_split ? found >= s->max_split : found >= size + s->max_rounding)
        return 0;
    return i;
}

/* A log may be wrong. Sizes must not exceed a range, and no address may occur twice. */
static bool is_sane(const struct vt_cache_model *m, uint64_t size) {
    const uint64_t most = (uint64_t)VT_CACHE_LARGE_SEGMENT << 20;
    return size <= most && m->end <= UINT64_MAX - 4 * most;
}

uint64_t vt_cache_growth(const struct vt_cache_model *m, struct vt_cache_request request) {
    uint64_t size = round_request(&m->settings, request.size);
    uint32_t pool = vt_cache_pool(request, size <= VT_CACHE_SMALL);
    if (!is_sane(m, request.size))
        return UINT64_MAX / 2;
    if (find_free(m, pool, size))
        return 0;
    return m->settings.expandable ? round_up(size, granule(m, pool)) + granule(m, pool)
                                  : segment_bytes(m, pool, size);
}

uint32_t vt_cache_alloc(struct vt_cache_model *m, struct vt_cache_request request) {
    if (!is_sane(m, request.size)) {
        m->figures.missing_bytes = request.size;
        return 0;
    }
    uint64_t size = round_request(&m->settings, request.size);
    uint32_t pool = vt_cache_pool(request, size <= VT_CACHE_SMALL);
    m->searches += !vt_cache_is_small(pool) && !request.private;
    uint32_t i = find_free(m, pool, size);
    if (i)
        vt_cache_idle_remove(m, i);
    if (!i && m->settings.collect_from > 0 && m->allowed < UINT64_MAX)
        collect(m);
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
    if (vt_cache_is_small(pool) || m->settings.expandable
            ? rest >= VT_CACHE_UNIT
            : size < m->settings.max_split && rest > VT_CACHE_SMALL)
        vt_cache_idle_add(m, vt_cache_block_cut(m, i, size));
    m->blocks[i].used = true;
    return i;
}

void vt_cache_free(struct vt_cache_model *m, uint32_t i) {
    uint32_t prev = m->blocks[i].prev, next = m->blocks[i].next;
    m->blocks[i].used = false;
    if (next && m->blocks[next].mapped && !m->blocks[next].used) {
        vt_cache_idle_remove(m, next);
        vt_cache_block_join(m, i, next);
    }
    if (prev && m->blocks[prev].mapped && !m->blocks[prev].used) {
        vt_cache_idle_remove(m, prev);
        vt_cache_block_join(m, prev, i);
        i = prev;
    }
    vt_cache_idle_add(m, i);
}
