/* SPDX-License-Identifier: MIT */
/*
 * Segments, blocks and idle pieces (see segments.h).
 *
 * No search is needed to cut a block out of an idle piece or to join a freed block to idle neighbours, since allocators
 * put blocks at the start of an idle piece (see pieces.c). Idle pieces are never joined across a wall: the end of an
 * unmapped segment.
 *
 * A heap finds the largest idle piece of a device (see pieces.c).
 */
#include "segments.h"

#include <stdlib.h>
#include <string.h>

#include "segments_inside.h"

struct vt_segments *vt_segments_open(void) {
    struct vt_segments *f = vt_alloc(1, sizeof *f);
    vt_pieces_open(&f->pieces);
    f->near = vt_alloc(VT_SEGMENTS_NEAR, sizeof *f->near);
    return f;
}

void vt_segments_plain(struct vt_segments *f) {
    f->plain = true;
}

void vt_segments_close(struct vt_segments *f) {
    if (!f)
        return;
    for (size_t i = 0; i < f->leaf_count; i++)
        free(f->leaves[i]);
    for (unsigned i = 0; i < 256; i++) {
        struct vt_device_segments *d = &f->devices[i];
        free(d->idle.row);
        free(d->figures.moments);
    }
    free(f->leaves);
    free(f->near);
    vt_pieces_close(&f->pieces);
    free(f);
}

/* --- segments by address --- */

