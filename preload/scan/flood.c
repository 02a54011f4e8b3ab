/* SPDX-License-Identifier: MIT */
/*
 * Marks memory as a garbage collector does. It starts from the memory that a program can always reach (module data,
 * stacks, registers), and follows every pointer from block to block. If it finds a pointer into a live allocation, the
 * program can still reach the allocation.
 *
 * CUDA's libraries keep every live address in tables of their own, so their data is not a root. But a handle that the
 * program holds (a context, a stream) also leads into their memory. So the flood runs twice. The first run starts from
 * the libraries' data and stays in malloc's memory. The blocks that it marks may be the libraries', but need not be: a
 * library may never write the last bytes of its block, which then still hold an earlier block's pointer to an object of
 * the program. A library's own object refers back, to the library's data or to something to which this data points.
 * References to contexts and streams do not count here, because programs also keep pointers to them.
 *
 * The second run is the program's. It follows pointers into marked blocks like any others, but not from a library's
 * object to another marked block: it scans a handle's block, and stops there. If a marked block contains a pointer to
 * an allocation, this pointer is a hint, which hints.c weighs.
 *
 * Opaque memory (another allocator's heap) is scanned last. An allocation to which only words of opaque memory point
 * may be held, or the words may be left over in freed blocks.
 *
 * A pointer may point anywhere into its allocation, but not just past the end, and must be aligned. A Python integer
 * that holds an address (two digits of 30 bits in one word) is also recognized. So are three common forms of the exact
 * start of an allocation or of a heap block: with a tag in the bits that addresses do not use, shifted by 16 bits with
 * a tag below, and one element before the start. An address that was xor-ed or written to a file is not found.
 *
 * Called by scan.c.
 */
#define _GNU_SOURCE
#include "flood.h"
#include "state/state.h"

#include <string.h>

#define STACK_MOST ((size_t)1 << 27)
#define BATCH      256u
#define FEW        8u /* a batch pays off only for at least this many pieces */
#define WINDOW     ((uintptr_t)2 << 20)
#define WINDOWS    3u
#define NOT_MEMORY ((uintptr_t)1 << 40) /* a sanitizer's shadow memory */
#define DIGITS     0xC0000000C0000000ull
#define HINTS_MOST 65536u
#define LEADS_BACK 2u /* a single word may be left over */
#define TAG_BITS   16u
/* Largest element of an array that is indexed from 1, in bytes: a complex double, or a pair of words. */
#define ELEMENT    16u

struct flood {
    struct vt_scan *scan;
    enum vt_mark mark;
    /* pieces of memory still to be scanned, each inside one span */
    struct vt_range *stack;
    size_t depth;
    /* words in these ranges get a closer look */
    int64_t low[WINDOWS], high[WINDOWS];
    unsigned windows; /* non-empty ones */
    /* the piece being scanned */
    bool from_data;      /* the first run is scanning the libraries' data */
    bool marked;         /* the piece's block may be a library's */
    bool theirs;         /* ... and certainly is */
    unsigned leads_back; /* words so far that refer back to the library */
    bool in_opaque;      /* opaque memory is scanned as well */
    struct vt_span *span;
    uintptr_t block, block_end;
    const uint64_t *row; /* the words being scanned */
    uintptr_t row_at;
    struct vt_hint *hints, *in_cuda; /* the second run's; the first run's */
    uint32_t hint_count, in_cuda_count;
    const struct vt_span *last;
};

static struct vt_target *target_at(const struct vt_scan *scan, uintptr_t address) {
    return vt_scan_item_at(scan->targets, scan->target_count, sizeof *scan->targets, address);
}

static void push_piece(struct flood *f, uintptr_t start, uintptr_t end) {
    if (f->depth == STACK_MOST / sizeof *f->stack)
        f->scan->stop = "its pointers are nested too deeply";
    else
        f->stack[f->depth++] = (struct vt_range){start, end};
}

/* In the first run: notes that a library's data, or a marked block, refers to another block. */
static void note_reference(struct flood *f, struct vt_span *s, uintptr_t start) {
    if (f->from_data) {
        if (!vt_scan_has_mark(s, start, VT_MARK_THEIRS)) /* handles were marked before */
            vt_scan_set_mark(s, start, VT_MARK_CENTRE);
        vt_scan_set_mark(s, start, VT_MARK_THEIRS);
    } else if ((s->kind == VT_SPAN_CUDA || vt_scan_has_mark(s, start, VT_MARK_CENTRE)) &&
               ++f->leads_back == LEADS_BACK) {
        vt_scan_set_mark(f->span, f->block, VT_MARK_THEIRS);
    }
}

