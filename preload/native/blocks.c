/* SPDX-License-Identifier: MIT */
/*
 * Memory blocks that the search from C and C++ variables enters: finds the block at an address, marks it as entered,
 * and continues the path.
 *
 * Called by native.c, cpp_containers.c, shared.c and stacks.c.
 */
#include "native.h"

#include <string.h>

bool vt_native_is_marked(const struct vt_span *s, uintptr_t start) {
    return vt_scan_has_mark(s, start, VT_MARK_USER);
}

struct vt_span *vt_native_span_at(struct vt_native *n, uintptr_t address) {
    if (!n->near || address - n->near->start >= n->near->end - n->near->start) {
        struct vt_span *s = vt_scan_span_at(n->scan, address);
        if (!s)
            return NULL;
        n->near = s;
    }
    return n->near;
}

unsigned vt_native_block(struct vt_native *n, uintptr_t address, const struct vt_native_path *from,
                         struct vt_range *block) {
    struct vt_span *s = vt_native_span_at(n, address);
    if (!s || s->kind == VT_SPAN_ROOT || s->kind == VT_SPAN_CUDA || (n->scan->python && !s->heap) ||
        (s->opaque && !s->marked[VT_MARK_USER]))
        return 0;
    *block = (struct vt_range){s->start, s->end};
    if (s->kind == VT_SPAN_CELLS && !vt_scan_cell_at(s, address, block))
        return 0;
    if (from->theirs && s->heap && vt_scan_has_mark(s, block->start, VT_MARK_CUDA))
        return 0;
    return vt_native_is_marked(s, block->start) ? 1 : 2;
}

uint32_t vt_native_tail(struct vt_native *n, const struct vt_native_tail *as) {
    uint64_t hash = (as->shared + 1) * 0x9e3779b97f4a7c15ull;
    for (unsigned i = 0; i < as->class_count; i++)
        hash = (hash ^ as->classes[i]) * 0x9e3779b97f4a7c15ull;
    uint32_t i = (uint32_t)(hash >> 32) % VT_NATIVE_TAILS;
    for (unsigned tries = 0; tries < 64; tries++, i = (i + 1) % VT_NATIVE_TAILS) {
        struct vt_native_tail *t = &n->tails[i];
        if (i && !t->shared && !t->class_count)
            *t = *as;
        if (i && t->shared == as->shared && t->class_count == as->class_count &&
            memcmp(t->classes, as->classes, sizeof t->classes) == 0)
            return i;
    }
    n->w->in_doubt = true;
    return 0;
}

/* A vtable lies in a module's data. Most blocks' first word leads elsewhere, which is quick to check. */
static bool may_be_vtable(struct vt_native *n, uintptr_t word) {
    const struct vt_span *of = word ? vt_native_span_at(n, word) : NULL;
    return word && (!of || of->kind == VT_SPAN_ROOT);
}

/* The tail of a path that continues to a block. Adds the class of the object at the block's start or after
 * make_shared's counts. */
static uint32_t tail_to(struct vt_native *n, uintptr_t start, uint32_t from) {
    struct vt_native_tail tail = n->tails[from];
    if (tail.class_count == VT_NATIVE_CLASSES || !may_be_vtable(n, vt_owners_word(n->w, start)))
        return from;
    if (vt_class_is_shared(n->w, start))
        start += 16;
    uintptr_t vtable = vt_class_object(n->w, start);
    if (!vtable || !may_be_vtable(n, vtable) ||
        (tail.class_count && tail.classes[tail.class_count - 1] == vtable))
        return from;
    tail.classes[tail.class_count++] = vtable;
    uint32_t to = vt_native_tail(n, &tail);
    return to ? to : from;
}

uint32_t vt_native_reference(struct vt_native *n, const struct vt_native_path *from) {
    struct vt_owners *w = n->w;
    if (!from->at || from->reference == VT_REFERENCE_UNKNOWN || n->kind != VT_STEP_GLOBAL ||
        w->reference_count == VT_REFERENCES)
        return VT_REFERENCE_UNKNOWN;
    if (!w->references &&
        !(w->references = vt_owners_map(w, VT_REFERENCES * sizeof *w->references)))
        return VT_REFERENCE_UNKNOWN;
    w->reference_count += !w->reference_count; /* 0 means none */
    w->references[w->reference_count] =
        (struct vt_reference){.at = from->at, .parent = from->reference};
    return w->reference_count++;
}

void vt_native_enter(struct vt_native *n, struct vt_range block, struct vt_range part,
                     const struct vt_native_path *from) {
    struct vt_span *s = vt_native_span_at(n, block.start);
    uint64_t words = (part.end - part.start) / 8; /* 0: to the end of the mapping */
    if (vt_native_is_marked(s, block.start))
        return;
    vt_scan_set_mark(s, block.start, VT_MARK_USER);
    if (part.start >= part.end)
        return;
    if (n->last - n->first == n->room) {
        n->w->in_doubt = true;
        return;
    }
    n->w->work += 2;
    struct vt_native_waiting *p = &n->queue[n->last++ % n->room];
    *p = (struct vt_native_waiting){.start = part.start,
                                    .root = from->root,
                                    .tail = from->tail,
                                    .reference = vt_native_reference(n, from)};
    p->words = words > UINT32_MAX ? 0 : (uint32_t)words;
    p->start |= s->heap && vt_scan_has_mark(s, block.start, VT_MARK_CUDA) &&
                vt_scan_has_mark(s, block.start, VT_MARK_THEIRS);
    if (part.start == block.start && s->kind == VT_SPAN_CELLS)
        p->tail = tail_to(n, block.start, from->tail);
}
