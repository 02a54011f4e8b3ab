/* SPDX-License-Identifier: MIT */
/*
 * Finds the blocks of two allocators: the C library's malloc and Python's small objects. A freed block keeps its old
 * words, so a scan that cannot tell which blocks are in use would follow pointers that the program dropped long ago.
 *
 * We only read memory, call no allocator function, and check each step. A region that does not add up to the last byte
 * counts as opaque, like that of any other malloc.
 *
 * glibc's malloc, 2.26 to 2.41 (malloc/malloc.c, malloc/arena.c): chunks are adjacent, each with its size and three
 * flags in the word before its memory. The next chunk's flags tell whether a chunk is in use. Chunks in a thread's
 * cache or a fast bin look used, so we walk those lists afterwards. Before 2.30 a thread's cache has another layout,
 * and its chunks count as used: allocations that only they point to are then not called lost.
 *
 * CPython's small objects, 3.8 to 3.14 (Objects/obmalloc.c): aligned pools of 4 or 16 KiB. Each has a header of 48
 * bytes, blocks of equal size, and a list of freed blocks.
 *
 * Called by pieces.c for each piece of memory with no other known use.
 */
#include "memory.h"

#include <string.h>

#define PREV_INUSE  1u
#define IS_MMAPPED  2u
#define NON_MAIN    4u
#define FLAGS       7u
#define SMALLEST    32u
#define HEAP_BYTES  VT_RESERVE_MOST      /* largest heap of an arena */
#define HEAP_ALIGN  ((uintptr_t)8 << 20) /* smallest alignment; less with huge pages */
#define STATE_BYTES 0x898u               /* struct malloc_state */
#define APART       2u                   /* flag in the state: the main heap is not contiguous */
#define STATE_FAST  0x10u                /* heads of the fast bins */
#define STATE_TOP   0x60u
#define STATE_BINS  0x70u
#define STATE_NEXT  0x870u /* the next arena */
#define FAST_BINS   10u
#define BINS        127u

#define TCACHE_CHUNK                                                                               \
    0x290u /* tcache_perthread_struct with its chunk header: 64 counts,
                              * 64 heads */
#define TCACHE_BINS   64u
#define TCACHE_LENGTH 1024u /* a longer list is invalid */
#define FAST_LENGTH   (1u << 20)
#define WINDOW        ((uintptr_t)2 << 20)
#define NOT_MEMORY    ((uintptr_t)1 << 40) /* a sanitizer's shadow memory */
#define IN_FRONT_MOST                                                                              \
    (1u << 20) /* limit of foreign bytes before the next chunk: others may get 1 MiB by sbrk */
#define FOLLOWING 8u /* this many chunks in a row are not a coincidence */

/* A region being parsed. A cell is a chunk's memory: from 16 bytes after the chunk's start to 16 bytes after its
 * end. */
struct region {
    struct vt_scan *scan;
    const struct vt_vma *vma;
    uintptr_t base;
    uint64_t *bits[VT_BITS_MARK + VT_MARKS], *pages;
    uintptr_t from; /* start of the current CELLS span */
    bool heap;
};

static bool region_begin(struct region *r, struct vt_scan *scan, const struct vt_vma *vma,
                         uintptr_t start, uintptr_t end, bool heap) {
    const unsigned maps = sizeof r->bits / sizeof r->bits[0];
    size_t words = (end - start) / 1024 + 2, page_words = words / 256 + 2;
    uint64_t *bits = vt_scan_allocate(scan, (maps * words + page_words) * sizeof *bits);
    if (!bits)
        return false;
    *r = (struct region){.scan = scan, .vma = vma, .base = start, .from = start, .heap = heap};
    for (unsigned i = 0; i < maps; i++)
        r->bits[i] = bits + i * words;
    r->pages = bits + maps * words;
    return true;
}

