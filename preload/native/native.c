/* SPDX-License-Identifier: MIT */
/*
 * Finds the allocations held by C and C++ variables. The variables' types are unknown here, so any word that looks like
 * an address is followed as one, into a heap block or to an allocation. Only the variable at the start of a path is
 * named; the analyzer finds its name by its address.
 *
 * Freed blocks are not entered. Memory that CUDA's libraries reach gives no owner, because these libraries store every
 * address. A single word never owns a framework's block, because allocators store the addresses of all their blocks. In
 * a Python process, only the user's own modules are searched, and Python's small objects are not entered: Python's
 * readers handle them.
 *
 * Opaque memory may be a table that the program mapped: the variable that points to its start holds all of it. Or it
 * may be the heap of an allocator that we do not parse (jemalloc's, a sanitizer's, a virtual machine's): a variable
 * holds one block there, and the neighbouring blocks belong to others. Words point into the middle of a heap, but to
 * the start of a table. So opaque memory is entered only if every word that points into it points to its start: words
 * of all modules' data, thread-local variables, reached blocks, and other opaque memory.
 *
 * The search is breadth first, so that the nearest variable becomes the owner. It runs only in the copy, and uses the
 * exit scan's view of memory (memory/pieces.c, memory/heap.c). Called by snapshot/snapshot.c and owners/walk.c.
 */
#define _GNU_SOURCE
#include "native.h"
#include "scan/scan.h"
#include "torch/torch.h"

#include <signal.h>
#include <string.h>

#define PAGE       4096u
#define PART       4096u
#define MANY       32u  /* words from which reading several at a time pays off */
#define FRAMES     256u /* frames of a thread: max */
#define OWN_SLOTS  4096u
#define OWN_FIRST  512u
#define OWN_EACH   17u
#define MORE_SHARE 32u /* this share of all work is spent on further owners */
#define WINDOW     ((uintptr_t)2 << 20)
#define HUGE       ((uintptr_t)1 << 40) /* a sanitizer's shadow memory */

/* Memory that is being read, and the path to it. */
struct piece {
    uintptr_t start, end;
    struct vt_native_path path;
    bool steady; /* its resident pages can be read in place */
};

/* Makes all allocations targets of the exit scan's code. */
static bool add_targets(struct vt_owners *w, struct vt_scan *scan) {
    scan->targets = vt_owners_map(w, ((size_t)w->target_count + 1) * sizeof *scan->targets);
    if (!scan->targets)
        return false;
    for (uint32_t i = 0; i < w->target_count; i++) {
        const struct vt_owners_target *t = &w->targets[i];
        scan->targets[i] = (struct vt_target){
            .start = t->start, .end = t->end, .kind = t->kind, .held = vt_target_is_held(t->kind)};
    }
    scan->target_count = w->target_count;
    scan->target_low = w->target_low;
    scan->target_high = w->target_high;
    return true;
}

__attribute__((noinline)) void vt_native_open(struct vt_owners *w) {
    const struct vt_caller caller = VT_CALLER;
    struct vt_scan *scan = vt_owners_map(w, sizeof *scan);
    if (!scan)
        return;
    w->here = (struct vt_registers){.pc = (uintptr_t)caller.to,
                                    .sp = vt_caller_sp(&caller),
                                    .fp = *(const uintptr_t *)caller.frame,
                                    .fp_known = true};
    scan->frame = (void *)w->here.sp;
    stack_t signals = {.ss_flags = SS_DISABLE};
    VT_SYS2(SYS_sigaltstack, NULL, &signals);
    if (signals.ss_flags == SS_ONSTACK)
        w->signal_stack =
            (struct vt_range){(uintptr_t)signals.ss_sp, (uintptr_t)signals.ss_sp + signals.ss_size};
    vt_scan_find_threads(scan);
    w->native = scan;
}

/* Whether the allocation has no owner yet, and a word may own it. */
static bool is_sought(const struct vt_owners_target *t) {
    return !t->node && t->kind != VT_KIND_BLOCK;
}

static uint32_t count_sought(const struct vt_owners *w, bool blocks) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < w->target_count; i++) {
        const struct vt_owners_target *t = &w->targets[i];
        n += blocks ? t->kind == VT_KIND_BLOCK && !t->node : is_sought(t);
    }
    return n;
}

