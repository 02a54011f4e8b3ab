/* SPDX-License-Identifier: MIT */
/*
 * What a snapshot of the owners looks for: the live allocations.
 *
 * They are gathered before the memory is copied, so what the copy's own books do not have any more is
 * left out there: another thread has freed it meanwhile, and may have got its address again.
 *
 * Called by snapshot.c.
 */
#define _GNU_SOURCE
#include "copy.h"
#include "books/books.h"
#include "stack/stack.h"

#include <string.h>

struct gathering {
    uint64_t newest; /* this one is not looked for; 0: all are */
    uint64_t kept_bytes;
    struct vt_owners_target *blocks, *others;
    uint32_t block_count, other_count, block_room, other_room;
};

/* Memory that a caching allocator or a CUDA library keeps by design is the keeper's, whatever else
 * points to it. */
static bool is_keepers(const struct vt_live *what) {
    return what->kind == VT_KIND_DEVICE && vt_stack_keeper(what->stack) != VT_KEEPER_NONE;
}

static void count_target(const struct vt_live *what, void *data) {
    struct gathering *g = data;
    ++*(what->kind == VT_KIND_BLOCK ? &g->block_room : &g->other_room);
}

/* Physical memory has no address of its own. Of an array, only the handle refers to it. */
static void take_target(const struct vt_live *what, void *data) {
    struct gathering *g = data;
    bool is_block = what->kind == VT_KIND_BLOCK;
    uint32_t *count = is_block ? &g->block_count : &g->other_count;
    if (what->kind == VT_KIND_PHYSICAL || what->kind == VT_KIND_PHYSICAL_HOST ||
        (g->newest && what->address == g->newest) ||
        *count == (is_block ? g->block_room : g->other_room))
        return;
    if (is_keepers(what)) {
        g->kept_bytes += what->size;
        return;
    }
    uint64_t size = what->size;
    if (!size || what->kind == VT_KIND_ARRAY || what->kind == VT_KIND_MIPMAP)
        size = 1;
    (is_block ? g->blocks : g->others)[(*count)++] =
        (struct vt_owners_target){.start = what->address,
                                  .end = what->address + size,
                                  .stack = what->stack,
                                  .kind = what->kind};
}

/* Whether one of the blocks, which are sorted, lies in a driver allocation. */
static bool holds_block(const struct gathering *g, const struct vt_owners_target *t) {
    uint32_t low = 0, high = g->block_count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (g->blocks[middle].start < t->start)
            low = middle + 1;
        else
            high = middle;
    }
    return low < g->block_count && g->blocks[low].start < t->end;
}

void vt_owners_gather(struct vt_owners *w, uint64_t newest) {
    struct gathering g = {.newest = newest};
    vt_live_each(count_target, &g);
    size_t room = (size_t)g.block_room + g.other_room;
    if (!room || !(w->targets = vt_owners_map(w, 2 * room * sizeof *w->targets)))
        return;
    g.blocks = w->targets + room;
    g.others = g.blocks + g.block_room;
    vt_live_each(take_target, &g);
    w->kept_bytes = g.kept_bytes;
    vt_scan_sort(g.blocks, g.block_count, sizeof *g.blocks);
    memcpy(w->targets, g.blocks, g.block_count * sizeof *g.blocks);
    w->target_count = g.block_count;
    for (uint32_t i = 0; i < g.other_count; i++)
        if (!holds_block(&g, &g.others[i]))
            w->targets[w->target_count++] = g.others[i];
    vt_scan_sort(w->targets, w->target_count, sizeof *w->targets);
    for (uint32_t i = 0; i + 1 < w->target_count; i++)
        if (w->targets[i].end > w->targets[i + 1].start)
            w->targets[i].end = w->targets[i + 1].start;
    if (w->target_count) {
        w->target_low = w->targets[0].start;
        w->target_high = w->targets[w->target_count - 1].end;
    }
}

/* One that was freed, and got again by the same code, has the same name. */
static void note_live(const struct vt_live *what, void *data) {
    struct vt_owners_target *t = vt_owners_target_at(data, what->address);
    if (t && t->start == what->address && t->kind == what->kind && t->stack == what->stack)
        t->live = true;
}

void vt_owners_drop_gone(struct vt_owners *w) {
    uint32_t kept = 0;
    vt_live_each(note_live, w);
    for (uint32_t i = 0; i < w->target_count; i++)
        if (w->targets[i].live)
            w->targets[kept++] = w->targets[i];
    w->target_count = kept;
}