static void add_cell(struct region *r, uintptr_t start, bool in_use) {
    size_t i = (start - r->base) / 16;
    vt_bit_set(r->bits[VT_BITS_START], i);
    if (!in_use)
        vt_bit_set(r->bits[VT_BITS_DEAD], i);
}

/* Makes a span of the cells up to `end`. */
static void cells_until(struct region *r, uintptr_t end, uintptr_t next) {
    struct vt_span *s = vt_scan_add_span(r->scan, r->from, end, VT_SPAN_CELLS, r->vma);
    if (s) {
        s->base = r->base;
        s->heap = r->heap;
        memcpy(s->bits, r->bits, sizeof s->bits);
        s->pages = r->pages;
        vt_scan_note_present(r->scan, r->base, r->from, end, r->pages);
    }
    r->from = next;
}

/* A chunk too large for the bits gets its own span. */
static void large_cell(struct region *r, uintptr_t start, uintptr_t end) {
    cells_until(r, start, end);
    struct vt_span *s = vt_scan_add_span(r->scan, start, end, VT_SPAN_PLAIN, r->vma);
    if (s)
        s->heap = r->heap;
}

/* Adds opaque memory unless it is a stack: a mapping of the program, or another allocator's heap. */
static void add_opaque(struct vt_scan *scan, uintptr_t start, uintptr_t end,
                       const struct vt_vma *vma) {
    struct vt_span *s = vt_scan_add_span(scan, start, end, VT_SPAN_PLAIN, vma);
    if (s)
        s->opaque = !vma->stack;
}

static uint64_t size_word(struct vt_scan *scan, uintptr_t chunk) {
    return vt_scan_peek(scan, chunk + 8);
}

/* Whether a chunk in use seems to be at `chunk`, with another one after it. */
static bool may_be_chunk(struct vt_scan *scan, uintptr_t chunk, uintptr_t end, unsigned non_main) {
    uint64_t word = size_word(scan, chunk), size = word & ~(uint64_t)FLAGS, next;
    if ((word & FLAGS) != (PREV_INUSE | non_main) || size < SMALLEST || size % 16 ||
        size + 16 > end - chunk)
        return false;
    next = size_word(scan, chunk + size);
    return next & ~(uint64_t)FLAGS && !(next & IS_MMAPPED) &&
           (next & ~(uint64_t)FLAGS) <= end - chunk - size;
}

/* The first chunk after the hole around an address. FOLLOWING chunks, or all up to the top chunk, must follow it.
 * `end`: no hole, or no such chunk. */
static uintptr_t behind_hole(struct vt_scan *scan, uintptr_t at, uintptr_t end, unsigned non_main) {
    const struct vt_vma *v = vt_scan_vma_from(scan, at + 8);
    if (!v || v->start <= at + 8)
        return end;
    uintptr_t most = end - v->start > IN_FRONT_MOST ? v->start + IN_FRONT_MOST : end;
    for (uintptr_t first = v->start; v->start < end && first < most && vt_scan_may_continue(scan);
         first += 16) {
        uintptr_t p = first;
        unsigned n = 0;
        while (n < FOLLOWING && may_be_chunk(scan, p, end, non_main)) {
            p += size_word(scan, p) & ~(uint64_t)FLAGS;
            n++;
        }
        if (n == FOLLOWING || (n && p == scan->main_top))
            return first;
    }
    return end;
}

/* Makes cells from adjacent chunks, from `first` to the top chunk, which ends at `end` (in the main arena, possibly
 * earlier). Returns their end. 0: these are not chunks, or they changed meanwhile; no cells were made. */