/* Records the path to an allocation: its root, and the classes of the objects on it. */
static void found_from(struct vt_native *n, const struct vt_root *root,
                       const struct vt_native_tail *tail, uintptr_t start) {
    struct vt_root from = *root;
    if (from.kind == VT_STEP_GLOBAL && (!from.word || from.reference))
        from.word = from.address;
    if (from.kind == VT_STEP_THREAD_LOCAL) {
        from.line = vt_native_thread_local_at(n, from.address);
        from.word = n->shift ? from.address - n->shift : 0;
    }
    if (!vt_owners_root(n->w, &from))
        return;
    for (unsigned i = 0; i < tail->class_count && n->w->step; i++)
        n->w->step = vt_owners_step(n->w, n->w->step, &(struct vt_edge){.kind = VT_STEP_CLASS},
                                    tail->classes[i], VT_CLASS_OBJECT);
    vt_owners_edge(n->w, &(struct vt_edge){.kind = VT_STEP_NONE, .as = VT_AS_ADDRESS, .to = start});
    n->w->answer->native_roots++;
}

/* Whether an allocation that a variable reaches through the heap gets its own step, with the path's references. A
 * variable's first few allocations do, and then some at intervals. Variables with one hash are counted together. */
static bool has_own_step(struct vt_native *n, uintptr_t root) {
    if (!n->own_steps)
        n->own_steps = vt_owners_map(n->w, OWN_SLOTS * sizeof *n->own_steps);
    uint32_t *count = n->own_steps ? &n->own_steps[(root >> 3) % OWN_SLOTS] : NULL;
    if (!count || n->w->reference_steps == VT_REFERENCE_STEPS)
        return false;
    uint32_t number = (*count)++;
    return number < OWN_FIRST || (number % OWN_EACH == 0 && number < OWN_EACH * OWN_FIRST);
}

/* Whether the path begins at a different variable than the one already found for the allocation. */
static bool is_another(const struct vt_native *n, const struct vt_owners_target *t,
                       const struct vt_native_path *path) {
    const struct vt_path_step *first;
    if (!t->node || !path->root || n->kind == VT_STEP_NATIVE_STACK)
        return false;
    first = vt_step_at(n->w, vt_node_at(n->w, t->node)->step);
    return first->word && (first->kind != n->kind || first->address != path->root);
}

static void found_target(struct vt_native *n, uintptr_t address,
                         const struct vt_native_path *path) {
    const struct vt_owners_target *t = vt_owners_target_at(n->w, address);
    if (!t || (!is_sought(t) && !is_another(n, t, path)))
        return;
    if (n->kind == VT_STEP_NATIVE_STACK && t->in_opaque)
        return;
    bool sought = is_sought(t);
    const struct vt_native_tail *tail = &n->tails[path->tail];
    const struct vt_native_shared *s = tail->shared ? &n->shared[tail->shared] : NULL;
    struct vt_root root = {.level = n->w->level, .kind = n->kind, .address = path->root};
    if (n->kind == VT_STEP_GLOBAL && !s && path->reference &&
        path->reference != VT_REFERENCE_UNKNOWN) {
        root.word = VT_WORDS;
        if (has_own_step(n, path->root)) {
            root.line = ++n->w->reference_steps; /* makes the step unique */
            root.last = path->at;
            root.reference = path->reference;
        }
    }
    if (!s)
        found_from(n, &root, tail, t->start);
    for (unsigned i = 0; s && i < s->root_count; i++) {
        root.in_doubt = true;
        root.kind = s->roots[i].kind;
        root.address = s->roots[i].address;
        found_from(n, &root, tail, t->start);
    }
    if (sought && !is_sought(t) && !--n->sought)
        n->most_more_work = n->w->work + n->w->most_work / MORE_SHARE;
}

static void note_opaque(struct vt_native *n, struct vt_span *s, uintptr_t word,
                        const struct vt_native_path *from) {
    bool first = !s->pointed;
    vt_scan_note_pointed(s, word);
    if (first && !from->theirs && n->opaque_count < VT_NATIVE_OPAQUE)
        n->opaque[n->opaque_count++] =
            (struct vt_native_opaque){.start = s->start, .path = *from, .kind = n->kind};
}

