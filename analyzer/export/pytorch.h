/* SPDX-License-Identifier: MIT */
/*
 * A device's memory in the form of PyTorch's snapshots: the segments at the end, and the changes before. Readers of
 * snapshots go back from the end change by change, so segments and changes must be consistent: every freed block
 * existed, and each block lies in a segment.
 */
#ifndef VRAMTRACE_ANALYZER_PYTORCH_H
#define VRAMTRACE_ANALYZER_PYTORCH_H

#include "model/model.h"

struct vt_pytorch_block {
    uint64_t address, bytes;
    uint32_t site; /* VT_NO_SITE: idle, or unknown */
    bool idle;
};

struct vt_pytorch_segment {
    uint64_t address, bytes;
    uint32_t site;         /* VT_NO_SITE: unknown */
    bool of_allocator;     /* a caching allocator's; else a separate allocation: one block */
    bool expandable;       /* mapped piece by piece */
    uint32_t first, count; /* its blocks in vt_pytorch_device.blocks; they leave no gap */
};

struct vt_pytorch_device {
    struct vt_pytorch_segment *segments; /* by address */
    uint32_t segment_count, segment_room;
    struct vt_pytorch_block *blocks;
    uint32_t block_count, block_room;
    const struct vt_change **changes; /* by time */
    uint32_t change_count;
};

/* `device`: as in vt_site. Free it. */
void vt_pytorch_make(const struct vt_process *process, unsigned device,
                     struct vt_pytorch_device *made);
void vt_pytorch_free(struct vt_pytorch_device *made);

#endif
