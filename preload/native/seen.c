/* SPDX-License-Identifier: MIT */
/*
 * Where memory without an owner was seen last: what has no named path to it. Asked for after all else.
 *
 * Memory that the search for owners did not come to is read once more, for words that point to such
 * an allocation. What they lie in is all that can be said: a block of the heap, an object of a class
 * that its vtable or its Python type names, a library's data, a mapping, a stack. Such a word may be
 * left over from what was long given up, so it makes no owner: its step is VT_STEP_SEEN. Where a block
 * has no class, the memory is read again for what points to the block, a few times at most. Where several
 * words point there, the one counts that says most, whatever the layout of the memory (weight_of).
 *
 * A framework's block is seen only in objects of a class: its allocator's own tables know all of them.
 *
 * Called by owners/walk.c, with what native.c knows of memory.
 */
#define _GNU_SOURCE
#include "native.h"
#include "pyobjects/pyobjects.h"

#include <string.h>

#define HOPS_MOST 65536u
#define PASSES    4u

enum sort { STACK = 1, MAPPING, PINNED, DATA, BLOCK, OBJECT };

static const char *const sorts[] = {[STACK] = "stack", [MAPPING] = "mapping", [PINNED] = "pinned",
                                    [DATA] = "data",   [BLOCK] = "block",     [OBJECT] = "object"};

/* What a word lies in. */
struct hop {
    uintptr_t start, end;
    uint32_t up; /* the hop that points to it; 0: none */
    uint8_t up_weight;
    uint32_t node; /* the Python object that it is, if a way leads to it */
    uint32_t file; /* MAPPING: which of the files' names; 0: none is mapped there */
    uint64_t type; /* OBJECT: its vtable or Python type */
    uint8_t class_;
    bool opaque;                 /* of Python, of which no more is known */
    uintptr_t object, words_end; /* of Python: it, and where its words end; 0: it is none */
    uint8_t sort;                /* the better, the greater */
};

/* A hop that is looked for, by its place. */
struct wanted {
    uintptr_t start, end;
    uint64_t hop;
};

/* What a target was seen in. */
struct sight {
    uint32_t hop;
    uint8_t weight;
};

struct vt_native_seen {
    struct hop *hops;
    struct sight *of_target; /* by the target's index */
    struct wanted *wanted;
    uint32_t hop_count, wanted_count, pass;
    char (*files)[VT_OWNERS_TEXT_MOST + 1]; /* names of mapped files, their ends if they are long */
    /* the memory that is being read */
    struct hop place;
    uint32_t hop; /* the place's; 0: not made yet */
};

/* --- what a word lies in --- */

/* The node of an object that a way leads to. The dict of a module is none, since the module's names are. */
static uint32_t node_of(const struct vt_owners *w, uintptr_t object,
                        const struct vt_owners_type *type) {
    uint32_t node = vt_owners_node_at(w, object), step = node ? vt_node_at(w, node)->step : 0;
    while (step && vt_step_at(w, step)->parent)
        step = vt_step_at(w, step)->parent;
    bool unreached = step && vt_step_at(w, step)->kind == VT_STEP_UNREACHED;
    return unreached && type->reader == VT_PYREAD_DICT ? 0 : node;
}

static bool is_python(struct vt_native *n, uintptr_t object, uintptr_t end, struct hop *place) {
    const struct vt_owners_type *type;
    uint64_t head[3];
    if (object + sizeof head > end || !vt_owners_read(n->w, head, object, sizeof head) ||
        !head[0] || !(type = vt_owners_type_known(n->w, head[1])))
        return false;
    place->node = node_of(n->w, object, type);
    place->type = type->address;
    place->opaque = type->reader == VT_PYREAD_PLAIN && !(type->flags & VT_PYFLAG_UNICODE);
    place->object = object;
    place->words_end = object + (uintptr_t)type->basic_size;
    if (type->item_size > 0 && head[2] < UINT32_MAX)
        place->words_end += (uintptr_t)type->item_size * head[2];
    return true;
}

/* Whether a block is an object of a class that is known. Python's may have words before them: the
 * collector's links, and where the dict and weak references are. */
static bool is_object(struct vt_native *n, struct hop *place) {
    uintptr_t vtable = vt_class_object(n->w, place->start);
    const struct vt_span *of = vtable ? vt_scan_span_at(n->scan, vtable) : NULL;
    if (vtable && (!of || of->kind == VT_SPAN_ROOT)) {
        place->type = vtable;
        place->class_ = VT_CLASS_OBJECT;
        return true;
    }
    for (unsigned before = 0; n->scan->python && before <= 32; before += 16)
        if (is_python(n, place->start + before, place->end, place))
            return true;
    return false;
}