/* Finds the last segment that starts at or before `address`; false: none. */
static bool floor_at(const struct vt_segments *f, uint64_t address, size_t *leaf, uint32_t *at) {
    size_t low = 0, high = f->leaf_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (f->leaves[middle]->s[0].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (!low)
        return false;
    const struct vt_segments_leaf *l = f->leaves[ *leaf = low - 1];
    uint32_t a = 0, b = l->count;
    while (a < b) {
        uint32_t middle = (a + b) / 2;
        if (l->s[middle].start <= address)
            a = middle + 1;
        else
            b = middle;
    }
    *at = a - 1;
    return true;
}

static struct vt_segment *segment_with(const struct vt_segments *f, uint64_t address) {
    struct vt_segment **near = &f->near[address / VT_CACHE_SMALL_SEGMENT % VT_SEGMENTS_NEAR];
    size_t leaf;
    uint32_t at;
    if (*near && (*near)->start <= address && address < (*near)->end)
        return *near;
    if (!floor_at(f, address, &leaf, &at))
        return NULL;
    struct vt_segment *s = &f->leaves[leaf]->s[at];
    return address < s->end ? (*near = s) : NULL;
}

/* Called before segments move. */
static void forget_near(struct vt_segments *f) {
    memset(f->near, 0, VT_SEGMENTS_NEAR * sizeof(struct vt_segment *));
}

const struct vt_segment *vt_segments_with(const struct vt_segments *f, uint64_t address) {
    return segment_with(f, address);
}

static void insert_leaf(struct vt_segments *f, size_t at, struct vt_segments_leaf *leaf) {
    VT_GROW(f->leaves, f->leaf_count, f->leaf_room);
    memmove(f->leaves + at + 1, f->leaves + at, (f->leaf_count - at) * sizeof *f->leaves);
    f->leaves[at] = leaf;
    f->leaf_count++;
}

static void insert_segment(struct vt_segments *f, struct vt_segment segment) {
    size_t leaf = 0;
    uint32_t at = 0;
    forget_near(f);
    if (floor_at(f, segment.start, &leaf, &at))
        at++;
    else if (!f->leaf_count)
        insert_leaf(f, 0, vt_alloc(1, sizeof(struct vt_segments_leaf)));
    struct vt_segments_leaf *l = f->leaves[leaf];
    if (l->count == VT_SEGMENTS_LEAF) {
        struct vt_segments_leaf *upper = vt_alloc(1, sizeof *upper);
        upper->count = VT_SEGMENTS_LEAF / 2;
        l->count = VT_SEGMENTS_LEAF - VT_SEGMENTS_LEAF / 2;
        memcpy(upper->s, l->s + l->count, upper->count * sizeof *l->s);
        insert_leaf(f, leaf + 1, upper);
        if (at > l->count) {
            at -= l->count;
            l = upper;
        }
    }
    memmove(l->s + at + 1, l->s + at, (l->count - at) * sizeof *l->s);
    l->s[at] = segment;
    l->count++;
}

static void erase_segment(struct vt_segments *f, uint64_t start) {
    size_t leaf;
    uint32_t at;
    if (!floor_at(f, start, &leaf, &at))
        return;
    forget_near(f);
    struct vt_segments_leaf *l = f->leaves[leaf];
    l->count--;
    memmove(l->s + at, l->s + at + 1, (l->count - at) * sizeof *l->s);
    if (l->count)
        return;
    free(l);
    f->leaf_count--;
    memmove(f->leaves + leaf, f->leaves + leaf + 1, (f->leaf_count - leaf) * sizeof *f->leaves);
}

/* --- a device's figures --- */

static void keep_moment(struct vt_device_segments *d) {
    struct vt_reserve_device *r = &d->figures;
    if (!d->stride)
        d->stride = 1;
    if (d->changes++ % d->stride)
        return;
    if (r->moment_count == VT_RESERVE_MOMENTS) {
        for (uint32_t i = 0; i < VT_RESERVE_MOMENTS / 2; i++)
            r->moments[i] = r->moments[2 * i];
        r->moment_count /= 2;
        d->stride *= 2;
        if ((d->changes - 1) % d->stride)
            return;
    }
    *VT_ADD(r->moments, r->moment_count, d->moment_room) = r->now;
}

/* Confirms the figures as of the device's last change, if the process has requested memory since. */
static void settle(const struct vt_segments *f, struct vt_device_segments *d) {
    if (d->requests == f->requests)
        return;
    d->requests = f->requests;
    d->figures.last = d->changed;
    if (d->worse.pinned_bytes > d->figures.worst.pinned_bytes)
        d->figures.worst = d->worse;
    d->worse = (struct vt_moment){0};
}

/* Call it after every change. */
static void changed(struct vt_segments *f, unsigned device, uint64_t ticks) {
    struct vt_device_segments *d = &f->devices[device];
    struct vt_reserve_device *r = &d->figures;
    if (!d->used || f->plain)
        return;
    settle(f, d);
    r->now.at = ticks;
    r->now.largest_free_bytes = vt_idle_heap_largest(&d->idle);
    if (r->now.reserved_bytes > r->reserved_peak)
        r->reserved_peak = r->now.reserved_bytes;
    r->now.pinned_bytes = r->now.reserved_bytes - r->now.in_use_bytes - d->whole;
    if (r->now.pinned_bytes > d->worse.pinned_bytes)
        d->worse = r->now;
    d->changed = r->now;
    keep_moment(d);
}

const struct vt_reserve_device *vt_segments_device(struct vt_segments *f, unsigned device) {
    if (!f)
        return NULL;
    struct vt_device_segments *d = &f->devices[device & 0xff];
    settle(f, d);
    return d->used ? &d->figures : NULL;
}

void vt_segments_asked(struct vt_segments *f) {
    f->requests++;
}

void vt_segments_begin_window(struct vt_segments *f, uint64_t ticks) {
    for (unsigned i = 0; i < 256; i++) {
        struct vt_device_segments *d = &f->devices[i];
        struct vt_reserve_device *r = &d->figures;
        r->worst = d->worse = (struct vt_moment){0};
        r->reserved_peak = 0;
        r->moment_count = 0;
        d->changes = d->stride = 0;
        changed(f, i, ticks);
        r->last = r->now;
    }
}

/* --- pieces --- */

/* A piece becomes idle (1), or stops being idle (-1). */
static void count_idle(struct vt_segments *f, uint32_t i, int sign) {
    const struct vt_segment_piece *piece = &f->pieces.row[i];
    struct vt_device_segments *d = &f->devices[piece->device];
    uint64_t size = piece->end - piece->start;
    if (f->plain)
        return;
    if (piece->wall_before && piece->wall_after)
        d->whole += sign > 0 ? size : -size;
    (sign > 0 ? vt_idle_heap_add : vt_idle_heap_remove)(&d->idle, &f->pieces, i);
}

/* Whether piece a and the next piece b form one idle piece. */
static bool are_one(const struct vt_segments *f, uint32_t a, uint32_t b) {
    const struct vt_segment_piece *x = &f->pieces.row[a], *y = &f->pieces.row[b];
    return a && b && !x->block && !y->block && x->end == y->start && x->device == y->device &&
           !x->wall_after && !y->wall_before;
}

/* Joins a new or freed piece to its idle neighbours, unless a wall is between. */
static void make_idle(struct vt_segments *f, uint32_t i) {
    struct vt_segment_piece *row = f->pieces.row;
    uint32_t before = row[i].prev, after = row[i].next;
    row[i].block = false;
    if (are_one(f, i, after)) {
        count_idle(f, after, -1);
        row[i].end = row[after].end;
        row[i].wall_after = row[after].wall_after;
        vt_pieces_remove(&f->pieces, after);
    }
    if (are_one(f, before, i)) {
        count_idle(f, before, -1);
        row[before].end = row[i].end;
        row[before].wall_after = row[i].wall_after;
        vt_pieces_remove(&f->pieces, i);
        i = before;
    }
    count_idle(f, i, 1);
}

static void add_idle(struct vt_segments *f, uint64_t start, uint64_t end, unsigned device,
                     bool walls) {
    struct vt_segment_piece piece = {.start = start,
                                     .end = end,
                                     .device = (uint8_t)device,
                                     .wall_before = walls,
                                     .wall_after = walls};
    make_idle(f, vt_pieces_insert(&f->pieces, vt_pieces_floor(&f->pieces, start), piece));
}

/* The piece that contains `address`; 0: none. */
static uint32_t piece_with(const struct vt_segments *f, const struct vt_segment *s,
                           uint64_t address) {
    uint32_t i = vt_pieces_at(&f->pieces, address);
    if (i || !s->holds)
        return i;
    i = vt_pieces_floor(&f->pieces, address);
    return i && f->pieces.row[i].end > address ? i : 0;
}

/* --- streams --- */

/* The number of a stream and pool. If there are too many pairs, the rest share the last number. */
static unsigned find_group(struct vt_segments *f, uint64_t stream, uint64_t pool) {
    unsigned at = VT_SEGMENTS_STREAMS - 1;
    uint32_t private = 0;
    for (unsigned i = VT_SEGMENTS_STREAMS; i-- > 0;) {
        const struct vt_segments_group *group = &f->groups[i];
        if (!group->logged)
            at = i;
        else if (group->pool == pool && group->stream == stream)
            return i;
        else if (group->pool == pool)
        private = group->private;
    }
    if (pool && !private)
    private = f->privates < VT_SEGMENTS_PRIVATES - 1 ? ++f->privates : f->privates;
    if (!f->groups[at].logged)
        f->groups[at] =
            (struct vt_segments_group){stream, pool, private, f->groups[at].segments, 1};
    return at;
}

/* Called when a segment of this stream was added or removed. A private pool without segments releases its numbers. */
static void count_segment(struct vt_segments *f, unsigned stream, int sign) {
    struct vt_segments_group *group = &f->groups[stream];
    group->segments += (uint32_t)sign;
    if (!group->segments && group->private)
        *group = (struct vt_segments_group){0};
}

/* Called at the segment's first block: from now on the segment counts as reserve. */
static void begin_segment(struct vt_segments *f, struct vt_segment *s,
                          const struct vt_rec_blockinfo *info) {
    struct vt_device_segments *d = &f->devices[s->device];
    s->stream = info ? (uint8_t)find_group(f, info->stream, info->pool) : 0;
    s->private = f->groups[s->stream].private;
    count_segment(f, s->stream, 1);
    s->holds = true;
    d->used = true;
    d->figures.mapped |= s->mapped;
    d->figures.now.reserved_bytes += s->end - s->start;
    add_idle(f, s->start, s->end, s->device, !s->mapped);
}

const struct vt_segment *vt_segments_alloc(struct vt_segments *f, uint64_t address, uint64_t size,
                                           uint64_t ticks, const struct vt_rec_blockinfo *info,
                                           vt_segments_begun *begun, void *context) {
    struct vt_segment *s = segment_with(f, address);
    uint64_t end = address + size;
    if (!s || !size || end < address)
        return NULL;
    /* A block may span adjacent mappings: check that they are complete before changing any mapping. */
    for (const struct vt_segment *part = s; part->end < end;) {
        const struct vt_segment *after = segment_with(f, part->end);
        if (!part->mapped || !after || !after->mapped || after->device != s->device)
            return NULL;
        part = after;
    }
    for (struct vt_segment *part = s;; part = segment_with(f, part->end)) {
        if (!part->holds) {
            begin_segment(f, part, info);
            begun(context, part);
        }
        if (part->end >= end)
            break;
    }
    uint32_t i = piece_with(f, s, address);
    if (!i || f->pieces.row[i].block || f->pieces.row[i].end < end)
        return NULL;
    struct vt_segment_piece block = {.start = address, .end = end, .device = s->device};
    struct vt_segment_piece rest = {.start = end,
                                    .end = f->pieces.row[i].end,
                                    .device = s->device,
                                    .wall_after = f->pieces.row[i].wall_after};
    count_idle(f, i, -1);
    if (f->pieces.row[i].start < address) {
        f->pieces.row[i].end = address;
        f->pieces.row[i].wall_after = false;
        count_idle(f, i, 1);
        i = vt_pieces_insert(&f->pieces, i, block);
    }
    f->pieces.row[i].end = end;
    f->pieces.row[i].block = true;
    f->pieces.row[i].wall_after = end == rest.end && rest.wall_after;
    if (end < rest.end)
        count_idle(f, vt_pieces_insert(&f->pieces, i, rest), 1);
    f->devices[s->device].figures.now.in_use_bytes += size;
    changed(f, s->device, ticks);
    vt_segments_asked(f);
    settle(f, &f->devices[s->device]);
    return s;
}

void vt_segments_free(struct vt_segments *f, uint64_t address, uint64_t ticks) {
    uint32_t i = vt_pieces_at(&f->pieces, address);
    const struct vt_segment_piece *piece = &f->pieces.row[i];
    if (!i || !piece->block)
        return;
    unsigned device = piece->device;
    f->devices[device].figures.now.in_use_bytes -= piece->end - address;
    make_idle(f, i);
    changed(f, device, ticks);
}

/* --- driver memory --- */

void vt_segments_add(struct vt_segments *f, uint64_t start, uint64_t size, uint64_t key,
                     unsigned device, bool mapped, uint64_t ticks) {
    if (!size || start + size < start || start + size > VT_ADDRESS_MASK)
        return;
    /* the tracer missed the free or unmapping of earlier memory here */
    vt_segments_unmap(f, start, start + size, ticks, NULL, NULL);
    insert_segment(f, (struct vt_segment){.start = start,
                                          .end = start + size,
                                          .key = key,
                                          .device = (uint8_t)device,
                                          .mapped = mapped});
}

/* Removes the pieces from start to end; parts outside become idle. */
static void cut(struct vt_segments *f, const struct vt_segment *s, uint64_t start, uint64_t end,
                vt_segments_gone *gone, void *context) {
    unsigned device = s->device;
    uint32_t i = piece_with(f, s, start);
    while (i && f->pieces.row[i].start < end) {
        struct vt_segment_piece piece = f->pieces.row[i];
        if (!piece.block)
            count_idle(f, i, -1);
        vt_pieces_remove(&f->pieces, i);
        if (piece.block) {
            f->devices[device].figures.now.in_use_bytes -= piece.end - piece.start;
            if (gone)
                gone(context, piece.start);
        }
        /* no piece extends beyond its region, so these parts lie in mappings that stay */
        if (piece.start < start)
            add_idle(f, piece.start, start, device, false);
        if (piece.end > end)
            add_idle(f, end, piece.end, device, false);
        i = piece.end < end ? vt_pieces_at(&f->pieces, piece.end) : 0;
    }
}

static void remove_segment(struct vt_segments *f, uint64_t start, uint64_t end, uint64_t ticks,
                           vt_segments_gone *gone, void *context) {
    struct vt_segment *s = segment_with(f, start);
    unsigned device = s->device;
    if (s->holds) {
        cut(f, s, start, end, gone, context);
        f->devices[device].figures.now.reserved_bytes -= end - start;
    }
    bool held = s->holds;
    if (held)
        count_segment(f, s->stream, -1);
    erase_segment(f, s->start);
    if (held)
        changed(f, device, ticks);
}

void vt_segments_remove(struct vt_segments *f, uint64_t start, uint64_t ticks,
                        vt_segments_gone *gone, void *context) {
    const struct vt_segment *s = segment_with(f, start);
    if (s && s->start == start && !s->mapped)
        remove_segment(f, s->start, s->end, ticks, gone, context);
}

void vt_segments_unmap(struct vt_segments *f, uint64_t start, uint64_t end, uint64_t ticks,
                       vt_segments_gone *gone, void *context) {
    for (;;) {
        size_t leaf;
        uint32_t at;
        /* downwards from the last segment that begins before `end` */
        if (end <= start || !floor_at(f, end - 1, &leaf, &at))
            return;
        const struct vt_segment s = f->leaves[leaf]->s[at];
        if (s.end <= start)
            return;
        remove_segment(f, s.start, s.end, ticks, gone, context);
    }
}

/* --- walking --- */

bool vt_segments_region(const struct vt_segments *f, size_t *at, struct vt_region *region) {
    bool found = false;
    for (; *at < f->leaf_count * VT_SEGMENTS_LEAF; ++*at) {
        const struct vt_segments_leaf *l = f->leaves[*at / VT_SEGMENTS_LEAF];
        if (*at % VT_SEGMENTS_LEAF >= l->count) {
            *at = (*at / VT_SEGMENTS_LEAF + 1) * VT_SEGMENTS_LEAF - 1;
            continue;
        }
        const struct vt_segment *s = &l->s[*at % VT_SEGMENTS_LEAF];
        if (found && !(s->holds && s->mapped && region->mapped && s->start == region->end &&
                       s->device == region->device))
            return true;
        if (!s->holds)
            continue;
        if (!found)
            *region = (struct vt_region){
                s->start, s->end, s->key, s->device, s->mapped, vt_segment_is_small(s), s->stream};
        region->end = s->end;
        found = true;
    }
    return found;
}

const struct vt_segment *vt_segments_next(const struct vt_segments *f, size_t *at) {
    for (; *at < f->leaf_count * VT_SEGMENTS_LEAF;
         *at = (*at / VT_SEGMENTS_LEAF + 1) * VT_SEGMENTS_LEAF) {
        const struct vt_segments_leaf *l = f->leaves[*at / VT_SEGMENTS_LEAF];
        if (*at % VT_SEGMENTS_LEAF < l->count)
            return &l->s[(*at)++ % VT_SEGMENTS_LEAF];
    }
    return NULL;
}

bool vt_segments_next_piece(const struct vt_segments *f, const struct vt_region *region,
                            struct vt_region_piece *piece) {
    uint64_t start = piece->end ? piece->end : region->start;
    uint32_t i =
        piece->row ? f->pieces.row[piece->row].next : vt_pieces_at(&f->pieces, region->start);
    const struct vt_segment_piece *row = &f->pieces.row[i];
    *piece = (struct vt_region_piece){start, row->end, row->block, i};
    return i && row->start == start && start < region->end;
}

uint64_t vt_segments_releasable(const struct vt_segments *f, unsigned device) {
    uint64_t bytes = 0;
    for (size_t leaf = 0; leaf < f->leaf_count; leaf++)
        for (uint32_t at = 0; at < f->leaves[leaf]->count; at++) {
            const struct vt_segment *s = &f->leaves[leaf]->s[at];
            uint32_t i = s->holds && s->device == device ? piece_with(f, s, s->start) : 0;
            if (i && !f->pieces.row[i].block && f->pieces.row[i].end >= s->end)
                bytes += s->end - s->start;
        }
    return bytes;
}

void vt_segments_sum(const struct vt_segments *f, const struct vt_region *region, uint64_t *in_use,
                     uint64_t *largest) {
    *in_use = *largest = 0;
    for (struct vt_region_piece piece = {0}; vt_segments_next_piece(f, region, &piece);) {
        uint64_t bytes = piece.end - piece.start;
        if (piece.block)
            *in_use += bytes;
        else if (bytes > *largest)
            *largest = bytes;
    }
}