static uintptr_t cells_of_chunks(struct region *r, uintptr_t first, uintptr_t end,
                                 unsigned non_main) {
    struct vt_scan *scan = r->scan;
    uint32_t spans_before = scan->span_count, tcaches_before = scan->tcache_count;
    uintptr_t p = first, last = 0, last_size = 0, last_main = 0, top = 0;
    r->from = first;
    while (p + 16 <= end && vt_scan_may_continue(scan)) {
        uint64_t word = size_word(scan, p), size = word & ~(uint64_t)FLAGS;
        if (!word && last && (p = behind_hole(scan, p, end, non_main)) < end) {
            last_size = p - last; /* the hole counts as in use, like the chunk before it */
            last_main = non_main;
            continue;
        }
        if (word & IS_MMAPPED || size > end - p)
            break;
        if (last) { /* this word tells whether the previous chunk is in use */
            bool in_use = word & PREV_INUSE;
            if (in_use && last_main != non_main)
                break; /* only a free chunk may lack its arena's flag */
            if (in_use && last_size > VT_CELL_MAX)
                large_cell(r, last + 16, p + 16);
            else
                add_cell(r, last + 16, in_use);
            if (last_size == TCACHE_CHUNK && in_use && scan->tcache_count < VT_SCAN_TCACHES)
                scan->tcaches[scan->tcache_count++] = last;
        }
        /* The top chunk has no arena flag. A heap that a newer one replaced ends with two small fence chunks, at the
         * end of a page. */
        uintptr_t page_end = (p | (vt_machine_page() - 1)) + 1;
        bool is_fence = size <= 16 && page_end - p <= 64;
        if (p + size == end || is_fence || p == scan->main_top) {
            top = p;
            end = is_fence ? page_end : p + size;
            break;
        }
        if (size < SMALLEST || size % 16 || (word & NON_MAIN & ~non_main))
            break;
        last = p;
        last_main = word & NON_MAIN;
        last_size = size;
        p += size;
    }
    if (!top) {
        scan->span_count = spans_before;
        scan->tcache_count = tcaches_before;
        vt_memory_list_release(&scan->memory, r->bits[0]);
        return 0;
    }
    if (top + 16 < end)
        add_cell(r, top + 16, false);
    cells_until(r, end, end);
    return end;
}

static uintptr_t cells_of_region(struct vt_scan *scan, const struct vt_vma *vma, uintptr_t start,
                                 uintptr_t first, uintptr_t end, unsigned non_main) {
    struct region r;
    return region_begin(&r, scan, vma, start, end, true) ? cells_of_chunks(&r, first, end, non_main)
                                                         : 0;
}

/* Parses a mapped segment of the main heap, which with huge pages consists only of these. It ends with the top chunk or
 * with fences, and other memory may follow. Returns its end; 0: not such a segment. */
static uintptr_t main_segment(struct vt_scan *scan, const struct vt_vma *vma, uintptr_t start,
                              uintptr_t end) {
    return scan->main_apart && may_be_chunk(scan, start, end + 16, 0)
               ? cells_of_region(scan, vma, start, start, end + 16, 0)
               : 0;
}

/* Parses the main heap, or its continuation after fences. Memory requested by others before malloc may precede the
 * first chunk: older C libraries (2.31) put their copy of GLIBC_TUNABLES there, and programs use sbrk. */
static uintptr_t main_heap(struct vt_scan *scan, const struct vt_vma *vma, uintptr_t start,
                           uintptr_t end) {
    uintptr_t most = end - start > IN_FRONT_MOST ? start + IN_FRONT_MOST : end, until = 0;
    for (uintptr_t first = start; first < most && !until && vt_scan_may_continue(scan);
         first += 16) {
        uint32_t spans_before = scan->span_count;
        if (first > start && !may_be_chunk(scan, first, end, 0))
            continue;
        vt_scan_add_span(scan, start, first, VT_SPAN_PLAIN, vma);
        if (!(until = cells_of_region(scan, vma, start, first, end, 0)))
            scan->span_count = spans_before;
    }
    scan->main_next = until ? until : 1; /* never matches an address */
    return until;
}

