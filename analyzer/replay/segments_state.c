/* SPDX-License-Identifier: MIT */
/*
 * Saves and loads segments (see segments.h, base/saved_state.h). Only the ends of pieces are saved, since pieces
 * tile the segments; lists and heaps are rebuilt.
 */
#include "segments_inside.h"

static void state_segments(struct vt_segments *f, struct vt_state *s) {
    uint64_t count = 0, end = 0;
    size_t at = 0, room = f->leaf_room;
    for (size_t i = 0; i < f->leaf_count; i++)
        count += f->leaves[i]->count;
    count = vt_state_count(s, count, sizeof(struct vt_segment), sizeof count);
    for (; count && !s->bad; count--) {
        struct vt_segment row = s->loading ? (struct vt_segment){0} : *vt_segments_next(f, &at);
        VT_STATE(s, row);
        VT_STATE_BOOLS(s, &row, 1, mapped);
        VT_STATE_BOOLS(s, &row, 1, holds);
        vt_state_expect(s,
                        row.start >= end && row.end > row.start && row.end <= VT_ADDRESS_MASK &&
                            row.stream < VT_SEGMENTS_STREAMS && row.private < VT_SEGMENTS_PRIVATES,
                        "segments by address");
        end = row.end;
        if (!s->loading || s->bad)
            continue;
        f->groups[row.stream].segments += row.holds;
        struct vt_segments_leaf *last = f->leaf_count ? f->leaves[f->leaf_count - 1] : NULL;
        if (!last || last->count == VT_SEGMENTS_LEAF)
            *VT_ADD(f->leaves, f->leaf_count, room) = last = vt_alloc(1, sizeof *last);
        last->s[last->count++] = row;
    }
    f->leaf_room = room;
}

/* The pieces that begin in a segment, from *at on, the end of the piece `last`. */
static uint32_t state_pieces(struct vt_segments *f, struct vt_state *s,
                             const struct vt_segment *segment, uint64_t *at, uint32_t last) {
    while (*at < segment->end && !s->bad) {
        struct vt_segment_piece piece = {.start = *at, .device = segment->device};
        uint64_t word = 0;
        if (!s->loading) {
            last = f->pieces.row[last].next;
            word = f->pieces.row[last].end << 1 | f->pieces.row[last].block;
        }
        VT_STATE(s, word);
        piece.end = word >> 1;
        piece.block = word & 1;
        vt_state_expect(s, piece.end > *at, "the end of a piece behind its begin");
        piece.wall_before = !segment->mapped && piece.start == segment->start;
        piece.wall_after = !segment->mapped && piece.end == segment->end;
        *at = piece.end;
        if (!s->loading || s->bad)
            continue;
        last = vt_pieces_insert(&f->pieces, last, piece);
        if (!piece.block)
            vt_idle_heap_add(&f->devices[segment->device].idle, &f->pieces, last);
    }
    return last;
}

/* The pieces of all segments. A piece may extend into the next mapping of the same region. */
static void state_tiles(struct vt_segments *f, struct vt_state *s) {
    const struct vt_segment *segment, *before = NULL;
    uint64_t at = 0;
    uint32_t last = 0;
    for (size_t next = 0; (segment = vt_segments_next(f, &next)); before = segment) {
        if (before && at > before->end)
            vt_state_expect(s,
                            before->mapped && segment->mapped && segment->holds &&
                                before->end == segment->start && before->device == segment->device,
                            "pieces inside of segments");
        if (!segment->holds)
            continue;
        if (at < segment->start)
            at = segment->start;
        last = state_pieces(f, s, segment, &at, last);
    }
    vt_state_expect(s, !before || at <= before->end, "pieces inside of segments");
}

static void state_device(struct vt_device_segments *d, struct vt_state *s) {
    vt_state_bool(s, &d->used);
    if (!d->used)
        return;
    VT_STATE_BUT(s, d->figures, moments);
    VT_STATE_BOOLS(s, &d->figures, 1, mapped);
    VT_STATE_ARRAY(s, d->figures.moments, d->figures.moment_count, d->moment_room);
    VT_STATE(s, d->requests);
    VT_STATE(s, d->changed);
    VT_STATE(s, d->worse);
    VT_STATE(s, d->whole);
    VT_STATE(s, d->changes);
    VT_STATE(s, d->stride);
    vt_state_expect(s,
                    d->figures.moment_count <= VT_RESERVE_MOMENTS && d->stride < (uint64_t)1 << 48,
                    "moments of a reserve, at most 512");
}

void vt_segments_state(struct vt_segments **segments, struct vt_state *s) {
    bool there = *segments;
    VT_STATE_SECTION(s, "segments", struct vt_segment);
    vt_state_bool(s, &there);
    if (s->loading) {
        vt_segments_close(*segments);
        *segments = there ? vt_segments_open() : NULL;
    }
    if (!there)
        return;
    struct vt_segments *f = *segments;
    VT_STATE(s, f->requests);
    VT_STATE(s, f->privates);
    VT_STATE(s, f->groups);
    for (unsigned i = 0; s->loading && i < VT_SEGMENTS_STREAMS; i++)
        f->groups[i].segments = 0; /* counted again below */
    for (unsigned d = 0; d < 256; d++)
        state_device(&f->devices[d], s);
    state_segments(f, s);
    state_tiles(f, s);
}