static void reach_block(struct flood *f, uintptr_t address) {
    struct vt_span *s = (struct vt_span *)f->last;
    if (!s || address - s->start >= s->end - s->start) {
        s = vt_scan_span_at(f->scan, address);
        if (!s)
            return;
        f->last = s;
    }
    if (s->kind == VT_SPAN_ROOT || s->kind == VT_SPAN_CUDA) {
        if (f->mark == VT_MARK_CUDA && s->kind == VT_SPAN_CUDA && !f->from_data)
            note_reference(f, s, s->start);
        return;
    }
    if (f->mark == VT_MARK_CUDA && !s->heap) {
        s->marked[VT_MARK_CUDA] = true; /* only mark it, do not scan it */
        return;
    }
    if (s->opaque && !f->in_opaque) {
        vt_scan_note_pointed(s, address);
        return;
    }
    struct vt_range block = {s->start, s->end};
    if (s->kind == VT_SPAN_CELLS && !vt_scan_cell_at(s, address, &block))
        return;
    if (f->mark == VT_MARK_CUDA)
        note_reference(f, s, block.start);
    if (vt_scan_has_mark(s, block.start, f->mark) ||
        (f->theirs && vt_scan_has_mark(s, block.start, VT_MARK_CUDA)))
        return;
    vt_scan_set_mark(s, block.start, f->mark);
    push_piece(f, block.start, block.end);
}

/* Capacity of `in_cuda`. */
static size_t in_cuda_most(const struct vt_scan *scan) {
    return 4 * (size_t)scan->target_count + HINTS_MOST;
}

static struct vt_hint hint_at(const struct flood *f, const struct vt_target *t, uintptr_t at) {
    return (struct vt_hint){.target = (uint32_t)(t - f->scan->targets),
                            .block_bytes = (uint32_t)(f->block_end - f->block),
                            .offset = (uint32_t)(at - f->block),
                            .theirs = f->theirs};
}

static void reach_target(struct vt_scan *scan, struct vt_target *t) {
    if (!t->reached && !t->kept && !--scan->sought)
        scan->found = true;
    t->reached = true;
}

static void find_target(struct flood *f, uintptr_t value, uintptr_t at) {
    struct vt_target *t = target_at(f->scan, value);
    if (!t)
        return;
    if (f->mark == VT_MARK_CUDA) {
        if (!f->from_data && f->in_cuda_count < in_cuda_most(f->scan))
            f->in_cuda[f->in_cuda_count++] = hint_at(f, t, at);
        return;
    }
    if (!f->marked) {
        f->scan->by_opaque |= f->in_opaque && !t->reached;
        reach_target(f->scan, t);
        /* The contents may hold pointers, but an ended runtime has already unmapped the allocation. */
        if (vt_scan_may_lead_on(t) && !vt_scan_span_at(f->scan, value))
            f->scan->in_doubt = true;
        return;
    }
    if (t->reached)
        return;
    if (f->hint_count == HINTS_MOST) { /* no space: rather reached than lost */
        reach_target(f->scan, t);
        return;
    }
    f->hints[f->hint_count++] = hint_at(f, t, at);
}

/* Whether a word of the dynamic loader's data points to an allocation. The loader itself points only to memory that it
 * mapped. It unmaps its library cache before the program starts but keeps the address, at which pinned memory may lie
 * now. */
static bool is_stale(const struct vt_scan *scan, uint64_t word, uintptr_t at) {
    return at - scan->loader.start < scan->loader.end - scan->loader.start && target_at(scan, word);
}

/* Whether an address is the exact start of a block. `array`: assume an array indexed from 1; Python's small blocks then
 * do not count. */
static bool starts_block(const struct vt_scan *scan, uintptr_t address, bool array) {
    const struct vt_span *s = vt_scan_span_at(scan, address);
    struct vt_range cell;
    if (!s || s->kind != VT_SPAN_CELLS)
        return s && (address == s->start || (s->heap && address == s->start + 16));
    return (s->heap || !array) && vt_scan_cell_at(s, address, &cell) && cell.start == address;
}

