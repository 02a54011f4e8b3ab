/* SPDX-License-Identifier: MIT */
/*
 * std::shared_ptr and std::weak_ptr look the same in memory: two words, an object and a control block. The control
 * block counts both kinds, and is recognized by its vtable's class.
 *
 * If the weak count is 0, each pair is a shared_ptr. If the strong count is 0, the object no longer exists. Otherwise
 * all pairs are put aside until everything else was searched. If more pairs were seen than the weak count, at least one
 * of them holds the object. If one variable leads to all pairs, it is the owner. If several do, all are written, with a
 * flag, because the analyzer may know the variables' types. Pairs that are reached only through the object (children
 * with a pointer to their parent) count as weak.
 *
 * Called by native.c.
 */
#include "native.h"

#define SHARED_MOST  65536u
#define SHARED_SLOTS (2 * SHARED_MOST)
#define INSIDE_MOST  512u   /* searched blocks of memory behind an object: max */
#define INSIDE_BYTES 65536u /* total bytes of these blocks: max */

struct counts {
    int32_t strong, weak;
};

/* The counts follow the vtable. */
static bool is_block(struct vt_native *n, uintptr_t at, struct counts *counts) {
    if (!vt_native_may_lead(n, at) || at & 7)
        return false;
    struct vt_span *memory = vt_scan_span_at(n->scan, at), *vtable;
    struct vt_range block;
    if (!memory || (memory->kind == VT_SPAN_CELLS && !vt_scan_cell_at(memory, at, &block)))
        return false;
    uintptr_t table = vt_owners_word(n->w, at);
    vtable = table ? vt_scan_span_at(n->scan, table) : NULL;
    return table && (!vtable || vtable->kind == VT_SPAN_ROOT) && vt_class_is_shared(n->w, at) &&
           vt_owners_read(n->w, counts, at + 8, sizeof *counts) && counts->strong >= 0 &&
           counts->weak >= 0;
}

static struct vt_native_shared *shared_at(struct vt_native *n, uintptr_t block) {
    uint32_t i = (uint32_t)((block >> 4) * 0x9e3779b1u) % SHARED_SLOTS;
    if (!n->shared_slots) {
        n->shared_slots = vt_owners_map(n->w, SHARED_SLOTS * sizeof *n->shared_slots);
        n->shared = vt_owners_map(n->w, SHARED_MOST * sizeof *n->shared);
        n->shared_count = 1;
    }
    if (!n->shared_slots || !n->shared)
        return NULL;
    for (; n->shared_slots[i]; i = (i + 1) % SHARED_SLOTS)
        if (n->shared[n->shared_slots[i]].block == block)
            return &n->shared[n->shared_slots[i]];
    if (n->shared_count == SHARED_MOST) {
        n->w->in_doubt = true;
        return NULL;
    }
    n->shared_slots[i] = n->shared_count;
    n->shared[n->shared_count] = (struct vt_native_shared){.block = block};
    return &n->shared[n->shared_count++];
}

static void add_root(struct vt_native_shared *s, uintptr_t address, enum vt_step kind) {
    for (unsigned i = 0; i < s->root_count; i++)
        if (s->roots[i].address == address)
            return;
    if (s->root_count == VT_NATIVE_ROOTS)
        return;
    s->roots[s->root_count].address = address;
    s->roots[s->root_count++].kind = kind;
}

bool vt_native_is_shared(struct vt_native *n, const uint64_t words[2],
                         const struct vt_native_path *from) {
    struct counts c;
    if (!words[0] || !is_block(n, words[1], &c))
        return false;
    if (c.weak <= 1 || c.strong == 0) {
        if (c.strong) {
            struct vt_native_path second = *from;
            second.at += second.at ? 8 : 0;
            vt_native_follow(n, words[0], from);
            vt_native_follow(n, words[1], &second);
        }
        return true;
    }
    struct vt_native_shared *s = shared_at(n, words[1]);
    if (!s || s->done)
        return true;
    s->object = s->seen ? s->object : words[0];
    s->strong = (uint32_t)c.strong;
    s->weak = (uint32_t)c.weak - 1;
    s->seen++;
    uint32_t shared = n->tails[from->tail].shared;
    if (!shared)
        add_root(s, from->root, n->kind);
    for (unsigned i = 0; shared && i < n->shared[shared].root_count; i++)
        add_root(s, n->shared[shared].roots[i].address, n->shared[shared].roots[i].kind);
    return true;
}