/* Parses a heap of another arena. It starts with struct heap_info {arena, previous heap, size, ...}. */
static uintptr_t arena_heap(struct vt_scan *scan, const struct vt_vma *vma, uintptr_t start,
                            uintptr_t limit) {
    uint64_t arena = vt_scan_peek(scan, start), previous = vt_scan_peek(scan, start + 8),
             size = vt_scan_peek(scan, start + 16);
    if (size < 4096 || size > HEAP_BYTES || size % 4096 || size > limit - start || arena % 16)
        return 0;
    bool first_heap = arena - start >= 0x20 && arena - start <= 0x60;
    if (first_heap ? previous != 0 : previous % HEAP_ALIGN != 0 || previous == 0)
        return 0;
    uintptr_t end = start + size;
    /* The first heap's chunks follow the arena's own data; a later heap has only heap_info, whose size depends on
     * glibc's version. */
    for (unsigned skip = 0x20; skip <= 0x40; skip += 0x10) {
        uintptr_t chunk = first_heap ? (arena + STATE_BYTES + 15) & ~(uintptr_t)15 : start + skip;
        if (!cells_of_region(scan, vma, start, chunk, end, NON_MAIN))
            continue;
        if (first_heap && scan->arena_count < sizeof scan->arenas / sizeof scan->arenas[0])
            scan->arenas[scan->arena_count++] = arena;
        return end;
    }
    return 0;
}

/* Parses a chunk with its own mapping; other memory may follow it. Returns its end; 0: not such a chunk. */
static uintptr_t mapped_chunk(struct vt_scan *scan, const struct vt_vma *vma, uintptr_t start,
                              uintptr_t end) {
    uint64_t word = size_word(scan, start), size = word & ~(uint64_t)FLAGS;
    if ((word & FLAGS) != IS_MMAPPED || size % 4096 || size < 4096 || size > end - start ||
        vt_scan_peek(scan, start) >= 4096)
        return 0;
    struct vt_span *s = vt_scan_add_span(scan, start, start + size, VT_SPAN_PLAIN, vma);
    if (s)
        s->heap = true;
    scan->mapped_bytes += size;
    return start + size;
}

/* Whether the chunk with this memory is in use and has this size. */
static bool is_chunk(struct vt_scan *scan, uintptr_t memory, uint64_t size, struct vt_span **span) {
    *span = vt_scan_span_at(scan, memory);
    struct vt_range cell;
    return *span && (*span)->kind == VT_SPAN_CELLS && (*span)->heap &&
           vt_scan_cell_at(*span, memory, &cell) && cell.start == memory &&
           (size_word(scan, memory - 16) & ~(uint64_t)FLAGS) == size;
}

static void drop_chunk(struct vt_span *span, uintptr_t memory) {
    vt_bit_set(span->bits[VT_BITS_DEAD], (memory - span->base) / 16);
}

/* Walks a list of freed chunks of one size. Its links are in the chunks' memory; since 2.32, each is xor-ed with its
 * own shifted address. `length` 0: up to the list's end. False: not such a list. `drop` marks the chunks as free. */
static bool free_list(struct vt_scan *scan, uintptr_t memory, uint64_t size, uint32_t length,
                      bool by_chunk, bool hidden, bool drop) {
    uint32_t most = length ? length : FAST_LENGTH;
    for (uint32_t i = 0; memory && i < most; i++) {
        struct vt_span *span;
        /* With `drop`, all chunks were marked in use before, so a repeated chunk ends the list. */
        if (memory % 16 || !is_chunk(scan, memory, size, &span))
            return false;
        uint64_t next = vt_scan_peek(scan, memory);
        if (drop)
            drop_chunk(span, memory);
        next = hidden ? next ^ memory >> 12 : next;
        memory = next && by_chunk ? next + 16 : next;
        if (length && i + 1 == length)
            return memory == 0;
    }
    return memory == 0;
}

static void drop_list(struct vt_scan *scan, uintptr_t memory, uint64_t size, uint32_t length,
                      bool by_chunk) {
    for (unsigned hidden = 2; hidden-- > 0;)
        if (free_list(scan, memory, size, length, by_chunk, hidden, false)) {
            free_list(scan, memory, size, length, by_chunk, hidden, true);
            return;
        }
}

