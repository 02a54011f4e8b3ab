/* SPDX-License-Identifier: MIT */
/*
 * The targets of a snapshot of the owners: the live allocations.
 *
 * They are collected before the memory is copied. So the copy drops targets that are no longer in its own live table:
 * another thread has freed these meanwhile, and their addresses may have been reused.
 *
 * Called by snapshot.c.
 */
#define _GNU_SOURCE
#include "copy.h"
#include "state/state.h"
#include "stack/stack.h"

#include <string.h>

struct gathering {
    struct vt_owners *w;
    uint64_t newest; /* the allocation to skip; 0: none */
    /* frameworks' blocks are collected first, then driver allocations without any block */
    bool blocks;
    uint32_t block_count, room;
};

/* Memory that a caching allocator or a CUDA library keeps by design, whatever else points to it. */
static bool is_kept_by_library(const struct vt_live *what) {
    return what->kind == VT_KIND_DEVICE && vt_stack_allocator(what->stack) != VT_ALLOCATOR_PROGRAM;
}

static void count_target(const struct vt_live *what, void *data) {
    (void)what;
    ((struct gathering *)data)->room++;
}

/* Whether a driver allocation contains one of the blocks, which are sorted. */
static bool holds_block(const struct gathering *g, const struct vt_owners_target *t) {
    const struct vt_owners_target *blocks = g->w->targets;
    uint32_t low = 0, high = g->block_count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (blocks[middle].start < t->start)
            low = middle + 1;
        else
            high = middle;
    }
    return low < g->block_count && blocks[low].start < t->end;
}

/* Skips physical memory, which has no address of its own. For an array, only the handle refers to it. */
static void add_target(const struct vt_live *what, void *data) {
    struct gathering *g = data;
    struct vt_owners *w = g->w;
    if ((what->kind == VT_KIND_BLOCK) != g->blocks || what->kind == VT_KIND_PHYSICAL ||
        what->kind == VT_KIND_PHYSICAL_HOST || (g->newest && what->address == g->newest) ||
        w->target_count == g->room)
        return;
    if (is_kept_by_library(what)) {
        w->kept_bytes += what->size;
        return;
    }
    uint64_t size = what->size;
    if (!size || what->kind == VT_KIND_ARRAY || what->kind == VT_KIND_MIPMAP)
        size = 1;
    struct vt_owners_target t = {.start = what->address,
                                 .end = what->address + size,
                                 .stack = what->stack,
                                 .kind = what->kind};
    if (g->blocks || !holds_block(g, &t))
        w->targets[w->target_count++] = t;
}

void vt_targets_gather(struct vt_owners *w, uint64_t newest) {
    struct gathering g = {.w = w, .newest = newest, .blocks = true};
    vt_live_each(count_target, &g);
    if (!g.room || !(w->targets = vt_owners_map(w, g.room * sizeof *w->targets)))
        return;
    vt_live_each(add_target, &g);
    vt_scan_sort(w->targets, w->target_count, sizeof *w->targets);
    g.block_count = w->target_count;
    g.blocks = false;
    vt_live_each(add_target, &g);
    vt_scan_sort(w->targets, w->target_count, sizeof *w->targets);
    for (uint32_t i = 0; i + 1 < w->target_count; i++)
        if (w->targets[i].end > w->targets[i + 1].start)
            w->targets[i].end = w->targets[i + 1].start;
    if (w->target_count) {
        w->target_low = w->targets[0].start;
        w->target_high = w->targets[w->target_count - 1].end;
    }
}

/* An address that the same code freed and allocated again still has the same name. */
static void note_live(const struct vt_live *what, void *data) {
    struct vt_owners_target *t = vt_owners_target_at(data, what->address);
    if (t && t->start == what->address && t->kind == what->kind && t->stack == what->stack)
        t->live = true;
}

void vt_targets_drop_freed(struct vt_owners *w) {
    uint32_t kept = 0;
    vt_live_each(note_live, w);
    for (uint32_t i = 0; i < w->target_count; i++)
        if (w->targets[i].live)
            w->targets[kept++] = w->targets[i];
    w->target_count = kept;
}