/* `lone`: the word is not part of a recognized larger object. */
static void follow(struct vt_native *n, uintptr_t word, const struct vt_native_path *from,
                   bool lone) {
    struct vt_range block;
    struct vt_span *s;
    if (!vt_native_may_lead(n, word))
        return;
    if (!from->theirs)
        found_target(n, word, from);
    if ((s = vt_native_span_at(n, word)) && s->opaque)
        note_opaque(n, s, word, from);
    if (vt_native_block(n, word, from, &block) == 2 &&
        !(lone && vt_native_has_weak(n, block.start)))
        vt_native_enter(n, block, block, from);
}

void vt_native_follow(struct vt_native *n, uintptr_t word, const struct vt_native_path *from) {
    follow(n, word, from, false);
}

/* Follows the object at the first of these words (a container, a shared_ptr, or one word). Returns its number of
 * words. */
static unsigned scan_word(struct vt_native *n, const uint64_t *words, size_t count,
                          const struct vt_native_path *from) {
    struct vt_range block;
    if (n->receive) {
        n->receive(n, words[0], from->root);
        return 1;
    }
    if (count > 1 && vt_native_is_shared(n, words, from))
        return 2;
    if (count > 2 && vt_native_may_be_container(words) &&
        vt_native_block(n, words[0], from, &block) &&
        (words[0] == block.start || words[0] == block.start + 16)) {
        unsigned done = vt_native_container(n, words, count, block, from);
        if (done)
            return done;
    }
    follow(n, words[0], from, true);
    return 1;
}

/* The index of the first word, from `i` on, that may be an address. Few words are. */
VT_WIDE static size_t skip_by_four(const struct vt_native *n, const uint64_t *words, size_t i,
                                   size_t count) {
    const int64_t low = (int64_t)n->lead[0].start - 1, high = (int64_t)n->lead[0].end,
                  low2 = (int64_t)n->lead[1].start - 1, high2 = (int64_t)n->lead[1].end;
    for (; i + 4 <= count; i += 4) {
        vt_words4 w;
        memcpy(&w, words + i, sizeof w);
        unsigned mask = VT_ANY_OF(((w > low) & (w < high)) | ((w > low2) & (w < high2)));
        if (mask)
            return i + (unsigned)__builtin_ctz(mask);
    }
    return i;
}

static size_t skip_to_pointer(const struct vt_native *n, const uint64_t *words, size_t i,
                              size_t count) {
    if (count - i >= MANY && VT_WIDE_HERE)
        i = skip_by_four(n, words, i, count);
    while (i < count && !vt_native_may_lead(n, words[i]))
        i++;
    return i;
}

#define AHEAD 10u /* words of the largest object that scan_word recognizes */

/* Follows `words`, a copy of the memory at `at`, inside `p`. Returns how many words after the copy were handled as
 * well. */
static size_t scan_words(struct vt_native *n, const uint64_t *words, size_t count, uintptr_t at,
                         const struct piece *p) {
    uint64_t next[AHEAD];
    struct vt_native_path path = p->path;
    size_t i = 0;
    n->w->work += 1 + count / 16;
    while ((i = skip_to_pointer(n, words, i, count)) < count) {
        const uint64_t *from = words + i;
        size_t more = (p->end - at) / 8 - i;
        more = more < AHEAD ? more : AHEAD;
        if (i + more > count) {
            from = next;
            more = vt_owners_read(n->w, next, at + 8 * i, more * 8) ? more : 1;
            next[0] = words[i];
        }
        if (!p->path.root && !n->tails[p->path.tail].shared)
            path.root = at + 8 * i + n->shift;
        path.at = at + 8 * i;
        i += scan_word(n, from, more, &path);
    }
    return i - count;
}

/* Once everything has an owner, the search continues a little longer for other owners, because the analyzer, which
 * knows types, may reject the first. */
static bool may_continue(struct vt_native *n) {
    return (n->sought || n->w->work < n->most_more_work) && vt_owners_has_time(n->w);
}

/* Touches the pages in advance: a page's first use in a copy costs less if nothing else is read in between. */
static void touch_pages(struct vt_range run) {
    for (uintptr_t at = run.start; at < run.end; at += PAGE)
        (void)*(const volatile uint64_t *)at;
}

