/* SPDX-License-Identifier: MIT */
/*
 * Inside the caching allocators: which driver allocations are their segments, which pieces of those
 * are handed out as blocks and which are idle, at each moment of the replay. replay.c tells it of
 * every block and every change of driver memory; fragmentation.c and oom.c ask it.
 *
 * A segment is a driver allocation in which a block has lain since it was made, or physical memory
 * mapped at an address (PyTorch's expandable segments), where neighbours count as one. The reserve
 * of a device is its segments; blocks and idle pieces tile them. Blocks that lie in no segment (old
 * versions name a block by an address of their own) keep out of these figures.
 *
 * Bytes are bytes, times are ticks. Nothing here fails.
 */
#ifndef VRAMTRACE_ANALYZER_SEGMENTS_H
#define VRAMTRACE_ANALYZER_SEGMENTS_H

#include "addresses.h"

/* Memory in the hands of a device's caching allocators, at one moment. */
struct vt_reserve {
    uint64_t ticks;
    uint64_t reserved, in_use; /* segments, and the blocks in them */
    uint64_t largest;          /* the largest idle piece */
    uint64_t pinned; /* idle in segments that cannot be given back for the blocks in them */
};

enum { VT_RESERVE_MOMENTS = 512 };

struct vt_reserve_device {
    struct vt_reserve now;
    struct vt_reserve worst; /* when most was pinned; reserved 0: nothing ever was */
    uint64_t reserved_peak;
    struct vt_reserve *moments; /* of the whole run, evenly many changes apart */
    uint32_t moment_count;
    bool mapped; /* some of it was mapped piece by piece: expandable segments */
};

/* A driver allocation, as its caching allocator's segment or not. */
struct vt_segment {
    uint64_t start, end;
    uint64_t key; /* vt_address_key of the driver allocation */
    uint8_t device;
    bool mapped; /* physical memory mapped here: it has no wall towards its neighbours */
    bool holds;  /* a block has lain in it */
};

struct vt_segments;

struct vt_segments *vt_segments_open(void); /* never NULL */
void vt_segments_close(struct vt_segments *f);

/* Driver memory comes. */
void vt_segments_add(struct vt_segments *f, uint64_t start, uint64_t size, uint64_t key,
                     unsigned device, bool mapped, uint64_t ticks);

/* Called with the address of each block that its memory was taken from, after it is off the books
 * here. It must not change `f`. */
typedef void vt_segments_gone(void *context, uint64_t address);

/* Driver memory goes: the allocation that begins at `start`; the mappings between start and end. */
void vt_segments_remove(struct vt_segments *f, uint64_t start, uint64_t ticks,
                        vt_segments_gone *gone, void *context);
void vt_segments_unmap(struct vt_segments *f, uint64_t start, uint64_t end, uint64_t ticks,
                       vt_segments_gone *gone, void *context);

/* A block comes. The segment it lies in, valid until the next change; `first`: the first block in
 * it. NULL: it lies in no segment, or where a block is already: it is not on the books here, and
 * freeing it does nothing. */
const struct vt_segment *vt_segments_alloc(struct vt_segments *f, uint64_t address, uint64_t size,
                                           uint64_t ticks, bool *first);
void vt_segments_free(struct vt_segments *f, uint64_t address, uint64_t ticks);

/* The peaks and the history begin anew. */
void vt_segments_begin_window(struct vt_segments *f, uint64_t ticks);

/* A device's figures. NULL: it never had a segment. Valid until the next change. */
const struct vt_reserve_device *vt_segments_device(struct vt_segments *f, unsigned device);

/* A segment, or mapped ones that touch: what blocks and idle pieces tile. */
struct vt_region {
    uint64_t start, end, key;
    unsigned device;
    bool mapped;
};
/* Walks the regions by address. `at`: 0 at first. False: no more. */
bool vt_segments_region(const struct vt_segments *f, size_t *at, struct vt_region *region);
/* The piece that begins at `start`: its end, and whether it is a block. 0: none begins there. */
uint64_t vt_segments_piece(const struct vt_segments *f, uint64_t start, bool *block);
/* A region's bytes in use, and its largest idle piece. */
void vt_segments_sum(const struct vt_segments *f, const struct vt_region *region, uint64_t *in_use,
                     uint64_t *largest);

#endif
