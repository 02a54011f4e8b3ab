/* SPDX-License-Identifier: MIT */
/*
 * The state of segments.c, also for segments_state.c.
 */
#ifndef VRAMTRACE_ANALYZER_SEGMENTS_INSIDE_H
#define VRAMTRACE_ANALYZER_SEGMENTS_INSIDE_H

#include "cache_model.h"
#include "pieces.h"
#include "segments.h"

enum { VT_SEGMENTS_LEAF = 256, VT_SEGMENTS_STREAMS = 64, VT_SEGMENTS_NEAR = 512 };

enum { VT_SEGMENTS_PRIVATES = 1 << 22 }; /* further private pools share the last number */

/* A numbered pair of a stream and a pool in the log. */
struct vt_segments_group {
    uint64_t stream, pool;
    uint32_t private;  /* the pool's number; 0: not private */
    uint32_t segments; /* the number of segments with this pair */
    uint64_t logged;   /* 0: the log does not name the pool */
};

struct vt_segments_leaf {
    uint32_t count;
    struct vt_segment s[VT_SEGMENTS_LEAF];
};

struct vt_device_segments {
    struct vt_reserve_device figures;
    bool used;
    uint64_t requests;        /* vt_segments.requests at the last change */
    struct vt_moment changed; /* the state after the last change */
    struct vt_moment worse;   /* the most pinned bytes since that request; pinned 0: none */
    struct vt_idle_heap idle;
    uint64_t whole;           /* bytes of completely idle segments */
    uint64_t changes, stride; /* a moment is kept every `stride` changes */
    uint32_t moment_room;
};

struct vt_segments {
    struct vt_segments_leaf **leaves; /* segments by start */
    size_t leaf_count, leaf_room;
    struct vt_pieces pieces;
    bool plain;               /* see vt_segments_plain */
    struct vt_segment **near; /* recently found segments, by address; NULL: none */
    struct vt_segments_group groups[VT_SEGMENTS_STREAMS];
    uint32_t privates; /* private pools so far */
    uint64_t requests; /* requests for memory, so far */
    struct vt_device_segments devices[256];
};

/* Whether a segment belongs to PyTorch's pool for small blocks. */
static inline bool vt_segment_is_small(const struct vt_segment *s) {
    return s->end - s->start == VT_CACHE_SMALL_SEGMENT;
}

#endif
