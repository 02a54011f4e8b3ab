/* SPDX-License-Identifier: MIT */
/*
 * Makes the segments and changes of a device fit (see pytorch.h).
 *
 * The segments are those of the map of the end. What a log does not tell (its first events may be
 * left out, some may be lost) shows in changes that do not fit: an allocation that stays, though the
 * map does not have it, makes a segment; a second allocation without a free between them is left out;
 * and blocks that lie nowhere get a segment that was always there.
 */
#include "pytorch.h"

#include "vramtrace/log_format.h"

#include <stdlib.h>
#include <string.h>

struct range {
    uint64_t start, end;
};

struct maker {
    const struct vt_process *process;
    const struct vt_address_map *map; /* of the end; NULL: there is none */
    struct vt_pytorch_device *made;
    struct vt_pytorch_block *kept; /* blocks that the changes leave, by address */
    uint32_t kept_count, kept_room;
    struct range *homes; /* allocators' segments at a moment, by address */
    uint32_t home_count, home_room;
    struct range *homeless;
    uint32_t homeless_count, homeless_room;
};

/* The last range that begins at `address` or before it; `count`: none. */
static uint32_t range_at(const struct range *ranges, uint32_t count, uint64_t address) {
    uint32_t low = 0, high = count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (ranges[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? low - 1 : count;
}

static bool has_home(const struct maker *m, uint64_t address) {
    uint32_t i = range_at(m->homes, m->home_count, address);
    return i < m->home_count && address < m->homes[i].end;
}

static void add_home(struct maker *m, uint64_t start, uint64_t end) {
    uint32_t i = range_at(m->homes, m->home_count, start);
    VT_GROW(m->homes, m->home_count, m->home_room);
    i = i == m->home_count ? 0 : i + 1;
    memmove(&m->homes[i + 1], &m->homes[i], (m->home_count - i) * sizeof *m->homes);
    m->homes[i] = (struct range){start, end};
    m->home_count++;
}

/* Takes it out of the one that it lies in. */
static bool remove_home(struct maker *m, uint64_t start, uint64_t end) {
    uint32_t i = range_at(m->homes, m->home_count, start);
    if (i >= m->home_count || m->homes[i].end < end)
        return false;
    struct range was = m->homes[i];
    memmove(&m->homes[i], &m->homes[i + 1], (--m->home_count - i) * sizeof *m->homes);
    if (was.start < start)
        add_home(m, was.start, start);
    if (end < was.end)
        add_home(m, end, was.end);
    return true;
}

/* --- the segments of the end --- */

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

static int by_start(const void *a, const void *b) {
    const struct range *x = a, *y = b;
    return VT_ORDER({x->start, y->start}, {x->end, y->end});
}

static int segments_by_address(const void *a, const void *b) {
    const struct vt_pytorch_segment *x = a, *y = b;
    return VT_ORDER({x->address, y->address});
}

/* The first of the kept blocks that does not begin before `address`. */
static uint32_t kept_from(const struct maker *m, uint64_t address) {
    uint32_t low = 0, high = m->kept_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (m->kept[middle].address < address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Tiles a stretch with the blocks that the changes leave; `used` bytes more of it are in use, nobody
 * knows where. */
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

/* Gives the segments their blocks. Those of the map come with pieces. */
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

static uint64_t key_of(const struct vt_change *c) {
    return c->address * 2 + (c->layer == VT_LAYER_FRAMEWORK);
}

/* Whether the map has driver memory that begins there. */
static bool in_map(const struct maker *m, uint64_t address) {
    uint32_t low = 0, high = m->map ? m->map->region_count : 0;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const struct vt_map_region *r = &m->map->regions[middle];
        if (r->address > address)
            high = middle;
        else if (address >= r->address + r->bytes)
            low = middle + 1;
        else
            return true;
    }
    return false;
}

/* An allocation that no later change frees. */
static void keep(struct maker *m, const struct vt_change *c) {
    if (c->layer == VT_LAYER_FRAMEWORK) {
        VT_GROW(m->kept, m->kept_count, m->kept_room);
        m->kept[m->kept_count++] = (struct vt_pytorch_block){c->address, c->bytes, c->site, false};
    } else if (!in_map(m, c->address)) {
        add_segment(m, (struct vt_pytorch_segment){.address = c->address,
                                                   .bytes = c->bytes,
                                                   .site = c->site,
                                                   .of_allocator = c->segment,
                                                   .expandable = c->mapping});
    }
}

enum { ALLOCATED = 1, FREED };

/* Chooses the device's changes of which each address has an allocation and a free in turn. */
static void choose_changes(struct maker *m, unsigned device) {
    const struct vt_timeline *t = m->process->timeline;
    struct vt_pytorch_device *d = m->made;
    struct vt_map later = {0}; /* the next change of an address */
    d->changes = vt_alloc(t->change_count, sizeof *d->changes);
    for (uint32_t i = t->change_count; i-- > 0;) {
        const struct vt_change *c = &t->changes[i];
        if (c->device != device || !c->bytes || c->unplaced ||
            (c->layer != VT_LAYER_DRIVER && c->layer != VT_LAYER_FRAMEWORK))
            continue;
        uint32_t next = vt_map_get(&later, key_of(c)), now = c->alloc ? ALLOCATED : FREED;
        if (next == now || (next == VT_MAP_NONE && !c->alloc && c->layer == VT_LAYER_DRIVER &&
                            !c->segment && in_map(m, c->address)))
            continue;
        if (next == VT_MAP_NONE && c->alloc)
            keep(m, c);
        vt_map_put(&later, key_of(c), now);
        d->changes[d->change_count++] = c;
    }
    vt_map_free(&later);
    for (uint32_t i = 0; i < d->change_count / 2; i++) {
        const struct vt_change *c = d->changes[i];
        d->changes[i] = d->changes[d->change_count - 1 - i];
        d->changes[d->change_count - 1 - i] = c;
    }
}

/* Goes back from the end, and finds the blocks that are in no segment. */
static void find_homeless(struct maker *m) {
    struct vt_pytorch_device *d = m->made;
    for (uint32_t i = 0; i < d->segment_count; i++)
        if (d->segments[i].of_allocator)
            add_home(m, d->segments[i].address, d->segments[i].address + d->segments[i].bytes);
    for (uint32_t i = d->change_count; i-- > 0;) {
        const struct vt_change *c = d->changes[i];
        uint64_t end = c->address + c->bytes;
        if (c->layer == VT_LAYER_FRAMEWORK && !has_home(m, c->address)) {
            VT_GROW(m->homeless, m->homeless_count, m->homeless_room);
            m->homeless[m->homeless_count++] = (struct range){c->address, end};
        } else if (c->layer == VT_LAYER_DRIVER && c->segment && !c->alloc) {
            add_home(m, c->address, end);
        } else if (c->layer == VT_LAYER_DRIVER && c->segment && !remove_home(m, c->address, end)) {
            d->changes[i] = NULL;
        }
    }
    uint32_t count = 0;
    for (uint32_t i = 0; i < d->change_count; i++)
        if (d->changes[i])
            d->changes[count++] = d->changes[i];
    d->change_count = count;
}

static void house_homeless(struct maker *m) {
    vt_sort(m->homeless, m->homeless_count, sizeof *m->homeless, by_start);
    for (uint32_t i = 0; i < m->homeless_count;) {
        struct range all = m->homeless[i];
        for (i++; i < m->homeless_count && m->homeless[i].start <= all.end; i++)
            if (m->homeless[i].end > all.end)
                all.end = m->homeless[i].end;
        add_segment(m, (struct vt_pytorch_segment){.address = all.start,
                                                   .bytes = all.end - all.start,
                                                   .site = VT_NO_SITE,
                                                   .of_allocator = true});
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
    add_map(&m);
    choose_changes(&m, device);
    vt_sort(made->segments, made->segment_count, sizeof *made->segments, segments_by_address);
    vt_sort(m.kept, m.kept_count, sizeof *m.kept, by_address);
    find_homeless(&m);
    house_homeless(&m);
    vt_sort(made->segments, made->segment_count, sizeof *made->segments, segments_by_address);
    add_blocks(&m);
    free(m.kept);
    free(m.homes);
    free(m.homeless);
}

void vt_pytorch_free(struct vt_pytorch_device *made) {
    free(made->segments);
    free(made->blocks);
    free(made->changes);
}