/* Whether a word is the end of the block to which one of the two words before it points, as in a vector. */
static bool is_end(const struct flood *f, uint64_t word, uintptr_t at) {
    size_t before = f->row && at >= f->row_at ? (at - f->row_at) / 8 : 0;
    for (size_t i = 1; i <= 2 && i <= before; i++) {
        uint64_t other = f->row[before - i];
        struct vt_span *s = vt_scan_span_at(f->scan, other);
        struct vt_range block = {0, 0};
        if (other <= word && s && s->kind == VT_SPAN_CELLS)
            vt_scan_cell_at(s, other, &block);
        else if (other <= word && s)
            block = (struct vt_range){s->start, s->end};
        if (word - block.start < block.end - block.start)
            return true;
    }
    return false;
}

/* For the other forms, only the exact start counts. Among 2^27 random words (1 GiB), one would hit some address in an
 * allocation of 1 MiB, but the chance of hitting its start is one in a million. */
static void scan_forms(struct flood *f, uint64_t word, uintptr_t at) {
    const uintptr_t forms[] = {(word + ELEMENT) & ~(uintptr_t)15, word & (VT_MACHINE_ADDRESSES - 1),
                               word >> TAG_BITS};
    for (unsigned i = 0; i < 3; i++) {
        const struct vt_target *t;
        if (forms[i] == word || forms[i] % 16)
            continue;
        if ((t = target_at(f->scan, forms[i])) && t->start == forms[i])
            find_target(f, forms[i], at);
        else if (starts_block(f->scan, forms[i], i == 0) &&
                 (i > 0 || (word % 8 == 0 && !is_end(f, word, at))))
            reach_block(f, forms[i]);
    }
}

/* The other forms of a word. Blocks are 16-aligned, so an unaligned form becomes an invalid address. */
#define NONE_IF_ODD(word, bits) ((word) << (59 - (bits)) & 15ull << 59)
#define TAGGED(word)            (((word) & (VT_MACHINE_ADDRESSES - 1)) | NONE_IF_ODD(word, 0))
#define SHIFTED(word)           ((word) >> TAG_BITS | NONE_IF_ODD(word, TAG_BITS))

static bool is_in_window(const struct flood *f, uint64_t word) {
    bool is = false;
    for (unsigned i = 0; i < f->windows; i++)
        is |= (int64_t)word >= f->low[i] && (int64_t)word < f->high[i];
    return is;
}

static __attribute__((noinline)) void scan_word(struct flood *f, uint64_t word, uintptr_t at) {
    const struct vt_scan *scan = f->scan;
    uintptr_t span = scan->target_high - scan->target_low;
    if (f->mark == VT_MARK_USER) {
        if (is_stale(scan, word, at))
            return;
        if (word - scan->target_low < span)
            find_target(f, word, at);
        uint64_t number = (word >> 32) << 30 | (word & 0x3fffffff);
        if (!(word & DIGITS) && number - scan->target_low < span)
            find_target(f, number, at);
        scan_forms(f, word, at);
    } else if (word - scan->target_low < span) {
        find_target(f, word, at);
    }
    if (is_in_window(f, word))
        reach_block(f, word);
}

void vt_scan_follow(struct flood *f, uint64_t word) {
    f->row = NULL;
    scan_word(f, word, 0);
}

/* `words` may be a copy of the memory at `at`. A pointer lies in one of the windows, or is two
 * digits of a number in the targets' range. */
static void words_plain(struct flood *f, const uint64_t *words, size_t count, uintptr_t at) {
    uint64_t span = f->scan->target_high - f->scan->target_low, low = f->scan->target_low;
    for (size_t i = 0; i < count; i++) {
        uint64_t w = words[i], number = (w >> 32) << 30 | (w & 0x3fffffff);
        if (is_in_window(f, w) || is_in_window(f, TAGGED(w)) || is_in_window(f, SHIFTED(w)) ||
            (!(w & DIGITS) && number - low < span))
            scan_word(f, w, at + 8 * i);
    }
}

typedef uint64_t vt_unsigned4 __attribute__((vector_size(32)));
#define ZERO4 ((vt_words4){0})

