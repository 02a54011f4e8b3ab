/* SPDX-License-Identifier: MIT */
/*
 * The caching allocators' state at each moment of the replay: which driver allocations are segments,
 * and which of their pieces are blocks in use and which are idle. The replay reports every
 * block and every change of driver memory; analysis/ and pins.c read the result.
 *
 * A segment is a driver allocation that contains or contained a block, or physical memory that is mapped at an address
 * (PyTorch's expandable segments), where adjacent mappings count as one. The reserve of a device is the sum of its
 * segments; blocks and idle pieces tile them. Blocks outside all segments do not count here: old PyTorch versions use
 * their own addresses.
 *
 * Times are ticks. Nothing here fails.
 */
#ifndef VRAMTRACE_ANALYZER_SEGMENTS_H
#define VRAMTRACE_ANALYZER_SEGMENTS_H

#include "addresses.h"
#include "model/model.h"

enum { VT_RESERVE_MOMENTS = 512 };

/* The reserve of a device's caching allocators. vt_moment.at is in ticks here. */
struct vt_reserve_device {
    struct vt_moment now;
    /* at the last request for memory on any device; frees at exit are no sign of fragmentation */
    struct vt_moment last;
    /* with the most pinned bytes up to `last`; reserved_bytes 0: none yet */
    struct vt_moment worst;
    uint64_t reserved_peak;
    struct vt_moment *moments; /* over the run, with the same number of changes between them */
    uint32_t moment_count;
    bool mapped; /* partly expandable segments */
};

/* A driver allocation. A segment if `holds`. */
struct vt_segment {
    uint64_t start, end;
    uint64_t key; /* vt_address_key of the driver allocation */
    uint8_t device;
    bool mapped;      /* mapped physical memory: joins adjacent mappings */
    bool holds;       /* contains or contained a block */
    uint8_t stream;   /* its blocks' stream: a number assigned here, see vt_segments_alloc */
    uint32_t private; /* number of its private pool, likewise; 0: none */
};

struct vt_segments;

struct vt_segments *vt_segments_open(void); /* never NULL; free with vt_segments_close */
void vt_segments_close(struct vt_segments *f);
/* Call it first. From then on only reserved and used bytes count, no idle pieces. Takes less time. */
void vt_segments_plain(struct vt_segments *f);
/* Saves or reloads all segments; *segments may be NULL (base/saved_state.h). */
void vt_segments_state(struct vt_segments **segments, struct vt_state *s);

/* Driver memory was allocated or mapped. */
void vt_segments_add(struct vt_segments *f, uint64_t start, uint64_t size, uint64_t key,
                     unsigned device, bool mapped, uint64_t ticks);

/* Called with the address of each block whose driver memory was freed, after the block was removed. The callee must
 * not change `f`. */
typedef void vt_segments_gone(void *context, uint64_t address);

/* Driver memory was freed (the allocation at `start`), or unmapped (the mappings from start to end). `gone` may be
 * NULL. */
void vt_segments_remove(struct vt_segments *f, uint64_t start, uint64_t ticks,
                        vt_segments_gone *gone, void *context);
void vt_segments_unmap(struct vt_segments *f, uint64_t start, uint64_t end, uint64_t ticks,
                       vt_segments_gone *gone, void *context);

/* Called with driver memory that becomes a segment. */
typedef void vt_segments_begun(void *context, const struct vt_segment *segment);

/* A block was allocated. Returns its segment, valid until the next change. NULL: the block lies outside known driver
 * memory, or overlaps another; it is ignored, and so is its free.
 *
 * `info`: the block's stream and private pool, from the log. The pairs are numbered from 0, the private pools from
 * 1. A pool whose segments are all gone gets a new number when its address recurs. NULL: unknown; then both numbers
 * are 0. */
const struct vt_segment *vt_segments_alloc(struct vt_segments *f, uint64_t address, uint64_t size,
                                           uint64_t ticks, const struct vt_rec_blockinfo *info,
                                           vt_segments_begun *begun, void *context);
void vt_segments_free(struct vt_segments *f, uint64_t address, uint64_t ticks);

/* The process requested memory and was refused. */
void vt_segments_asked(struct vt_segments *f);

/* Restarts the peaks and the moments. */
void vt_segments_begin_window(struct vt_segments *f, uint64_t ticks);

/* A device's figures, valid until the next change. NULL: it never had a segment. `f` may be NULL. */
const struct vt_reserve_device *vt_segments_device(struct vt_segments *f, unsigned device);

/* A segment, or adjacent mapped ones, tiled by blocks and idle pieces. */
struct vt_region {
    uint64_t start, end, key;
    unsigned device;
    bool mapped, small; /* small: of PyTorch's pool for small blocks */
    unsigned stream;
};
/* The next region by address. *at: 0 at first. False: no more. */
bool vt_segments_region(const struct vt_segments *f, size_t *at, struct vt_region *region);
/* The next driver allocation by address, segment or not; adjacent mappings stay separate here. *at: 0
 * at first. NULL: no more. Valid until the next change. */
const struct vt_segment *vt_segments_next(const struct vt_segments *f, size_t *at);
/* The driver allocation that contains an address. NULL: none. Valid until the next change. */
const struct vt_segment *vt_segments_with(const struct vt_segments *f, uint64_t address);
/* A block, or an idle piece. {0} yields a region's first piece. False: no more. */
struct vt_region_piece {
    uint64_t start, end;
    bool block;
    uint32_t row; /* internal */
};
bool vt_segments_next_piece(const struct vt_segments *f, const struct vt_region *region,
                            struct vt_region_piece *piece);
/* Bytes of wholly idle segments, which the allocator could return to the driver. */
uint64_t vt_segments_releasable(const struct vt_segments *f, unsigned device);
/* A region's bytes in use, and the size of its largest idle piece. */
void vt_segments_sum(const struct vt_segments *f, const struct vt_region *region, uint64_t *in_use,
                     uint64_t *largest);

#endif