/* Follows the words of the resident pages, which are read in place or part by part. */
static void scan_piece(struct vt_native *n, const struct piece *p) {
    static uint64_t words[PART / 8]; /* static: the stack may be small */
    if (p->end - p->start > HUGE)
        return;
    uintptr_t done = p->start; /* handled up to here */
    for (uintptr_t at = p->start, window; at < p->end && may_continue(n); at = window) {
        window = (at & ~(WINDOW - 1)) + WINDOW;
        window = window < p->end ? window : p->end;
        struct vt_range run = {at, at};
        bool present;
        n->w->work += PART / 64;
        while (vt_scan_resident(n->scan, run.end, window, &run, &present)) {
            if (p->steady && present) {
                run.start = run.start < done ? done : run.start;
                if (!n->w->shares)
                    touch_pages(run);
                if (run.start < run.end)
                    done = run.end + 8 * scan_words(n, (const uint64_t *)run.start,
                                                    (run.end - run.start) / 8, run.start, p);
                continue;
            }
            for (uintptr_t a = run.start, end; a < run.end; a = end) {
                end = (a & ~(uintptr_t)(PART - 1)) + PART;
                end = end < run.end ? end : run.end;
                a = a < done ? done : a;
                if (a < end && vt_owners_read(n->w, words, a, end - a))
                    done = end + 8 * scan_words(n, words, (end - a) / 8, a, p);
            }
        }
    }
}

void vt_native_scan_in_place(struct vt_native *n, uintptr_t start, uintptr_t end) {
    scan_words(n, (const uint64_t *)start, (end - start) / 8, start,
               &(struct piece){.start = start, .end = end});
}

void vt_native_scan(struct vt_native *n, uintptr_t start, uintptr_t end, bool steady) {
    scan_piece(n, &(struct piece){.start = start, .end = end, .steady = steady});
}

static void scan_waiting(struct vt_native *n, struct vt_native_waiting waiting) {
    uintptr_t start = waiting.start & ~(uintptr_t)1;
    struct piece p = {.start = start,
                      .path = {.root = waiting.root,
                               .tail = waiting.tail,
                               .reference = waiting.reference,
                               .theirs = waiting.start & 1}};
    struct vt_span *s = vt_native_span_at(n, p.start);
    p.end = waiting.words ? start + 8 * (uint64_t)waiting.words : s->end;
    p.steady = s->steady;
    if (s->kind == VT_SPAN_CELLS && p.steady && vt_scan_cells_present(s, p.start, p.end))
        scan_words(n, (const uint64_t *)p.start, (p.end - p.start) / 8, p.start, &p);
    else
        scan_piece(n, &p);
}

void vt_native_drain(struct vt_native *n) {
    while (n->first < n->last && may_continue(n)) {
        const struct vt_native_waiting next = n->queue[n->first++ % n->room];
        if (n->first == n->last) /* reuse the same pages of the queue */
            n->first = n->last = 0;
        scan_waiting(n, next);
    }
    n->first = n->last = 0;
}

static void note_word(struct vt_native *n, uintptr_t word, uintptr_t at) {
    struct vt_span *s = vt_native_span_at(n, at);
    struct vt_owners_target *t = s && s->opaque ? vt_owners_target_at(n->w, word) : NULL;
    bool on_stack = vt_scan_item_at(n->apart, n->apart_count, sizeof *n->apart, at);
    if (t)
        t->in_opaque |= !on_stack;
    else if ((s = vt_native_span_at(n, word)) && s->opaque && at - s->start >= s->end - s->start)
        vt_scan_note_pointed(s, word);
}

/* Notes all words that point into opaque memory, and the targets of opaque memory's own words. */
static void note_opaque_words(struct vt_native *n) {
    struct vt_scan *scan = n->scan;
    if (!n->opaque_count || n->opaque_noted)
        return;
    n->receive = note_word;
    for (uint32_t i = 0; i < scan->span_count; i++) {
        const struct vt_span *s = &scan->spans[i];
        const struct vt_vma *v = vt_scan_item_at(scan->vmas, scan->vma_count, sizeof *v, s->start);
        bool data = (s->kind == VT_SPAN_ROOT || s->kind == VT_SPAN_CUDA) && v && !v->stack;
        if (data || s->opaque)
            vt_native_scan(n, s->start, s->end, s->steady);
    }
    n->receive = NULL;
    n->opaque_noted = true;
}

