/* SPDX-License-Identifier: MIT */
/*
 * C++ containers that use only a part of their memory. Popped or cleared elements leave words behind the end, but the
 * container no longer holds their targets.
 *
 * An object counts as a container only if all of its pointers fit, and its memory has the size that the container would
 * have requested.
 *
 * Called by native.c.
 */
#include "native.h"

#define DEQUE_WORDS 10u

/* Whether a block of the C library's heap was requested with this size. */
static bool fits(struct vt_range block, uintptr_t at, uint64_t bytes) {
    uint64_t size = block.end - block.start;
    if (!bytes || bytes > size)
        return false;
    if (block.start != at) /* it has its own mapping */
        return block.start + 16 == at && bytes + 16 <= size && size - bytes < 16 + 8192;
    return bytes + 8 <= size && size - bytes <= 8 + 32;
}

/* A vector is three pointers (first, last, end of memory) in both libstdc++ and libc++. */
static unsigned enter_vector(struct vt_native *n, const uint64_t *v, struct vt_range block,
                             const struct vt_native_path *from) {
    if (v[1] < v[0] || v[2] < v[1] || !fits(block, v[0], v[2] - v[0]))
        return 0;
    vt_native_enter(n, block, (struct vt_range){v[0], v[1]}, from);
    return 3;
}

/* libstdc++'s deque iterator: current element, first and last of its node, and the node's position in the map. */
static bool is_iterator(struct vt_native *n, const uint64_t it[4], struct vt_range map) {
    return it[3] >= map.start && it[3] < map.end && !(it[3] & 7) && it[1] && it[1] <= it[0] &&
           it[0] <= it[2] && it[2] - it[1] >= 8 && vt_owners_word(n->w, it[3]) == it[1];
}

/* libstdc++'s deque: the map of nodes, its size, and two iterators. */
static unsigned enter_deque(struct vt_native *n, const uint64_t *d, struct vt_range map,
                            const struct vt_native_path *from) {
    struct vt_native_path path = *from;
    const uint64_t *first = d + 2, *last = d + 6;
    uint64_t bytes = first[2] - first[1];
    if (d[1] > VT_NATIVE_NODES || !fits(map, d[0], 8 * d[1]) || !is_iterator(n, first, map) ||
        !is_iterator(n, last, map) || first[3] > last[3] || last[2] - last[1] != bytes)
        return 0;
    vt_native_enter(n, map, (struct vt_range){d[0], d[0]}, from);
    path.reference = vt_native_reference(n, from);
    for (uint64_t at = first[3]; at <= last[3]; at += 8) {
        uint64_t node = vt_owners_word(n->w, path.at = at);
        struct vt_range block, part = {node, node + bytes};
        if (at == first[3])
            part.start = first[0];
        if (at == last[3])
            part.end = last[0];
        if (vt_native_block(n, node, from, &block) == 2 && fits(block, node, bytes))
            vt_native_enter(n, block, part, &path);
    }
    return DEQUE_WORDS;
}

unsigned vt_native_container(struct vt_native *n, const uint64_t *words, size_t count,
                             struct vt_range block, const struct vt_native_path *from) {
    unsigned done = count >= 3 ? enter_vector(n, words, block, from) : 0;
    return done || count < DEQUE_WORDS ? done : enter_deque(n, words, block, from);
}
