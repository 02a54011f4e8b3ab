/* SPDX-License-Identifier: MIT */
/*
 * What variables of C and C++ hold. Their types are not known here, so any word that looks like an
 * address is one: it leads into a block of the heap, or into an allocation. Only the variable that a
 * way begins with is named; the analyzer knows it by its address.
 *
 * A block that was freed is not entered, and what CUDA's libraries reach names nobody: they know
 * every address. No framework's block is held by a word alone, since allocators know all of theirs.
 * In a Python process, only modules of the user's own are looked at, and Python's small objects are
 * not entered: Python's readers know what these hold.
 *
 * Breadth first, so that the variable that is nearer gives its name. It runs in the copy only, with
 * what the exit scan knows of memory (scan_maps.c, scan_heap.c). Called by owners.c, owners_walk.c.
 */
#define _GNU_SOURCE
#include "owners_parts.h"
#include "scan_parts.h"

#include <string.h>

#define PART   4096u
#define FRAMES 256u /* of a thread */
#define WINDOW ((uintptr_t)2 << 20)
#define HUGE   ((uintptr_t)1 << 40) /* a sanitizer's shadow memory */

/* Memory that is still to be read, and the root that leads to it. */
struct piece {
    uintptr_t start, end, root;
    bool books; /* CUDA's libraries may reach it */
};

struct native {
    struct vt_owners *w;
    struct vt_scan *scan;
    enum vt_step kind; /* of the roots */
    uintptr_t shift;   /* from a root's word to the address that is written */
    struct piece *queue;
    size_t first, last, room;
    uintptr_t low, high; /* of all memory that a word may lead to */
};

/* The exit scan may name any allocation, so all are its targets. */
static bool take_targets(struct vt_owners *w, struct vt_scan *scan) {
    scan->targets = vt_owners_map(w, ((size_t)w->target_count + 1) * sizeof *scan->targets);
    if (!scan->targets)
        return false;
    for (uint32_t i = 0; i < w->target_count; i++) {
        const struct vt_owners_target *t = &w->targets[i];
        scan->targets[i] = (struct vt_target){
            .start = t->start,
            .end = t->end,
            .kind = t->kind,
            .held = t->kind == VT_KIND_HOST || t->kind == VT_KIND_MANAGED ||
                    t->kind == VT_KIND_POOL_HOST || t->kind == VT_KIND_POOL_MANAGED};
    }
    scan->target_count = w->target_count;
    scan->target_low = w->target_low;
    scan->target_high = w->target_high;
    return true;
}

__attribute__((noinline)) void vt_owners_native_open(struct vt_owners *w) {
    const uintptr_t *frame = __builtin_frame_address(0);
    struct vt_scan *scan = vt_owners_map(w, sizeof *scan);
    if (!scan)
        return;
    w->here = (struct vt_registers){
        .pc = frame[1], .sp = (uintptr_t)(frame + 2), .rbp = frame[0], .rbp_known = true};
    scan->frame = (void *)w->here.sp;
    vt_scan_find_threads(scan);
    w->native = scan;
}

static bool anything_is_left(const struct vt_owners *w) {
    for (uint32_t i = 0; i < w->target_count; i++)
        if (!w->targets[i].node && w->targets[i].kind != VT_KIND_BLOCK)
            return true;
    return false;
}

static void found(struct native *n, uintptr_t address, uintptr_t root) {
    const struct vt_owners_target *t = vt_owners_target_at(n->w, address);
    if (!t || t->inner || t->node || t->kind == VT_KIND_BLOCK)
        return;
    const struct vt_root r = {.level = n->w->level, .kind = n->kind, .address = root};
    if (!vt_owners_root(n->w, &r))
        return;
    vt_owners_edge(n->w,
                   &(struct vt_edge){.kind = VT_STEP_NONE, .as = VT_AS_ADDRESS, .to = t->start});
    n->w->answer->native_roots++;
}