/* Enters opaque memory that is certainly one object. */
static void resolve_opaque(struct vt_native *n) {
    enum vt_step kind = n->kind;
    for (uint32_t i = 0; i < n->opaque_count && vt_owners_may_continue(n->w); i++) {
        const struct vt_native_opaque *u = &n->opaque[i];
        struct vt_span *s = vt_native_span_at(n, u->start);
        if (!vt_scan_is_one(s))
            continue;
        note_opaque_words(n);
        if (!vt_scan_is_one(s) || !vt_owners_may_continue(n->w))
            continue;
        struct vt_range block = {s->start, s->end};
        n->kind = u->kind;
        vt_native_enter(n, block, block, &u->path);
        vt_native_drain(n);
    }
    n->kind = kind;
}

static void widen_bounds(struct vt_native *n, uintptr_t start, uintptr_t end) {
    struct vt_range *r = &n->lead[end > (uintptr_t)1 << 32];
    if (r->start == r->end)
        *r = (struct vt_range){start, end};
    r->start = start < r->start ? start : r->start;
    r->end = end > r->end ? end : r->end;
}

static void set_bounds(struct vt_native *n) {
    widen_bounds(n, n->w->target_low, n->w->target_high);
    for (uint32_t i = 0; i < n->scan->span_count; i++) {
        const struct vt_span *s = &n->scan->spans[i];
        if (s->kind != VT_SPAN_ROOT && s->kind != VT_SPAN_CUDA)
            widen_bounds(n, s->start, s->end);
    }
}

/* Scans a module's data, except memory that belongs to no variable. */
static void scan_data(struct vt_native *n, const struct vt_module_data *m) {
    uintptr_t start = m->start;
    for (uint32_t i = 0; i < n->apart_count; i++) {
        const struct vt_range *r = &n->apart[i];
        if (r->start < start || r->end > m->end || r->end < r->start)
            continue;
        scan_piece(n, &(struct piece){.start = start, .end = r->start});
        start = (r->end + 7) & ~(uintptr_t)7;
    }
    scan_piece(n, &(struct piece){.start = start, .end = m->end});
}

static void search_globals(struct vt_native *n) {
    n->kind = VT_STEP_GLOBAL;
    for (uint32_t i = 0; i < n->scan->module_count; i++) {
        const struct vt_module_data *m = &n->scan->modules[i];
        if (!n->scan->python || !m->library)
            scan_data(n, m);
    }
    vt_native_drain(n);
    vt_native_shared_resolve(n);
    resolve_opaque(n);
}

static void search_thread_locals(struct vt_native *n) {
    uintptr_t *blocks = vt_owners_map(n->w, (n->scan->thread_count + 1) * sizeof *blocks);
    uint32_t count = 1;
    n->kind = VT_STEP_THREAD_LOCAL;
    if (!blocks)
        return;
    blocks[0] = vt_machine_thread_block();
    for (uint32_t i = 0; i < n->scan->thread_count; i++) {
        uintptr_t sp = n->scan->threads[i].sp;
        if (sp && sp != (uintptr_t)n->scan->frame)
            blocks[count++] = vt_scan_thread_block(n->scan, sp);
    }
    vt_native_thread_locals(n, blocks, count);
    vt_native_drain(n);
    vt_native_shared_resolve(n);
    resolve_opaque(n);
}

/* Searches a thread's frames, the outermost first: a pointer passed to a function belongs to the caller. */
static void search_stack(struct vt_native *n, struct vt_registers from,
                         struct vt_stack_frame *frames) {
    for (uint32_t i = vt_native_unwind(n->w, n->scan, from, frames, FRAMES); i-- > 0;)
        if (!frames[i].code->library)
            scan_piece(n, &(struct piece){.start = (frames[i].start + 7) & ~(uintptr_t)7,
                                          .end = frames[i].end,
                                          .path.root = frames[i].pc});
}

/* Searches frames, after all variables, because an unused slot of a frame looks like a used one. Skips allocations that
 * an opaque heap may hold. */
static void search_stacks(struct vt_native *n) {
    struct vt_stack_frame *frames = vt_owners_map(n->w, FRAMES * sizeof *frames);
    n->kind = VT_STEP_NATIVE_STACK;
    if (!frames || n->scan->python)
        return;
    note_opaque_words(n);
    search_stack(n, n->w->here, frames);
    for (uint32_t i = 0; i < n->scan->thread_count; i++) {
        const struct vt_thread_seen *t = &n->scan->threads[i];
        if (t->sp && t->sp != (uintptr_t)n->scan->frame)
            search_stack(n, (struct vt_registers){.pc = t->pc, .sp = t->sp}, frames);
    }
    for (uint32_t i = 0; i < n->fiber_count; i++)
        search_stack(n, n->fibers[i], frames);
    vt_native_drain(n);
    vt_native_shared_resolve(n);
    resolve_opaque(n);
}

