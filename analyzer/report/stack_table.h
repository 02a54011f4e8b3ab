/* SPDX-License-Identifier: MIT */
/*
 * The stacks of one process, each numbered once, and likewise their frames. A million call sites share most frames,
 * so outputs for programs write each once and refer to it by number. Frames inside the Python interpreter are
 * skipped, except with `native`.
 */
#ifndef VRAMTRACE_ANALYZER_STACK_TABLE_H
#define VRAMTRACE_ANALYZER_STACK_TABLE_H

#include "model/model.h"

/* Initialize as {.native = ..., .most_frames = ...}. */
struct vt_stack_table {
    bool native;
    uint32_t most_frames; /* 0: no bound */
    const struct vt_frame **frames;
    const struct vt_stack **stacks;
    uint32_t frame_count, frame_room, stack_count, stack_room;
    struct vt_map frame_by_address, frame_by_hash, stack_by_hash;
};

/* A stack's number in `stacks`; VT_MAP_NONE: the table has its most frames. */
uint32_t vt_stack_table_add(struct vt_stack_table *t, const struct vt_stack *stack);

/* Writes a stack of the table as a list of numbers in `frames`. */
void vt_stack_table_write(struct vt_stack_table *t, struct vt_json *j, uint32_t number);

void vt_stack_table_free(struct vt_stack_table *t);

#endif