/* A thread's cache: 64 counts of two bytes, then 64 lists by size. */
static void drop_tcache(struct vt_scan *scan, uintptr_t chunk) {
    uint16_t counts[TCACHE_BINS];
    uint64_t heads[TCACHE_BINS];
    if (!vt_scan_read(scan, counts, chunk + 16, sizeof counts) ||
        !vt_scan_read(scan, heads, chunk + 16 + sizeof counts, sizeof heads))
        return;
    for (unsigned i = 0; i < TCACHE_BINS; i++)
        if ((counts[i] == 0) != (heads[i] == 0) || counts[i] > TCACHE_LENGTH || heads[i] % 16)
            return;
    for (unsigned i = 0; i < TCACHE_BINS; i++)
        if (heads[i])
            drop_list(scan, heads[i], SMALLEST + 16 * i, counts[i], false);
}

/* Whether `state` is an arena's data: every empty bin points to itself, and the arenas form a ring. */
static bool is_arena(struct vt_scan *scan, uintptr_t state) {
    unsigned empty = 0;
    for (unsigned i = 0; i < BINS; i++) {
        uintptr_t at = state + STATE_BINS + 16 * i, self = at - 16;
        uint64_t fd = vt_scan_peek(scan, at), bk = vt_scan_peek(scan, at + 8);
        if ((fd == self) != (bk == self) || !fd || fd % 16)
            return false;
        empty += fd == self;
    }
    uint64_t next = vt_scan_peek(scan, state + STATE_NEXT);
    return empty > 0 && next &&
           (next == state || next == scan->main_arena.start || next % HEAP_ALIGN <= 0x60);
}

static void drop_fast(struct vt_scan *scan, uintptr_t state) {
    uint64_t heads[FAST_BINS];
    if (!is_arena(scan, state) || !vt_scan_read(scan, heads, state + STATE_FAST, sizeof heads))
        return;
    for (unsigned i = 0; i < FAST_BINS; i++)
        if (heads[i])
            drop_list(scan, heads[i] + 16, SMALLEST + 16 * i, 0, true);
}

bool vt_scan_heap_adds_up(struct vt_scan *scan) {
    scan->in_place = (struct vt_range){0, 0};
    for (uintptr_t p = scan->libc.start; scan->mapped_inside && p < scan->libc.end; p += 8)
        if (vt_scan_peek(scan, p) == scan->mapped_bytes &&
            vt_scan_peek(scan, p + 8) >= scan->mapped_bytes)
            return true;
    return !scan->mapped_inside;
}

void vt_scan_heap_open(struct vt_scan *scan) {
    for (uintptr_t p = scan->libc.start & ~(uintptr_t)15; p + STATE_BYTES <= scan->libc.end;
         p += 16)
        if (vt_scan_may_continue(scan) && p >= scan->libc.start && is_arena(scan, p)) {
            scan->main_arena = (struct vt_range){p, p + STATE_BYTES};
            scan->main_top = vt_scan_peek(scan, p + STATE_TOP);
            scan->main_apart = vt_scan_peek(scan, p) >> 32 & APART;
            break;
        }
}

void vt_scan_heap_free_lists(struct vt_scan *scan) {
    scan->in_place = (struct vt_range){0, 0};
    for (uint32_t i = 0; i < scan->tcache_count && vt_scan_may_continue(scan); i++)
        drop_tcache(scan, scan->tcaches[i]);
    for (uint32_t i = 0; i < scan->arena_count && vt_scan_may_continue(scan); i++)
        drop_fast(scan, scan->arenas[i]);
    if (scan->main_arena.end)
        drop_fast(scan, scan->main_arena.start);
}

