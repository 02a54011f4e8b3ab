/* SPDX-License-Identifier: MIT */
/*
 * Makes a device's segments and changes consistent (see pytorch.h).
 *
 * The segments are those of the map at the end, and remaining allocations that the map lacks, such as arrays, which
 * have no address in it. If events were lost, some changes are inconsistent and are left out: a second allocation at an
 * address that was not freed, a segment inside another one, a segment later than its blocks, a block in no segment. But
 * blocks in memory that was never recorded (old versions of PyTorch use addresses of their own) get a segment that
 * exists from the start.
 */
#include "pytorch.h"

#include "vramtrace/log_format.h"

#include <stdlib.h>
#include <string.h>

struct range {
    uint64_t start, end;
    uint64_t reach; /* in `ever`: the highest end of the ranges up to this one */
};

struct ranges { /* by address */
    struct range *items;
    uint32_t count, room;
};

struct maker {
    const struct vt_process *process;
    const struct vt_address_map *map; /* at the end; NULL: there is none */
    struct vt_pytorch_device *made;
    struct vt_pytorch_block *kept; /* blocks that remain after all changes, by address */
    uint32_t kept_count, kept_room;
    struct ranges ever;          /* all driver memory, each once */
    struct ranges homes, blocks; /* driver memory and blocks at one moment */
};

/* The first range that begins after `address`. */
static uint32_t range_after(const struct ranges *r, uint64_t address) {
    return (uint32_t)vt_count_up_to(r->items, r->count, sizeof *r->items, address);
}

/* The range that contains the address, among ranges that do not overlap. NULL: none. */
static struct range *range_with(const struct ranges *r, uint64_t address) {
    uint32_t i = range_after(r, address);
    return i && address < r->items[i - 1].end ? &r->items[i - 1] : NULL;
}

static void append_range(struct ranges *r, uint64_t start, uint64_t end) {
    VT_GROW(r->items, r->count, r->room);
    r->items[r->count++] = (struct range){.start = start, .end = end};
}

static void insert(struct ranges *r, uint64_t start, uint64_t end) {
    uint32_t i = range_after(r, start);
    append_range(r, start, end);
    memmove(&r->items[i + 1], &r->items[i], (r->count - 1 - i) * sizeof *r->items);
    r->items[i] = (struct range){.start = start, .end = end};
}

static void erase(struct ranges *r, const struct range *range) {
    size_t i = (size_t)(range - r->items);
    memmove(&r->items[i], &r->items[i + 1], (--r->count - i) * sizeof *r->items);
}

/* Whether one of the ranges, which do not overlap, contains some of these addresses. */
static bool overlaps(const struct ranges *r, uint64_t start, uint64_t end) {
    uint32_t i = range_after(r, start);
    return range_with(r, start) || (i < r->count && r->items[i].start < end);
}

static int by_start(const void *a, const void *b) {
    const struct range *x = a, *y = b;
    return VT_ORDER({x->start, y->start}, {x->end, y->end});
}

/* --- segments at the end --- */

static void add_segment(struct maker *m, struct vt_pytorch_segment segment) {
    struct vt_pytorch_device *d = m->made;
    VT_GROW(d->segments, d->segment_count, d->segment_room);
    d->segments[d->segment_count++] = segment;
}

static void add_block(struct maker *m, struct vt_pytorch_block block) {
    struct vt_pytorch_device *d = m->made;
    if (!block.bytes)
        return;
    VT_GROW(d->blocks, d->block_count, d->block_room);
    d->blocks[d->block_count++] = block;
}

static int by_address(const void *a, const void *b) {
    const struct vt_pytorch_block *x = a, *y = b;
    return VT_ORDER({x->address, y->address});
}

static int segments_by_address(const void *a, const void *b) {
    const struct vt_pytorch_segment *x = a, *y = b;
    return VT_ORDER({x->address, y->address});
}

/* The first of the remaining blocks that does not begin before `address`. */
static uint32_t kept_from(const struct maker *m, uint64_t address) {
    return address ? (uint32_t)vt_count_up_to(m->kept, m->kept_count, sizeof *m->kept, address - 1)
                   : 0;
}