VT_WIDE static void words_by_four(struct flood *f, const uint64_t *words, size_t count,
                                  uintptr_t at) {
    const vt_words4 low[WINDOWS] = {f->low[0] - 1 - ZERO4, f->low[1] - 1 - ZERO4,
                                    f->low[2] - 1 - ZERO4},
                    high[WINDOWS] = {f->high[0] - ZERO4, f->high[1] - ZERO4, f->high[2] - ZERO4};
    const int64_t number_low = (int64_t)f->scan->target_low - 1,
                  number_high = (int64_t)f->scan->target_high;
    const unsigned windows = f->windows;
    size_t i = 0;
    for (; i + 4 <= count; i += 4) {
        vt_words4 w;
        memcpy(&w, words + i, sizeof w);
        vt_unsigned4 u = (vt_unsigned4)w;
        vt_words4 is = {0}, tagged = (vt_words4)TAGGED(u), shifted = (vt_words4)SHIFTED(u);
        for (unsigned k = 0; k < windows; k++)
            is |= ((w > low[k]) & (w < high[k])) | ((tagged > low[k]) & (tagged < high[k])) |
                  ((shifted > low[k]) & (shifted < high[k]));
        vt_words4 n = ((w >> 32) << 30) | (w & 0x3fffffff);
        is |= ((w & (int64_t)DIGITS) == 0) & (n > number_low) & (n < number_high);
        for (unsigned mask = VT_ANY_OF(is); mask; mask &= mask - 1) {
            unsigned k = (unsigned)__builtin_ctz(mask);
            scan_word(f, words[i + k], at + 8 * (i + k));
        }
    }
    words_plain(f, words + i, count - i, at + 8 * i);
}

static void scan_words(struct flood *f, const void *bytes, size_t count, uintptr_t at) {
    f->scan->bytes += count;
    f->scan->work += count;
    f->row = bytes;
    f->row_at = at;
    if (VT_WIDE_HERE)
        words_by_four(f, bytes, count / 8, at);
    else
        words_plain(f, bytes, count / 8, at);
}

/* Pointers lie in one of three ranges: below 4 GiB (a program at a fixed address, and its heap), below the mappings (a
 * heap), and among the mappings. */
static void set_windows(struct flood *f) {
    static const uint64_t bounds[WINDOWS + 1] = {0, 1ull << 32, VT_MACHINE_MAPPINGS, INT64_MAX};
    const struct vt_scan *scan = f->scan;
    f->windows = 0;
    for (unsigned i = 0; i < WINDOWS; i++) {
        uint64_t low = bounds[i + 1], high = bounds[i];
        for (uint32_t s = 0; s <= scan->span_count; s++) {
            bool last = s == scan->span_count;
            uint64_t start = last ? scan->target_low : scan->spans[s].start,
                     end = last ? scan->target_high : scan->spans[s].end;
            if (!last && scan->spans[s].kind == VT_SPAN_ROOT)
                continue;
            start = start < bounds[i] ? bounds[i] : start;
            end = end > bounds[i + 1] ? bounds[i + 1] : end;
            if (start < end) {
                low = start < low ? start : low;
                high = end > high ? end : high;
            }
        }
        if (low >= high)
            continue;
        f->low[f->windows] = (int64_t)(low > ELEMENT ? low - ELEMENT : low);
        f->high[f->windows++] = (int64_t)high;
    }
}

static void piece_of(struct flood *f, const struct vt_span *s, uintptr_t start, uintptr_t end) {
    f->span = (struct vt_span *)s;
    f->block = start;
    f->block_end = end;
    f->marked = f->mark == VT_MARK_USER && s->heap && vt_scan_has_mark(s, start, VT_MARK_CUDA);
    f->theirs = f->marked && vt_scan_has_mark(s, start, VT_MARK_THEIRS);
    f->leads_back = 0;
}

/* Scans the readable pages of a part: page by page if some are unreadable. */
static void scan_part(struct flood *f, const struct vt_span *s, struct vt_range part) {
    struct vt_scan *scan = f->scan;
    if (vt_scan_gather(scan, &part, 1) == 1) {
        scan_words(f, scan->buffer, part.end - part.start, part.start);
        return;
    }
    for (uintptr_t at = part.start, page; at < part.end; at = page) {
        page = (at & ~(uintptr_t)4095) + 4096;
        struct vt_range r = {at, page < part.end ? page : part.end};
        if (vt_scan_gather(scan, &r, 1) == 1) {
            scan_words(f, scan->buffer, r.end - r.start, r.start);
        } else {
            const struct vt_vma *v = vt_scan_vma_from(scan, at);
            scan->unread_pages++;
            if (s->every_page || (v && v->sealed && v->start <= at))
                scan->in_doubt = true;
        }
    }
}