bool vt_scan_cell_at(const struct vt_span *span, uintptr_t address, struct vt_range *cell) {
    const uint64_t *bits = span->bits[VT_BITS_START];
    size_t i = (address - span->base) / 16, first = (span->start - span->base) / 16,
           last = (span->end - span->base + 15) / 16, word = i / 64,
           farthest = i > VT_CELL_MAX / 16 ? (i - VT_CELL_MAX / 16) / 64 : 0;
    uint64_t seen = bits[word] & (~0ull >> (63 - i % 64));
    while (!seen) {
        if (word == farthest)
            return false;
        seen = bits[--word];
    }
    size_t start = word * 64 + 63 - (size_t)__builtin_clzll(seen);
    if (start < first || vt_bit(span->bits[VT_BITS_DEAD], start))
        return false;
    size_t end = start + 1;
    for (word = end / 64, seen = bits[word] & (~0ull << end % 64); !seen;) {
        if (++word * 64 >= last)
            break;
        seen = bits[word];
    }
    end = seen ? word * 64 + (size_t)__builtin_ctzll(seen) : last;
    *cell =
        (struct vt_range){span->base + start * 16, end < last ? span->base + end * 16 : span->end};
    return true;
}

bool vt_scan_cells_present(const struct vt_span *s, uintptr_t start, uintptr_t end) {
    size_t first = s->base / 4096, last = (end - 1) / 4096 - first;
    for (size_t page = start / 4096 - first; page <= last; page++)
        if (!vt_bit(s->pages, page))
            return false;
    return true;
}

#define POOL_HEADER 48u
#define POOL_BLOCKS (16384 / 16)

/* Whether a pool of `bytes` bytes is at `start`. `freed` gets a bit for each block in its free list. */
static bool is_pool(struct vt_scan *scan, uintptr_t start, uint32_t bytes, uint32_t *size,
                    uint32_t *made, uint64_t freed[POOL_BLOCKS / 64]) {
    uint64_t tail = vt_scan_peek(scan, start + 40), head = vt_scan_peek(scan, start + 32);
    uint32_t class = (uint32_t)(head >> 32), next = (uint32_t)tail, last = (uint32_t)(tail >> 32);
    *size = (class + 1) * 16;
    if (class > 63 || last != bytes - *size || next < POOL_HEADER || next > bytes ||
        (next - POOL_HEADER) % *size)
        return false;
    *made = (next - POOL_HEADER) / *size;
    uint32_t in_use = (uint32_t)vt_scan_peek(scan, start), found = 0;
    uint64_t block = vt_scan_peek(scan, start + 8);
    for (unsigned i = 0; i < POOL_BLOCKS / 64; i++)
        freed[i] = 0;
    while (block) {
        uint64_t offset = block - start - POOL_HEADER;
        if (offset % *size || offset / *size >= *made || vt_bit(freed, offset / *size))
            return false;
        vt_bit_set(freed, offset / *size);
        found++;
        block = vt_scan_peek(scan, block);
    }
    return in_use + found == *made;
}

static void pool_cells(struct region *r, uintptr_t start, uint32_t bytes, uint32_t size,
                       uint32_t made, const uint64_t *freed) {
    add_cell(r, start, false);
    for (uint32_t i = 0; i < made; i++)
        add_cell(r, start + POOL_HEADER + (uintptr_t)i * size, !vt_bit(freed, i));
    if (POOL_HEADER + made * size < bytes)
        add_cell(r, start + POOL_HEADER + (uintptr_t)made * size, false);
}

/* Makes cells from the pools in a piece of memory, and plain spans from the memory between them. Returns the end of the
 * last span. */