/* Fills a gap with the remaining blocks. `used`: bytes in use in the gap; those that are not in these blocks have
 * unknown addresses. */
static void tile(struct maker *m, uint64_t start, uint64_t end, uint64_t used, uint32_t site) {
    uint64_t known = 0;
    uint32_t first = kept_from(m, start);
    for (uint32_t i = first; i < m->kept_count && m->kept[i].address < end; i++)
        known += m->kept[i].bytes;
    used = used > known ? used - known : 0;
    for (uint32_t i = first; start < end; i++) {
        bool block = i < m->kept_count && m->kept[i].address < end;
        uint64_t next = block ? m->kept[i].address : end;
        if (next < start)
            continue;
        uint64_t filled = used < next - start ? used : next - start;
        add_block(m, (struct vt_pytorch_block){start, filled, site, false});
        add_block(
            m, (struct vt_pytorch_block){start + filled, next - start - filled, VT_NO_SITE, true});
        used -= filled;
        start = next;
        if (block) {
            uint64_t bytes = m->kept[i].bytes < end - start ? m->kept[i].bytes : end - start;
            add_block(m, (struct vt_pytorch_block){start, bytes, m->kept[i].site, false});
            start += bytes;
        }
    }
}

static void add_pieces(struct maker *m, const struct vt_map_region *region) {
    for (uint32_t i = region->first; i < region->first + region->count; i++) {
        const struct vt_map_piece *piece = &m->map->pieces[i];
        uint64_t start = region->address + piece->offset;
        if (piece->blocks > 1 || (piece->idle_bytes && piece->idle_bytes < piece->bytes))
            tile(m, start, start + piece->bytes, piece->bytes - piece->idle_bytes, piece->site);
        else
            add_block(m,
                      (struct vt_pytorch_block){start, piece->bytes, piece->site, !piece->blocks});
    }
}

/* Adds the segments' blocks: for segments of the map, the map's pieces. */
static void add_blocks(struct maker *m) {
    struct vt_pytorch_device *d = m->made;
    uint32_t region = 0, regions = m->map ? m->map->region_count : 0;
    for (uint32_t i = 0; i < d->segment_count; i++) {
        struct vt_pytorch_segment *s = &d->segments[i];
        while (region < regions && m->map->regions[region].address < s->address)
            region++;
        s->first = d->block_count;
        if (region < regions && m->map->regions[region].address == s->address)
            add_pieces(m, &m->map->regions[region]);
        else if (s->of_allocator)
            tile(m, s->address, s->address + s->bytes, 0, VT_NO_SITE);
        else
            add_block(m, (struct vt_pytorch_block){s->address, s->bytes, s->site, false});
        s->count = d->block_count - s->first;
    }
}

static void add_map(struct maker *m) {
    for (uint32_t i = 0; m->map && i < m->map->region_count; i++) {
        const struct vt_map_region *r = &m->map->regions[i];
        add_segment(m, (struct vt_pytorch_segment){.address = r->address,
                                                   .bytes = r->bytes,
                                                   .site = r->site,
                                                   .of_allocator = r->segment,
                                                   .expandable = r->mapped});
    }
}

/* --- the changes --- */

static bool is_driver(const struct vt_change *c) {
    return c->layer == VT_LAYER_DRIVER;
}

static bool is_of(const struct vt_change *c, unsigned device) {
    return c->device == device && c->bytes && !c->unplaced &&
           (is_driver(c) || c->layer == VT_LAYER_FRAMEWORK);
}

static uint64_t key_of(const struct vt_change *c) {
    return c->address * 2 + !is_driver(c);
}

/* The map's driver memory that contains this address. NULL: none. */
static const struct vt_map_region *region_with(const struct maker *m, uint64_t address) {
    const struct vt_map_region *all = m->map ? m->map->regions : NULL;
    size_t i = vt_count_up_to(all, m->map ? m->map->region_count : 0, sizeof *all, address);
    return i && address < all[i - 1].address + all[i - 1].bytes ? &all[i - 1] : NULL;
}