bool vt_native_has_weak(struct vt_native *n, uintptr_t block) {
    const struct vt_span *s = vt_scan_span_at(n->scan, block);
    struct counts c;
    if (s->kind != VT_SPAN_CELLS || !vt_scan_cells_present(s, block, block + 16))
        return false;
    uintptr_t table = s->steady ? *(const uintptr_t *)block : vt_owners_word(n->w, block);
    return table && !vt_native_may_lead(n, table) && is_block(n, block, &c) && c.strong &&
           c.weak > 1;
}

/* The memory found behind an object so far. */
struct inside {
    struct vt_range blocks[INSIDE_MOST];
    uint32_t count;
    uint64_t bytes;
};

static void reach_inside(struct vt_native *n, struct inside *in, uintptr_t word) {
    static const struct vt_native_path anybody;
    struct vt_range block;
    if (!vt_native_may_lead(n, word) || vt_native_block(n, word, &anybody, &block) != 2 ||
        in->count == INSIDE_MOST || in->bytes + (block.end - block.start) > INSIDE_BYTES)
        return;
    for (uint32_t i = 0; i < in->count; i++)
        if (in->blocks[i].start == block.start)
            return;
    in->blocks[in->count++] = block;
    in->bytes += block.end - block.start;
}

/* The number of pointers to an object that are reached only through the object itself. */
static uint32_t count_inside(struct vt_native *n, const struct vt_native_shared *s) {
    static struct inside in; /* static: the stack may be small */
    uint32_t found = 0;
    in.count = 0;
    in.bytes = 0;
    reach_inside(n, &in, s->block);
    reach_inside(n, &in, s->object);
    for (uint32_t i = 0; i < in.count; i++)
        for (uintptr_t at = in.blocks[i].start; at + 8 <= in.blocks[i].end; at += 8) {
            uintptr_t word = vt_owners_word(n->w, at);
            n->w->work += 8;
            found += word == s->block;
            reach_inside(n, &in, word);
        }
    return found;
}

/* Whether the object begins with the weak pointer of std::enable_shared_from_this. */
static bool knows_itself(struct vt_native *n, const struct vt_native_shared *s) {
    for (uintptr_t at = s->object; at <= s->object + 8; at += 8)
        if (vt_owners_word(n->w, at) == s->object && vt_owners_word(n->w, at + 8) == s->block)
            return true;
    return false;
}

static void resolve_shared(struct vt_native *n, struct vt_native_shared *s) {
    uint32_t weak = s->weak - (s->weak && knows_itself(n, s));
    struct vt_native_path path = {.reference = VT_REFERENCE_UNKNOWN};
    struct vt_native_tail tail = {.shared = (uint32_t)(s - n->shared)};
    bool in_doubt = s->seen <= weak || s->root_count > 1;
    if (s->seen <= weak) {
        uint32_t inside = count_inside(n, s) - (weak < s->weak);
        weak -= inside < weak ? inside : weak;
    }
    if (s->seen <= weak || !s->root_count)
        return;
    s->done = true;
    if (in_doubt && !(path.tail = vt_native_tail(n, &tail)))
        return;
    if (!in_doubt) {
        path.root = s->roots[0].address;
        n->kind = s->roots[0].kind;
    }
    vt_native_follow(n, s->object, &path);
    vt_native_follow(n, s->block, &path);
    vt_native_drain(n);
}

void vt_native_shared_resolve(struct vt_native *n) {
    enum vt_step kind = n->kind;
    for (bool more = true; more && vt_owners_may_continue(n->w);) {
        more = false;
        for (uint32_t i = 1; i < n->shared_count && vt_owners_may_continue(n->w); i++)
            if (!n->shared[i].done) {
                resolve_shared(n, &n->shared[i]);
                more |= n->shared[i].done;
            }
    }
    n->kind = kind;
}