static bool is_data(const struct vt_native *n, uintptr_t at) {
    for (uint32_t i = 0; i < n->scan->module_count; i++)
        if (at - n->scan->modules[i].start < n->scan->modules[i].end - n->scan->modules[i].start)
            return true;
    return false;
}

static bool is_thread_local(struct vt_native *n, uintptr_t at) {
    uintptr_t block = vt_machine_thread_block(), storage = n->scan->tls_bytes,
              below = vt_machine_thread_below(storage), above = vt_machine_thread_above(storage);
    for (uint32_t i = 0; i <= n->scan->thread_count; i++) {
        if (block && at - (block - below) < below + above)
            return true;
        if (i < n->scan->thread_count)
            block = vt_scan_thread_block(n->scan, n->scan->threads[i].sp);
    }
    return false;
}

#define LINKS 16u /* bytes before an object: the collector's, which say nothing */

/* Whether a word is an object's own. Behind the end of one of Python's, and in the collector's links before
 * it, lies what was there before, or a neighbour. */
static bool is_own_word(const struct hop *place, uintptr_t at) {
    return !place->object ||
           (at >= place->object ? at + 8 <= place->words_end : at + 8 <= place->object - LINKS);
}

/* The place's hop, once something was seen there. Each word of a library's data is one. 0: none. */
static uint32_t hop_here(struct vt_native *n, uintptr_t at) {
    struct vt_native_seen *s = n->seen;
    struct hop *place = &s->place;
    if (!s->hop && place->sort == BLOCK && is_object(n, place))
        place->sort = OBJECT;
    /* Python's readers know its own objects. */
    if (!is_own_word(place, at) || (place->object && !place->opaque && s->pass == 0))
        return 0;
    if (s->hop)
        return s->hop;
    if (s->hop_count == HOPS_MOST)
        return 0;
    struct hop new = *place;
    if (place->sort == STACK && is_thread_local(n, at))
        return 0; /* whose it is, is not known: CUDA's, or ours */
    if (place->sort == STACK && is_data(n, at)) {
        new.sort = DATA;
        new.start = at;
        new.end = at + 8;
    } else if (place->sort == MAPPING && vt_owners_target_at(n->w, at)) {
        new.sort = place->sort = PINNED;
    }
    s->hops[s->hop_count] = new;
    return new.sort == place->sort ? (s->hop = s->hop_count++) : s->hop_count++;
}

/* How much a word in a hop says: its sort before all, then whether it is something that is told, then whether
 * the word is the address itself, as a holder has it. */
static uint8_t weight_of(const struct hop *h, bool exact) {
    bool told = h->node || h->class_ || h->opaque;
    return (uint8_t)(h->sort * 4 + 2 * told + exact);
}

/* --- reading --- */

static void take_word(struct vt_native *n, uintptr_t word, uintptr_t at) {
    struct vt_native_seen *s = n->seen;
    if (s->pass == 0) {
        const struct vt_owners_target *t = vt_owners_target_at(n->w, word);
        if (!t || t->node || at - t->start < t->end - t->start ||
            (t->kind == VT_KIND_BLOCK && s->place.sort < BLOCK))
            return;
        uint32_t hop = hop_here(n, at);
        struct sight *to = &s->of_target[t - n->w->targets];
        uint8_t weight = weight_of(&s->hops[hop], word == t->start), sort = s->hops[hop].sort;
        if (t->in_unknown && (sort == STACK || sort == DATA)) /* that is left over, perhaps */
            return;
        if (hop && weight > to->weight && (t->kind != VT_KIND_BLOCK || s->hops[hop].sort == OBJECT))
            *to = (struct sight){hop, weight};
        return;
    }
    const struct wanted *w = vt_scan_around(s->wanted, s->wanted_count, sizeof *s->wanted, word);
    if (!w || w->start == s->place.start)
        return;
    uint32_t hop = hop_here(n, at);
    struct hop *to = &s->hops[w->hop];
    /* malloc's own words may come first */
    bool exact = to->object ? word == to->object : word == to->start || word == to->start + 16;
    uint8_t weight = weight_of(&s->hops[hop], exact);
    if (hop && weight > to->up_weight) {
        to->up = hop;
        to->up_weight = weight;
    }
}