static void enter(struct native *n, uintptr_t address, const struct piece *from) {
    struct vt_span *s = vt_scan_span_at(n->scan, address);
    if (!s || s->kind == VT_SPAN_ROOT || s->kind == VT_SPAN_BOOKS || (n->scan->python && !s->heap))
        return;
    struct vt_range r = {s->start, s->end};
    if (s->kind == VT_SPAN_CELLS && !vt_scan_cell_at(s, address, &r))
        return;
    bool books = s->heap && vt_scan_is_books(s, r.start);
    if (books && from->books)
        return;
    if (s->kind == VT_SPAN_CELLS) {
        size_t i = (r.start - s->base) / 16;
        if (vt_bit(s->bits[VT_BITS_MARK + VT_MARK_USER], i))
            return;
        vt_bit_set(s->bits[VT_BITS_MARK + VT_MARK_USER], i);
    } else {
        if (s->marked[VT_MARK_USER])
            return;
        s->marked[VT_MARK_USER] = true;
    }
    if (n->last == n->room) {
        n->w->in_doubt = true;
        return;
    }
    n->queue[n->last++] =
        (struct piece){.start = r.start, .end = r.end, .root = from->root, .books = books};
}

/* `at` is the address of the words; a root is the address of its own word. */
static void look(struct native *n, const uint64_t *words, size_t count, uintptr_t at,
                 const struct piece *from) {
    struct piece source = *from;
    for (size_t i = 0; i < count; i++) {
        if (words[i] - n->low >= n->high - n->low)
            continue;
        if (!from->root)
            source.root = at + 8 * i + n->shift;
        if (!source.books)
            found(n, words[i], source.root);
        enter(n, words[i], &source);
    }
}

/* Reads pages that are there, part by part. */
static void look_through(struct native *n, const struct piece *p) {
    static uint64_t words[PART / 8]; /* one snapshot at a time; the stack may be small */
    if (p->end - p->start > HUGE)
        return;
    for (uintptr_t at = p->start, window; at < p->end && vt_owners_goes_on(n->w); at = window) {
        window = (at & ~(WINDOW - 1)) + WINDOW;
        window = window < p->end ? window : p->end;
        struct vt_range run = {at, at};
        bool present;
        n->w->work += PART / 64;
        while (vt_scan_resident(n->scan, run.end, window, &run, &present))
            for (uintptr_t a = run.start, end; a < run.end; a = end) {
                end = (a & ~(uintptr_t)(PART - 1)) + PART;
                end = end < run.end ? end : run.end;
                if (vt_owners_read(n->w, words, a, end - a))
                    look(n, words, (end - a) / 8, a, p);
            }
    }
}

static void drain(struct native *n) {
    while (n->first < n->last && vt_owners_goes_on(n->w)) {
        const struct piece p = n->queue[n->first++];
        look_through(n, &p);
    }
    n->first = n->last = 0;
}

static void set_bounds(struct native *n) {
    n->low = n->w->target_low;
    n->high = n->w->target_high;
    for (uint32_t i = 0; i < n->scan->span_count; i++) {
        const struct vt_span *s = &n->scan->spans[i];
        if (s->kind == VT_SPAN_ROOT || s->kind == VT_SPAN_BOOKS)
            continue;
        n->low = s->start < n->low ? s->start : n->low;
        n->high = s->end > n->high ? s->end : n->high;
    }
}

static void globals(struct native *n) {
    n->kind = VT_STEP_GLOBAL;
    for (uint32_t i = 0; i < n->scan->module_count; i++) {
        const struct vt_module_data *m = &n->scan->modules[i];
        if (!n->scan->python || !m->library)
            look_through(n, &(struct piece){.start = m->start, .end = m->end});
    }
    drain(n);
}