static uintptr_t cut_into_pools(struct vt_scan *scan, const struct vt_vma *vma, uintptr_t start,
                                uintptr_t end, uintptr_t limit) {
    struct region r;
    uint64_t freed[POOL_BLOCKS / 64];
    uintptr_t p = (start + 4095) & ~(uintptr_t)4095, plain = start; /* spans made up to here */
    bool in_pools = false;
    if (!region_begin(&r, scan, vma, start & ~(uintptr_t)4095, end + 16384, false))
        return end;
    while (p < end && p + 4096 <= limit && vt_scan_may_continue(scan)) {
        uint32_t size, made, bytes = 16384;
        bool is =
            p % 16384 == 0 && p + bytes <= limit && is_pool(scan, p, bytes, &size, &made, freed);
        if (!is)
            is = is_pool(scan, p, bytes = 4096, &size, &made, freed);
        if (is) {
            if (!in_pools) {
                add_opaque(scan, plain, p, vma);
                r.from = p;
            }
            pool_cells(&r, p, bytes, size, made, freed);
            p += bytes;
        } else {
            if (in_pools) {
                cells_until(&r, p, p);
                plain = p;
            }
            p += 4096;
        }
        in_pools = is;
    }
    if (in_pools) {
        cells_until(&r, p, p);
        plain = p;
    }
    if (plain < end)
        add_opaque(scan, plain, end, vma);
    return plain < end ? end : plain;
}

/* Makes spans from the C library's memory at an address, up to the end of the adjacent mappings or the end that the
 * heap records. Returns that end; 0: not the C library's memory. */
static uintptr_t spans_at(struct vt_scan *scan, const struct vt_vma *vma, uintptr_t at, bool next,
                          uintptr_t limit) {
    uintptr_t run = vma->run_end < limit ? vma->run_end : limit,
              brk = scan->brk.end < limit ? scan->brk.end : limit, until = 0;
    if (next || scan->look_inside)
        until = mapped_chunk(scan, vma, at, run);
    if (!until && at % HEAP_ALIGN == 0)
        until = arena_heap(scan, vma, at, limit);
    if (!until && vma->heap && (!scan->main_next || scan->main_next == at))
        until = main_heap(scan, vma, at, brk);
    return until ? until : main_segment(scan, vma, at, run);
}

/* The first page with contents, from `at` on. */
static uintptr_t next_page(struct vt_scan *scan, uintptr_t at, uintptr_t end) {
    struct vt_range run;
    bool present;
    for (uintptr_t window; at < end && vt_scan_may_continue(scan); at = window) {
        window = (at | (WINDOW - 1)) + 1;
        if (vt_scan_resident(scan, at, window < end ? window : end, &run, &present))
            return run.start;
    }
    return end;
}

/* Makes spans from the rest of a piece of memory. Returns the last span's end. */
static uintptr_t spans_of_rest(struct vt_scan *scan, const struct vt_vma *vma, uintptr_t start,
                               uintptr_t end, uintptr_t limit) {
    if (start < end && scan->python && vma->anonymous && vma->private_)
        return cut_into_pools(scan, vma, start, end, limit < vma->run_end ? limit : vma->run_end);
    add_opaque(scan, start, end, vma);
    return end;
}

uintptr_t vt_scan_heap_piece(struct vt_scan *scan, const struct vt_vma *vma, uintptr_t start,
                             uintptr_t end, uintptr_t limit) {
    bool mallocs = vma->anonymous && vma->private_ && end - start <= NOT_MEMORY;
    uintptr_t rest = start; /* spans made up to here */
    scan->in_place =
        vma->steady && mallocs ? (struct vt_range){start, end} : (struct vt_range){0, 0};
    for (uintptr_t at = start, until; mallocs && at < end && vt_scan_may_continue(scan);
         at = until) {
        uint64_t mapped = scan->mapped_bytes;
        if (!(until = spans_at(scan, vma, at, at == rest, limit))) {
            until = next_page(scan, (at | 4095) + 1, end);
            continue;
        }
        scan->unordered |= rest < at;
        scan->mapped_inside |= rest < at && scan->mapped_bytes > mapped;
        spans_of_rest(scan, vma, rest, at, at);
        rest = until;
    }
    return rest < end ? spans_of_rest(scan, vma, rest, end, limit) : rest;
}