static void begin_place(struct vt_native *n, uintptr_t start, uintptr_t end, enum sort sort) {
    n->seen->place = (struct hop){.start = start, .end = end, .sort = (uint8_t)sort};
    n->seen->hop = 0;
}

static void read_place(struct vt_native *n, uintptr_t start, uintptr_t end, enum sort sort,
                       bool steady) {
    begin_place(n, start, end, sort);
    vt_native_look_through(n, start, end, steady);
}

/* The cells in use that the search has not come to. */
static void read_cells(struct vt_native *n, struct vt_span *s) {
    const uint64_t *bits = s->bits[VT_BITS_START];
    size_t first = (s->start - s->base) / 16, last = (s->end - s->base + 15) / 16;
    for (size_t word = first / 64; word * 64 < last && vt_owners_goes_on(n->w); word++)
        for (uint64_t left = bits[word]; left; left &= left - 1) {
            size_t i = word * 64 + (size_t)__builtin_ctzll(left);
            struct vt_range cell;
            if (i < first || i >= last || vt_bit(s->bits[VT_BITS_DEAD], i) ||
                vt_native_is_marked(s, s->base + 16 * i) ||
                (s->heap && vt_scan_has(s, s->base + 16 * i, VT_MARK_BOOKS)) ||
                !vt_scan_cell_at(s, s->base + 16 * i, &cell))
                continue;
            if (s->steady && vt_scan_cells_present(s, cell.start, cell.end)) {
                begin_place(n, cell.start, cell.end, BLOCK);
                vt_native_look(n, cell.start, cell.end);
            } else {
                read_place(n, cell.start, cell.end, BLOCK, false);
            }
        }
}

static void read_all(struct vt_native *n) {
    for (uint32_t i = 0; i < n->scan->span_count && vt_owners_goes_on(n->w); i++) {
        struct vt_span *s = &n->scan->spans[i];
        if (s->kind == VT_SPAN_CELLS)
            read_cells(n, s);
        else if (s->kind == VT_SPAN_ROOT)
            read_place(n, s->start, s->end, STACK, s->steady);
        else if (s->kind == VT_SPAN_PLAIN && !s->marked[VT_MARK_USER] && !s->pointed &&
                 !(s->heap && s->marked[VT_MARK_BOOKS]))
            read_place(n, s->start, s->end, s->heap ? BLOCK : MAPPING, s->steady);
    }
}

static void want(struct vt_native_seen *s, uint32_t hop) {
    s->wanted[s->wanted_count++] = (struct wanted){s->hops[hop].start, s->hops[hop].end, hop};
}

/* Lets the hops from `from` on be looked for: those that say little by themselves. False: there is
 * none. */
static bool want_hops(struct vt_native *n, uint32_t from) {
    struct vt_native_seen *s = n->seen;
    struct vt_range bounds = {UINTPTR_MAX, 0};
    s->wanted_count = 0;
    for (uint32_t i = from; i < s->hop_count; i++) {
        const struct hop *h = &s->hops[i];
        bool says_enough = h->sort == OBJECT && (!n->scan->python || !(h->class_ || h->opaque));
        if (h->sort < BLOCK || h->node || says_enough)
            continue;
        want(s, i);
        bounds.start = h->start < bounds.start ? h->start : bounds.start;
        bounds.end = h->end > bounds.end ? h->end : bounds.end;
    }
    vt_scan_sort(s->wanted, s->wanted_count, sizeof *s->wanted);
    n->lead[0] = bounds;
    n->lead[1] = (struct vt_range){0, 0};
    return s->wanted_count;
}

/* --- what is written --- */

/* The hops in mapped memory, by address. */
static void want_mappings(struct vt_native_seen *s) {
    s->wanted_count = 0;
    for (uint32_t i = 1; i < s->hop_count; i++)
        if (s->hops[i].sort == MAPPING)
            want(s, i);
    vt_scan_sort(s->wanted, s->wanted_count, sizeof *s->wanted);
}

/* Says which files their memory is mapped from: both lists come by address. */
static void name_files(struct vt_native *n) {
    struct vt_native_seen *s = n->seen;
    struct vt_maps *maps;
    struct vt_mapping m;
    uint32_t at = 0, count = 1;
    want_mappings(s);
    if (!s->wanted_count || !(maps = vt_owners_map(n->w, sizeof *maps)) ||
        !(s->files = vt_owners_map(n->w, (s->wanted_count + 1) * sizeof *s->files)) ||
        !vt_maps_open(maps))
        return;
    while (at < s->wanted_count && vt_maps_next(maps, &m)) {
        bool named = false;
        for (; at < s->wanted_count && s->wanted[at].start < m.end; at++) {
            if (*m.name != '/' || s->wanted[at].start < m.start)
                continue;
            s->hops[s->wanted[at].hop].file = count;
            named = true;
        }
        if (named) {
            size_t bytes = strlen(m.name), most = VT_OWNERS_TEXT_MOST;
            strcpy(s->files[count++], m.name + (bytes > most ? bytes - most : 0));
        }
    }
    vt_maps_close(maps);
}