/* Collects all driver memory that the map and the changes show. */
static void find_ever(struct maker *m, unsigned device) {
    const struct vt_timeline *t = m->process->timeline;
    struct ranges *ever = &m->ever;
    uint32_t count = 0;
    for (uint32_t i = 0; m->map && i < m->map->region_count; i++)
        append_range(ever, m->map->regions[i].address,
                     m->map->regions[i].address + m->map->regions[i].bytes);
    for (uint32_t i = 0; i < t->change_count; i++)
        if (is_of(&t->changes[i], device) && is_driver(&t->changes[i]))
            append_range(ever, t->changes[i].address, t->changes[i].address + t->changes[i].bytes);
    vt_sort(ever->items, ever->count, sizeof *ever->items, by_start);
    for (uint32_t i = 0; i < ever->count; i++) {
        struct range r = ever->items[i];
        if (count && !by_start(&r, &ever->items[count - 1]))
            continue;
        r.reach =
            count && ever->items[count - 1].reach > r.end ? ever->items[count - 1].reach : r.end;
        ever->items[count++] = r;
    }
    ever->count = count;
}

/* Whether driver memory ever had some of these addresses. `other`: apart from a range equal to them. */
static bool was_ever(const struct maker *m, uint64_t start, uint64_t end, bool other) {
    uint32_t i = range_after(&m->ever, start);
    bool itself = i && m->ever.items[i - 1].start == start && m->ever.items[i - 1].end == end;
    uint32_t before = i - (itself && other);
    return (before && m->ever.items[before - 1].reach > start) ||
           (i < m->ever.count && m->ever.items[i].start < end);
}

/* Adds an allocation that no later change frees. Returns whether it is consistent. */
static bool keep_block(struct maker *m, const struct vt_change *c) {
    uint64_t end = c->address + c->bytes;
    if (!is_driver(c)) {
        VT_GROW(m->kept, m->kept_count, m->kept_room);
        m->kept[m->kept_count++] = (struct vt_pytorch_block){c->address, c->bytes, c->site, false};
        return true;
    }
    const struct vt_map_region *r = region_with(m, c->address);
    if (r)
        return c->mapping ? end <= r->address + r->bytes
                          : r->address == c->address && r->bytes == c->bytes;
    if (was_ever(m, c->address, end, true))
        return false;
    add_segment(m, (struct vt_pytorch_segment){.address = c->address,
                                               .bytes = c->bytes,
                                               .site = c->site,
                                               .of_allocator = c->segment,
                                               .expandable = c->mapping});
    return true;
}

enum { ALLOCATED = 1, FREED };

/* Chooses the device's changes, the last first, such that allocations and frees alternate at each address. */
static void choose_changes(struct maker *m, unsigned device) {
    const struct vt_timeline *t = m->process->timeline;
    struct vt_pytorch_device *d = m->made;
    struct vt_map later = {0}; /* the next change of an address */
    d->changes = vt_alloc(t->change_count, sizeof *d->changes);
    for (uint32_t i = t->change_count; i-- > 0;) {
        const struct vt_change *c = &t->changes[i];
        uint32_t now = c->alloc ? ALLOCATED : FREED;
        if (!is_of(c, device))
            continue;
        uint32_t next = vt_map_get(&later, key_of(c));
        if (next == now || (next == VT_MAP_NONE && c->alloc && !keep_block(m, c)))
            continue;
        vt_map_put(&later, key_of(c), now);
        d->changes[d->change_count++] = c;
    }
    vt_map_free(&later);
}

/* Adds segments for blocks in memory that was never recorded. */
static void house_blocks(struct maker *m) {
    struct vt_pytorch_device *d = m->made;
    struct ranges homeless = {0};
    for (uint32_t i = 0; i < d->change_count; i++) {
        const struct vt_change *c = d->changes[i];
        if (!is_driver(c) && !was_ever(m, c->address, c->address + c->bytes, false))
            append_range(&homeless, c->address, c->address + c->bytes);
    }
    vt_sort(homeless.items, homeless.count, sizeof *homeless.items, by_start);
    for (uint32_t i = 0; i < homeless.count;) {
        struct range all = homeless.items[i];
        for (i++; i < homeless.count && homeless.items[i].start <= all.end; i++)
            if (homeless.items[i].end > all.end)
                all.end = homeless.items[i].end;
        add_segment(m, (struct vt_pytorch_segment){.address = all.start,
                                                   .bytes = all.end - all.start,
                                                   .site = VT_NO_SITE,
                                                   .of_allocator = true});
    }
    free(homeless.items);
}