static void thread_locals_of(struct native *n, uintptr_t block) {
    uintptr_t start = block - n->scan->tls_offset;
    struct vt_range image = n->scan->tls_image;
    if (!block)
        return;
    n->shift = image.start - start;
    look_through(n, &(struct piece){.start = (start + 7) & ~(uintptr_t)7,
                                    .end = start + (image.end - image.start)});
    n->shift = 0;
}

/* A thread-local variable's address is the one in the module, which is the same for all threads. */
static void thread_locals(struct native *n) {
    uintptr_t block;
    n->kind = VT_STEP_THREAD_LOCAL;
    if (n->scan->tls_image.end == n->scan->tls_image.start || n->scan->python)
        return;
    __asm__("mov %%fs:0, %0" : "=r"(block));
    thread_locals_of(n, block);
    for (uint32_t i = 0; i < n->scan->thread_count; i++) {
        uintptr_t sp = n->scan->threads[i].sp;
        if (sp && sp != (uintptr_t)n->scan->frame)
            thread_locals_of(n, vt_scan_thread_block(n->scan, sp));
    }
    drain(n);
}

/* A thread's frames, the outermost first: what a function was given is its caller's. */
static void stack(struct native *n, struct vt_registers from, struct vt_stack_frame *frames) {
    for (uint32_t i = vt_owners_unwind(n->w, n->scan, from, frames, FRAMES); i-- > 0;)
        if (!frames[i].code->library)
            look_through(n, &(struct piece){.start = (frames[i].start + 7) & ~(uintptr_t)7,
                                            .end = frames[i].end,
                                            .root = frames[i].pc});
}

/* What frames hold. A slot of a frame that is not in use any more looks like one that is, so
 * variables have named what is theirs before. */
static void stacks(struct native *n) {
    struct vt_stack_frame *frames = vt_owners_map(n->w, FRAMES * sizeof *frames);
    n->w->native_space = vt_owners_map(n->w, VT_OWNERS_UNWIND_SPACE);
    n->kind = VT_STEP_NATIVE_STACK;
    if (!frames || !n->w->native_space || n->scan->python)
        return;
    stack(n, n->w->here, frames);
    for (uint32_t i = 0; i < n->scan->thread_count; i++) {
        const struct vt_thread_seen *t = &n->scan->threads[i];
        if (t->sp && t->sp != (uintptr_t)n->scan->frame)
            stack(n, (struct vt_registers){.pc = t->pc, .sp = t->sp}, frames);
    }
    drain(n);
}

/* Whether there is any variable to look at. */
static bool anything_to_search(const struct vt_scan *scan) {
    for (uint32_t i = 0; i < scan->module_count; i++)
        if (!scan->python || !scan->modules[i].library)
            return true;
    return false;
}

void vt_owners_native(struct vt_owners *w) {
    struct vt_scan *scan = w->native;
    struct native n = {.w = w, .scan = scan, .room = w->most_bytes / 4 / sizeof *n.queue};
    if (!w->copy || !scan || !anything_is_left(w))
        return;
    scan->alone = true;
    scan->most_work = UINT64_MAX; /* ours is counted */
    scan->modules = vt_owners_map(w, VT_SCAN_RANGES * sizeof *scan->modules);
    scan->code = vt_owners_map(w, VT_SCAN_RANGES * sizeof *scan->code);
    n.queue = vt_owners_map(w, n.room * sizeof *n.queue);
    if (!n.queue || !scan->modules || !scan->code || !take_targets(w, scan) ||
        !vt_scan_read_open(scan) || !vt_scan_look_around(scan)) {
        w->in_doubt = true;
        return;
    }
    if (!anything_to_search(scan))
        return;
    if (vt_scan_spans(scan))
        vt_scan_heap_free_lists(scan);
    if (scan->stop || !vt_scan_flood_books(scan)) {
        w->in_doubt = true;
        return;
    }
    set_bounds(&n);
    globals(&n);
    thread_locals(&n);
    stacks(&n);
}