static bool anything_to_search(const struct vt_scan *scan) {
    for (uint32_t i = 0; i < scan->module_count; i++)
        if (!scan->python || !scan->modules[i].library)
            return true;
    return false;
}

/* Makes the calling thread's stack begin after our own frames, which contain stale words of earlier calls. */
static void exclude_own_frames(struct vt_native *n) {
    struct vt_scan *scan = n->scan;
    struct vt_stack_frame *frames = vt_owners_map(n->w, FRAMES * sizeof *frames);
    uint32_t count = frames ? vt_native_unwind(n->w, scan, n->w->here, frames, FRAMES) : 0;
    uintptr_t inside = (uintptr_t)scan->frame, first = inside;
    for (uint32_t i = 0; i < count && vt_elf_is_ours(frames[i].pc); i++)
        first = frames[i].end + VT_RETURN_AT_CFA;
    for (uint32_t i = 0; i < scan->thread_count; i++)
        if (scan->threads[i].sp == inside)
            scan->threads[i].sp = first;
    scan->frame = (void *)first;
}

/* Prepares the search. NULL: it cannot be made. */
static struct vt_native *open_search(struct vt_owners *w) {
    struct vt_scan *scan = w->native;
    struct vt_native *n = vt_owners_map(w, sizeof *n);
    if (!n)
        return NULL;
    *n = (struct vt_native){.w = w, .scan = scan, .room = w->most_bytes / 4 / sizeof *n->queue};
    scan->alone = true;
    scan->most_work = UINT64_MAX; /* the walk counts its own work */
    scan->modules = vt_owners_map(w, VT_SCAN_RANGES * sizeof *scan->modules);
    scan->code = vt_owners_map(w, VT_SCAN_RANGES * sizeof *scan->code);
    scan->tls = vt_owners_map(w, VT_SCAN_RANGES * sizeof *scan->tls);
    n->queue = vt_owners_map(w, n->room * sizeof *n->queue);
    n->tails = vt_owners_map(w, VT_NATIVE_TAILS * sizeof *n->tails);
    n->apart = vt_owners_map(w, VT_NATIVE_APART * sizeof *n->apart);
    n->fibers = vt_owners_map(w, VT_NATIVE_FIBERS * sizeof *n->fibers);
    n->opaque = vt_owners_map(w, VT_NATIVE_OPAQUE * sizeof *n->opaque);
    if (!n->queue || !n->tails || !n->apart || !n->fibers || !n->opaque || !scan->modules ||
        !scan->code || !scan->tls || !add_targets(w, scan) || !vt_scan_read_open(scan) ||
        !vt_scan_list_maps(scan))
        return NULL;
    exclude_own_frames(n);
    if (!vt_scan_classify_maps(scan))
        return NULL;
    return n;
}

static bool cut_memory(struct vt_native *n) {
    if (n->cut)
        return true;
    n->cut = true;
    if (vt_scan_make_spans(n->scan))
        vt_scan_heap_free_lists(n->scan);
    return !n->scan->stop && vt_scan_flood_cuda(n->scan);
}

struct vt_native *vt_native_search(struct vt_owners *w) {
    if (!w->search)
        w->search = open_search(w);
    return w->search && cut_memory(w->search) ? w->search : NULL;
}

void vt_native_walk(struct vt_owners *w) {
    uint32_t sought = count_sought(w, false), blocks = count_sought(w, true);
    if (!w->copy || !w->native || !(sought || blocks))
        return;
    w->search = open_search(w);
    if (w->search && blocks)
        vt_torch_casts(w, w->native);
    if (!sought || (w->search && !anything_to_search(w->native)))
        return;
    struct vt_native *n = w->search ? vt_native_search(w) : NULL;
    if (!n) {
        w->in_doubt = true;
        return;
    }
    n->sought = sought;
    set_bounds(n);
    vt_native_find_stacks(n);
    search_globals(n);
    search_thread_locals(n);
    search_stacks(n);
}
