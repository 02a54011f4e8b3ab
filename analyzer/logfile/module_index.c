/* SPDX-License-Identifier: MIT */
/*
 * Modules by address and time (see log_tables.h): a segment tree. The edges of all modules divide the addresses into
 * spans, which are the tree's leaves. A module is listed at the few nodes that together cover its spans, and each
 * node's list is sorted by time. So a look-up takes a binary search at each node above one leaf, however many modules
 * overlap or shared an address over time.
 */
#include "log_tables.h"

#include <stdlib.h>

struct vt_module_index {
    const struct vt_log_module *modules;
    uint64_t *edges; /* sorted; span i lies between edges i and i + 1 */
    size_t edge_count;
    size_t *ends; /* where each node's list in `listed` ends, and the next one begins */
    uint32_t *listed;
};

static int compare_times(const void *a, const void *b) {
    const struct vt_log_module *x = *(const struct vt_log_module *const *)a;
    const struct vt_log_module *y = *(const struct vt_log_module *const *)b;
    return VT_ORDER({x->ticks, y->ticks}, {(uintptr_t)x, (uintptr_t)y}); /* then by index */
}

static size_t edges_up_to(const struct vt_module_index *index, uint64_t address) {
    size_t low = 0, high = index->edge_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (index->edges[middle] <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Counts a module at the nodes that it covers; with `fill`, lists it there. */
static void cover(struct vt_module_index *index, const struct vt_log_module *m, bool fill) {
    if (m->start >= m->end)
        return;
    size_t low = index->edge_count + edges_up_to(index, m->start) - 1;
    size_t high = index->edge_count + edges_up_to(index, m->end) - 1;
    size_t nodes[128], count = 0;
    for (; low < high; low /= 2, high /= 2) {
        if (low & 1)
            nodes[count++] = low++;
        if (high & 1)
            nodes[count++] = --high;
    }
    while (count-- > 0) {
        size_t *end = &index->ends[nodes[count]];
        if (fill)
            index->listed[*end] = (uint32_t)(m - index->modules);
        ++*end;
    }
}

struct vt_module_index *vt_module_index_make(const struct vt_log_module *modules, size_t count) {
    struct vt_module_index *index = vt_alloc(1, sizeof *index);
    VT_SCOPED const struct vt_log_module **order = vt_alloc(count, sizeof *order);
    index->modules = modules;
    index->edges = vt_alloc(count, 2 * sizeof *index->edges);
    for (size_t i = 0; i < count; i++) {
        order[i] = &modules[i];
        index->edges[2 * i] = modules[i].start;
        index->edges[2 * i + 1] = modules[i].end;
    }
    vt_sort_words(index->edges, 2 * count);
    vt_sort(order, count, sizeof *order, compare_times);
    for (size_t i = 0; i < 2 * count; i++)
        if (!i || index->edges[i] != index->edges[index->edge_count - 1])
            index->edges[index->edge_count++] = index->edges[i];
    size_t nodes = 2 * index->edge_count, sum = 0;
    index->ends = vt_alloc(nodes, sizeof *index->ends);
    for (size_t i = 0; i < count; i++)
        cover(index, order[i], false);
    for (size_t i = 0; i < nodes; i++) {
        size_t here = index->ends[i];
        index->ends[i] = sum; /* the list's start, which moves to its end while it is filled */
        sum += here;
    }
    index->listed = vt_alloc(sum, sizeof *index->listed);
    for (size_t i = 0; i < count; i++)
        cover(index, order[i], true);
    return index;
}

/* The index in a node's list of the first module seen after `ticks`. */
static size_t first_after(const struct vt_module_index *index, size_t low, size_t high,
                          uint64_t ticks) {
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (index->modules[index->listed[middle]].ticks <= ticks)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

uint32_t vt_module_index_at(const struct vt_module_index *index, uint64_t address, uint64_t ticks) {
    uint32_t before = VT_MAP_NONE, after = VT_MAP_NONE;
    size_t span = edges_up_to(index, address);
    if (!span || span == index->edge_count)
        return VT_MAP_NONE;
    for (size_t node = index->edge_count + span - 1; node; node /= 2) {
        const struct vt_log_module *m = index->modules;
        size_t start = index->ends[node - 1], end = index->ends[node];
        size_t at = first_after(index, start, end, ticks);
        uint32_t found = at > start ? index->listed[at - 1] : VT_MAP_NONE;
        if (found != VT_MAP_NONE && (before == VT_MAP_NONE || m[found].ticks >= m[before].ticks))
            before = found;
        found = at < end ? index->listed[at] : VT_MAP_NONE;
        if (found != VT_MAP_NONE && (after == VT_MAP_NONE || m[found].ticks < m[after].ticks))
            after = found;
    }
    return before != VT_MAP_NONE ? before : after;
}

void vt_module_index_free(struct vt_module_index *index) {
    if (!index)
        return;
    free(index->edges);
    free(index->ends);
    free(index->listed);
    free(index);
}