/* Reverts a change of driver memory. Returns whether it is consistent. */
static bool undo_driver(struct maker *m, const struct vt_change *c) {
    uint64_t end = c->address + c->bytes;
    if (!c->alloc) {
        if (overlaps(&m->homes, c->address, end))
            return false;
        insert(&m->homes, c->address, end);
        return true;
    }
    struct range *home = range_with(&m->homes, c->address);
    uint32_t block = c->address ? range_after(&m->blocks, c->address - 1) : 0;
    if (!home || home->end < end ||
        (!c->mapping && (home->start != c->address || home->end != end)) ||
        (block < m->blocks.count && m->blocks.items[block].start < end))
        return false;
    struct range was = *home;
    erase(&m->homes, home);
    if (was.start < c->address)
        insert(&m->homes, was.start, c->address);
    if (end < was.end)
        insert(&m->homes, end, was.end);
    return true;
}

static bool undo_block(struct maker *m, const struct vt_change *c) {
    uint32_t i = range_after(&m->blocks, c->address);
    bool is_there = i && m->blocks.items[i - 1].start == c->address;
    if (c->alloc) {
        if (is_there)
            erase(&m->blocks, &m->blocks.items[i - 1]);
        return is_there;
    }
    if (is_there || !range_with(&m->homes, c->address))
        return false;
    insert(&m->blocks, c->address, c->address + c->bytes);
    return true;
}

/* Goes back from the end, keeps the consistent changes, and sorts them by time. */
static void fit(struct maker *m) {
    struct vt_pytorch_device *d = m->made;
    uint32_t count = 0;
    for (uint32_t i = 0; i < d->segment_count; i++)
        append_range(&m->homes, d->segments[i].address,
                     d->segments[i].address + d->segments[i].bytes);
    for (uint32_t i = 0; i < d->segment_count; i++)
        for (uint32_t k = 0; d->segments[i].of_allocator && k < d->segments[i].count; k++) {
            const struct vt_pytorch_block *b = &d->blocks[d->segments[i].first + k];
            if (!b->idle)
                append_range(&m->blocks, b->address, b->address + b->bytes);
        }
    for (uint32_t i = 0; i < d->change_count; i++) {
        const struct vt_change *c = d->changes[i];
        if (is_driver(c) ? undo_driver(m, c) : undo_block(m, c))
            d->changes[count++] = c;
    }
    d->change_count = count;
    for (uint32_t i = 0; i < count / 2; i++) {
        const struct vt_change *c = d->changes[i];
        d->changes[i] = d->changes[count - 1 - i];
        d->changes[count - 1 - i] = c;
    }
}

void vt_pytorch_make(const struct vt_process *process, unsigned device,
                     struct vt_pytorch_device *made) {
    const struct vt_timeline *t = process->timeline;
    struct maker m = {.process = process, .made = made};
    *made = (struct vt_pytorch_device){0};
    for (uint32_t i = 0; i < t->map_count; i++)
        if (t->maps[i].device == device && t->maps[i].why == VT_MAP_END)
            m.map = &t->maps[i];
    find_ever(&m, device);
    add_map(&m);
    choose_changes(&m, device);
    house_blocks(&m);
    vt_sort(made->segments, made->segment_count, sizeof *made->segments, segments_by_address);
    vt_sort(m.kept, m.kept_count, sizeof *m.kept, by_address);
    add_blocks(&m);
    fit(&m);
    free(m.kept);
    free(m.ever.items);
    free(m.homes.items);
    free(m.blocks.items);
}

void vt_pytorch_free(struct vt_pytorch_device *made) {
    free(made->segments);
    free(made->blocks);
    free(made->changes);
}