static void scan_piece(struct flood *f, const struct vt_span *s, uintptr_t start, uintptr_t end) {
    struct vt_scan *scan = f->scan;
    if (end - start > NOT_MEMORY) {
        scan->in_doubt |= s->pointed;
        return;
    }
    piece_of(f, s, start, end);
    scan->written = s->written;
    for (uintptr_t at = start, window; at < end; at = window) {
        window = (at & ~(WINDOW - 1)) + WINDOW;
        if (window > end)
            window = end;
        if (!scan->alone)
            vt_scan_forget_pages(scan);
        for (struct vt_range run = {at, window}; run.start < window; run.start = run.end) {
            bool present = false;
            run.end = window;
            if (!s->every_page && !vt_scan_resident(scan, run.start, window, &run, &present))
                break;
            if (scan->alone && s->steady && present)
                scan_words(f, (const void *)run.start, run.end - run.start, run.start);
            else
                for (uintptr_t p = run.start; p < run.end && vt_scan_may_continue(scan);
                     p += VT_SCAN_BUFFER)
                    scan_part(f, s,
                              (struct vt_range){p, run.end - p > VT_SCAN_BUFFER ? p + VT_SCAN_BUFFER
                                                                                : run.end});
            if (!vt_scan_may_continue(scan))
                return;
        }
    }
}

/* A small block's copy in the last window that was read; NULL: not there. In a long list, one block leads to the next,
 * and each read costs a system call. So when few pieces wait, `fetch` is set to read the block's surroundings as
 * well. */
static const void *from_window(struct vt_scan *scan, const struct vt_span *s, struct vt_range r,
                               bool fetch) {
    enum { SIZE = 16384 };
    if (r.start >= scan->peeked_at && r.end <= scan->peeked_end)
        return scan->peeked + (r.start - scan->peeked_at);
    if (!fetch || r.start / SIZE != (r.end - 1) / SIZE)
        return NULL;
    uintptr_t from = r.start & ~(uintptr_t)(SIZE - 1), until = from + SIZE;
    from = from < s->start ? s->start : from;
    until = until > s->end ? s->end : until;
    if (!vt_scan_cells_present(s, from, until))
        return NULL;
    scan->peeked_at = scan->peeked_end = from;
    if (!vt_scan_read(scan, scan->peeked, from, until - from))
        return NULL;
    scan->peeked_end = until;
    return scan->peeked + (r.start - from);
}

/* Small pieces are read in batches. */
static void drain_stack(struct flood *f) {
    struct vt_scan *scan = f->scan;
    static struct vt_range batch[BATCH]; /* static: the stack may be small */
    while (f->depth && vt_scan_may_continue(scan)) {
        uint32_t n = 0;
        size_t bytes = 0;
        while (f->depth && n < BATCH) {
            struct vt_range r = f->stack[f->depth - 1];
            const struct vt_span *s = vt_scan_span_at(scan, r.start);
            size_t size = r.end - r.start;
            /* A block of a known heap is readable as a whole if its pages are present. Other memory is read page by
             * page, only where it has contents. */
            bool in_place = scan->alone && s->steady,
                 whole = s->kind == VT_SPAN_CELLS && vt_scan_cells_present(s, r.start, r.end);
            if (in_place || !whole) {
                f->depth--;
                if (in_place && whole) {
                    piece_of(f, s, r.start, r.end);
                    scan_words(f, (const void *)r.start, size, r.start);
                } else {
                    scan_piece(f, s, r.start, r.end);
                }
                if (!vt_scan_may_continue(scan))
                    return;
                continue;
            }
            const void *copy = from_window(scan, s, r, n + f->depth < FEW);
            if (copy) {
                f->depth--;
                piece_of(f, s, r.start, r.end);
                scan_words(f, copy, size, r.start);
                continue;
            }
            if (bytes + size > VT_SCAN_BUFFER)
                break;
            bytes += size;
            batch[n++] = r;
            f->depth--;
        }
        for (uint32_t done = 0; done < n;) {
            uint32_t have = vt_scan_gather(scan, batch + done, n - done);
            const uint8_t *at = scan->buffer;
            for (uint32_t i = done; i < done + have; i++) {
                size_t size = batch[i].end - batch[i].start;
                piece_of(f, vt_scan_span_at(scan, batch[i].start), batch[i].start, batch[i].end);
                scan_words(f, at, size, batch[i].start);
                at += size;
            }
            done += have;
            if (have == 0) { /* unmapped, at least in part */
                const struct vt_range *r = &batch[done++];
                scan_piece(f, vt_scan_span_at(scan, r->start), r->start, r->end);
            }
        }
    }
}