/* What malloc gave out: a chunk's words begin and end with sizes. */
static uint64_t bytes_of(const struct vt_native *n, const struct hop *h) {
    const struct vt_span *s = vt_scan_span_at(n->scan, h->start);
    uint64_t sizes = !s || !s->heap || h->sort < BLOCK             ? 0
                     : s->kind == VT_SPAN_CELLS || h->start % 4096 ? 8
                                                                   : 16;
    return h->end - h->start > sizes ? h->end - h->start - sizes : 0;
}

static uint32_t step_to(struct vt_native *n, uint32_t parent, const struct hop *h) {
    struct vt_owners *w = n->w;
    const char *name = h->file ? n->seen->files[h->file] : sorts[h->sort];
    uint64_t size = bytes_of(n, h);
    w->answer->native_roots += h->sort == DATA;
    struct vt_path_step as = {.parent = parent,
                              .kind = VT_STEP_SEEN,
                              .line = size < UINT32_MAX ? (uint32_t)size : UINT32_MAX,
                              .address = h->start,
                              .type = h->type,
                              .class_ = h->class_};
    return vt_owners_step_as(w, as, vt_owners_text_of(name), (struct vt_owners_text){0}, false);
}

static void write_target(struct vt_native *n, uint32_t target) {
    const struct vt_native_seen *s = n->seen;
    const struct hop *way[PASSES + 1];
    struct vt_owners *w = n->w;
    unsigned count = 0;
    for (uint32_t at = s->of_target[target].hop; at && count <= PASSES; at = s->hops[at].up)
        way[count++] = &s->hops[at];
    w->node = count ? way[count - 1]->node : 0;
    w->step = w->node ? vt_node_at(w, w->node)->step : 0;
    w->roles = 0;
    /* Blocks without a class in between say nothing, and a named object is the way's own end. */
    for (unsigned i = count; i-- > 0;)
        if (i == 0 || way[i]->sort == DATA || (!way[i]->node && (way[i]->class_ || way[i]->opaque)))
            w->step = step_to(n, w->step, way[i]);
    if (w->step)
        vt_owners_edge(w, &(struct vt_edge){.kind = VT_STEP_NONE,
                                            .as = VT_AS_ADDRESS,
                                            .to = w->targets[target].start});
}

/* A number that holds it is an owner, if a poor one. */
static bool anything_without_owner(const struct vt_owners *w) {
    for (uint32_t i = 0; i < w->target_count; i++)
        if (!w->targets[i].node)
            return true;
    return false;
}

void vt_native_seen_last(struct vt_owners *w) {
    bool sought = w->copy && w->native && anything_without_owner(w);
    struct vt_native *n = sought ? vt_native_of(w) : NULL;
    struct vt_native_seen *s = n ? vt_owners_map(w, sizeof *s) : NULL;
    if (!s)
        return;
    s->hops = vt_owners_map(w, HOPS_MOST * sizeof *s->hops);
    s->wanted = vt_owners_map(w, HOPS_MOST * sizeof *s->wanted);
    s->of_target = vt_owners_map(w, ((size_t)w->target_count + 1) * sizeof *s->of_target);
    if (!s->hops || !s->wanted || !s->of_target)
        return;
    s->hop_count = 1; /* 0 is none */
    n->seen = s;
    n->take = take_word;
    n->sought = 1; /* what is sought now has no count */
    n->lead[0] = (struct vt_range){w->target_low, w->target_high};
    n->lead[1] = (struct vt_range){0, 0};
    for (uint32_t from = 1; s->pass < PASSES; s->pass++) {
        uint32_t until = s->hop_count;
        if (s->pass && !want_hops(n, from))
            break;
        from = until;
        read_all(n);
    }
    name_files(n);
    w->stopped = false; /* what was seen so far is written */
    w->most_work = UINT64_MAX;
    for (uint32_t i = 0; i < w->target_count; i++)
        if (s->of_target[i].hop)
            write_target(n, i);
}
