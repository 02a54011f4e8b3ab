/* SPDX-License-Identifier: MIT */
/*
 * What segments.c keeps, for it and for segments_state.c.
 */
#ifndef VRAMTRACE_ANALYZER_SEGMENTS_INSIDE_H
#define VRAMTRACE_ANALYZER_SEGMENTS_INSIDE_H

#include "cache_model.h"
#include "pieces.h"
#include "segments.h"

enum { VT_SEGMENTS_LEAF = 256, VT_SEGMENTS_STREAMS = 64, VT_SEGMENTS_NEAR = 512 };

enum { VT_SEGMENTS_PRIVATES = 1 << 22 }; /* more private pools count as the last */

/* A stream and a pool that the log names, which have a number. */
struct vt_segments_group {
    uint64_t stream, pool;
    uint32_t private;  /* the pool's number; 0: it is no private one */
    uint32_t segments; /* with this number */
    uint64_t told;     /* 0: the log does not name it */
};

struct vt_segments_leaf {
    uint32_t count;
    struct vt_segment s[VT_SEGMENTS_LEAF];
};

struct vt_device_segments {
    struct vt_reserve_device figures;
    bool used;
    uint64_t requests;        /* vt_segments.requests at the last change */
    struct vt_moment changed; /* after the last change */
    struct vt_moment worse;   /* when most was pinned since that request; pinned 0: nothing was */
    struct vt_idle_heap idle;
    uint64_t whole;           /* bytes of segments that are completely idle */
    uint64_t changes, stride; /* a moment is kept every `stride` changes */
    uint32_t moment_room;
};

struct vt_segments {
    struct vt_segments_leaf **leaves; /* segments by start */
    size_t leaf_count, leaf_room;
    struct vt_pieces pieces;
    bool plain;               /* see vt_segments_plain */
    struct vt_segment **near; /* found last, by address; NULL: none */
    struct vt_segments_group groups[VT_SEGMENTS_STREAMS];
    uint32_t privates; /* private pools so far */
    uint64_t requests; /* for memory, so far */
    struct vt_device_segments devices[256];
};

/* Whether it is of PyTorch's pool for small blocks. */
static inline bool vt_segment_is_small(const struct vt_segment *s) {
    return s->end - s->start == VT_CACHE_SMALL_SEGMENT;
}

#endif