/* Scans all spans of a kind, and everything that they lead to. */
static void flood_from(struct flood *f, unsigned root_kind) {
    struct vt_scan *scan = f->scan;
    for (uint32_t i = 0; i < scan->span_count && vt_scan_may_continue(scan); i++) {
        const struct vt_span *s = &scan->spans[i];
        if (s->kind != root_kind)
            continue;
        const struct vt_range *skip = &scan->main_arena;
        if (skip->start < s->start || skip->end > s->end || !skip->end) {
            scan_piece(f, s, s->start, s->end);
        } else {
            scan_piece(f, s, s->start, skip->start);
            scan_piece(f, s, skip->end, s->end);
        }
        if (!f->from_data)
            drain_stack(f);
    }
}

/* A context or a stream is an object of the library, unless the library has already freed it. */
static void note_handle(uint64_t handle, void *data) {
    struct flood *f = data;
    struct vt_span *s = vt_scan_span_at(f->scan, handle);
    struct vt_range block;
    if (s && s->kind == VT_SPAN_CELLS && s->heap && vt_scan_cell_at(s, handle, &block))
        vt_scan_set_mark(s, block.start, VT_MARK_THEIRS);
}

/* The first run. NULL: it stopped. */
static struct flood *flood_cuda(struct vt_scan *scan) {
    struct flood *f = vt_scan_allocate(scan, sizeof *f);
    if (!f)
        return NULL;
    f->scan = scan;
    f->stack = vt_scan_allocate(scan, STACK_MOST);
    f->hints = vt_scan_allocate(scan, HINTS_MOST * sizeof *f->hints);
    f->in_cuda = vt_scan_allocate(scan, in_cuda_most(scan) * sizeof *f->in_cuda);
    if (scan->stop)
        return NULL;
    set_windows(f);
    scan->peeked_at = scan->peeked_end = 0;
    /* Before other blocks are scanned, the blocks to which the data points directly must be known. */
    f->mark = VT_MARK_CUDA;
    f->from_data = true;
    vt_context_each(note_handle, f);
    vt_pool_streams_each(note_handle, f);
    flood_from(f, VT_SPAN_CUDA);
    f->from_data = false;
    drain_stack(f);
    return f;
}

/* Queues opaque memory to which words point: all of it, or only single objects. False: there is none. */
static bool enter_opaque(struct flood *f, bool all) {
    size_t before = f->depth;
    for (uint32_t i = 0; i < f->scan->span_count && !f->scan->found; i++) {
        struct vt_span *s = &f->scan->spans[i];
        if (!s->opaque || !s->pointed || s->marked[VT_MARK_USER] || !(all || vt_scan_is_one(s)))
            continue;
        s->marked[VT_MARK_USER] = true;
        push_piece(f, s->start, s->end);
    }
    return f->depth > before;
}

bool vt_scan_flood_cuda(struct vt_scan *scan) {
    return flood_cuda(scan) && !scan->stop;
}

bool vt_scan_flood(struct vt_scan *scan, const uintptr_t *registers, uint32_t register_count) {
    struct flood *f = flood_cuda(scan);
    if (!f)
        return false;
    f->mark = VT_MARK_USER;
    f->marked = f->theirs = false;
    for (uint32_t i = 0; i < register_count; i++)
        scan_word(f, registers[i], 0);
    drain_stack(f);
    flood_from(f, VT_SPAN_ROOT);
    while (enter_opaque(f, false))
        drain_stack(f);
    f->in_opaque = enter_opaque(f, true);
    drain_stack(f);
    if (vt_scan_may_continue(scan))
        vt_scan_follow_kernel(scan, f);
    drain_stack(f);
    if (!scan->stop)
        vt_scan_weigh_hints(scan, f->hints, f->hint_count, f->in_cuda, f->in_cuda_count);
    return !scan->stop;
}
