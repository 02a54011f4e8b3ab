/* SPDX-License-Identifier: MIT */
/*
 * Public header of memory/: what this process's memory consists of, and how it is read while it may change.
 *
 *   maps.c    the mappings as the kernel lists them, and lines of other files of /proc
 *   read.c    reads memory that may be unmapped meanwhile, and knows which pages are there
 *   threads.c the process's threads and their stack pointers
 *   pieces.c  stacks, modules' data, and the rest of the memory, cut into spans
 *   heap.c    the C library's heap and Python's small objects, block by block
 *   sort.c    sorts items without memory
 *
 * Invariants: no malloc, no lock, no call into the loader; a wrong address ends in false, never in a fault.
 * What cannot be told apart counts as in use. Uses base/.
 */
#ifndef VT_PRELOAD_MEMORY_H
#define VT_PRELOAD_MEMORY_H

#include "base/base.h"
#include "maps.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A live allocation. Sorted by start. They do not overlap, except for array handles. */
struct vt_target {
    uintptr_t start, end;
    uint8_t kind;
    bool held; /* host or managed memory: its contents count once it is reached */
    bool kept; /* a caching allocator's or a CUDA library's, which is never lost (base/library.c) */
    bool reached;
};

static inline bool vt_target_is_held(unsigned kind) {
    return kind == VT_KIND_HOST || kind == VT_KIND_MANAGED || kind == VT_KIND_POOL_HOST ||
           kind == VT_KIND_POOL_MANAGED;
}

enum vt_span_kind {
    VT_SPAN_ROOT,  /* always reached: modules' data, stacks, thread-local storage */
    VT_SPAN_BOOKS, /* the data of CUDA's own libraries, which leads to their tables */
    VT_SPAN_PLAIN, /* reached as a whole by any pointer into it */
    VT_SPAN_CELLS, /* reached block by block */
};

/* What is known of a block. */
enum vt_mark {
    VT_MARK_BOOKS,  /* the data of CUDA's libraries leads to it */
    VT_MARK_USER,   /* the program's data leads to it */
    VT_MARK_CENTRE, /* ... and directly so: other objects of the libraries lead back to it */
    VT_MARK_THEIRS, /* it is an object of the libraries: it leads back */
    VT_MARKS
};
enum vt_bits { VT_BITS_START, VT_BITS_DEAD, VT_BITS_MARK }; /* ... and one for each mark */

/* A piece of memory to scan. */
struct vt_span {
    uintptr_t start, end;
    uint8_t kind;
    bool heap;       /* the C library's heap: CUDA's tables may lie here */
    bool unknown;    /* where its blocks are is not known, nor which are in use */
    bool steady;     /* pages that are present can be read in place */
    bool every_page; /* scan pages that are not resident too: a driver may hold them elsewhere */
    bool written;    /* scan only pages that are no file's */
    bool marked[VT_MARKS]; /* all but CELLS */
    uintptr_t pointed; /* unknown: the one address in it that words lead to; VT_SEVERAL; 0: none */
    uintptr_t base;    /* CELLS: where the bit maps start */
    /* CELLS: one bit per 16 bytes; see enum vt_bits */
    uint64_t *bits[VT_BITS_MARK + VT_MARKS];
    uint64_t *pages; /* CELLS: one bit per page from that of `base` on: it is present */
};

#define VT_SEVERAL UINTPTR_MAX

/* What may lie between parts of a heap: guard pages, and the reserve of an arena, which is at most as large. */
#define VT_RESERVE_MOST ((uintptr_t)64 << 20)
/* Inaccessible memory up to this size is asked for pages (2 ms); more is address space that was reserved. */
#define VT_SEALED_MOST  ((uintptr_t)1 << 30)

/* Chunks up to this size are found by their bits; each larger one is a span of its own. */
#define VT_CELL_MAX 65536u

/* A mapping of the process that the program may have written. */
struct vt_vma {
    uintptr_t start, end;
    uintptr_t run_end;    /* the end of the adjacent mappings that malloc's memory may lie in */
    uintptr_t steady_end; /* of these, the end of those that are steady; 0: this one is not */
    bool private_, anonymous, heap;
    bool steady;  /* pages that are present can be read in place */
    bool sealed;  /* the program itself cannot read it */
    bool empty;   /* ... and never wrote it */
    bool written; /* a file's, read-only: only pages that were written count */
    bool guarded; /* an inaccessible mapping lies just below: it may be a stack */
    bool device;  /* a device's file, or it contains a live allocation of device memory */
    bool stack;   /* a living thread's, or the remains of a dead one's */
};

/* Of items that begin with their start and end, like those above, are in order and do not overlap:
 * the one around an address, or NULL. Inline, because the flood asks for each word that it reads. */
static inline void *vt_scan_around(void *items, uint32_t count, size_t bytes, uintptr_t address) {
    uint32_t low = 0, high = count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        const uintptr_t *item = (void *)((char *)items + middle * bytes);
        if (item[1] <= address)
            low = middle + 1;
        else
            high = middle;
    }
    uintptr_t *found = (void *)((char *)items + low * bytes);
    return low < count && found[0] <= address ? found : NULL;
}

#define VT_SCAN_VMAS    65536u
#define VT_SCAN_SPANS   262144u
#define VT_SCAN_RANGES  32768u
#define VT_SCAN_THREADS 4096u
#define VT_SCAN_BUFFER  65536u
#define VT_SCAN_TCACHES 1024u

struct vt_thread_seen {
    uint32_t tid;
    uintptr_t sp, pc; /* 0: unknown */
};

/* A module's code. */
struct vt_module_code {
    uintptr_t start, end;
    uintptr_t unwind; /* its .eh_frame_hdr; 0: none */
    bool library;     /* the system's, CUDA's or ours: its frames have no names */
};

/* The writable data of a module that is not CUDA's, the C library's or ours. */
struct vt_module_data {
    uintptr_t start, end;
    bool library; /* the system's, or one of a Python's packages */
    bool torch;   /* libtorch_cpu.so's */
};

/* The thread-local storage of such a module. */
struct vt_module_tls {
    uintptr_t start; /* what it begins with */
    size_t bytes, file_bytes, align, odd;
    uintptr_t bias;
    bool library; /* as above */
};

struct vt_scan {
    struct vt_taken *taken; /* its memory */
    const char *stop;       /* why it ended early; NULL: it did not */
    uint64_t started_ns, started_ticks, asked_ticks;
    uint64_t work, most_work; /* in bytes read in place: the same on every machine */
    uint64_t looked_work;     /* at the last look at the clock */
    uint64_t ending;          /* signals that end the scan: the program handles them */
    uint64_t bytes;           /* scanned so far */
    uint32_t unread_pages;
    bool in_doubt;     /* reached memory could not be read: nothing can be called lost */
    const char *doubt; /* why; NULL: that */
    bool aio;          /* the kernel does I/O for the process by itself */

    struct vt_target *targets;
    uint32_t target_count;
    uint32_t sought; /* of these, what is not kept and was not reached yet */
    bool found;      /* there is no more of that: the rest need not be searched */
    uintptr_t target_low, target_high;

    /* read.c */
    bool alone;    /* no other thread, handled signals blocked: memory does not change */
    bool no_readv; /* process_vm_readv is refused */
    uint32_t pid;
    int pagemap, memfd, mem;
    uint64_t *page_entries; /* 512: those of the window that begins at `window` */
    uintptr_t window;
    bool written;    /* pages of files do not count as present */
    uint8_t *buffer; /* VT_SCAN_BUFFER */
    uint8_t *peeked; /* VT_SCAN_BUFFER, for vt_scan_peek */
    uintptr_t peeked_at, peeked_end;
    struct vt_range in_place; /* what vt_scan_peek reads in place */

    /* pieces.c */
    void *frame;
    struct vt_vma *vmas;
    uint32_t vma_count;
    struct vt_range *ours, *roots, *books, *dead;
    uint32_t our_count, root_count, books_count, dead_count;
    struct vt_range brk;            /* the mappings named [heap]: one range, perhaps with holes */
    struct vt_range libc;           /* its data */
    struct vt_range loader;         /* the dynamic loader's data */
    struct vt_module_data *modules; /* NULL: not asked for; VT_SCAN_RANGES */
    struct vt_module_code *code;    /* likewise */
    uint32_t module_count, code_count;
    struct vt_module_tls *tls; /* likewise */
    uint32_t tls_count;
    size_t tls_bytes; /* modules' thread-local storage, per thread */
    bool python;
    bool by_unknown; /* some allocations are pointed to only in memory of which nothing is known */
    bool stacks_unknown; /* some thread's stack was not found */
    struct vt_thread_seen *threads;
    uint32_t thread_count;
    bool renumbered; /* /proc is another pid namespace's: its threads' numbers are not gettid()'s */

    /* spans, sorted */
    struct vt_span *spans;
    uint32_t span_count;

    /* heap.c */
    uintptr_t tcaches[VT_SCAN_TCACHES];
    uint32_t tcache_count;
    struct vt_range main_arena; /* the main arena's own data, which names chunks, free and in use */
    uintptr_t main_top;         /* its last chunk */
    uintptr_t main_next;        /* where its heap goes on behind fences; 0: it was not looked for */
    bool main_apart;            /* its memory was mapped, piece by piece */
    uintptr_t arenas[256];      /* the other arenas' own data */
    uint32_t arena_count;
    uint64_t mapped_bytes; /* chunks with mappings of their own */
    bool look_inside;   /* chunks with mappings of their own are looked for behind other memory */
    bool mapped_inside; /* such a chunk was found there */
    bool unordered;     /* spans */
};

/* read.c */

#define VT_SCAN_NO_MEMORY "not enough memory"
/* How the names of our memory files begin, and of the simulated driver's. "scan": copied pages. */
#define VT_OUR_MEMFD      "vramtrace-"
#define VT_SCAN_MEMFD     VT_OUR_MEMFD "scan"

/* Maps zeroed memory, in whole pages. NULL: none left. */
void *vt_scan_memory(size_t bytes);
/* The same, in a list: struct vt_taken begins each. Gives back one piece; NULL: the last one. */
struct vt_taken;
void *vt_taken_add(struct vt_taken **list, size_t bytes);
void vt_taken_give_back(struct vt_taken **list, void *memory);
/* The same until the next function is called; when it returns NULL, scan->stop says so. */
void *vt_scan_take(struct vt_scan *scan, size_t bytes);
void vt_scan_give_back(struct vt_scan *scan);
/* Counts a step. False: scan->stop is set, which this does too: past the limit, or when a signal
 * that the program handles waits to end it. */
bool vt_scan_goes_on(struct vt_scan *scan);

bool vt_scan_on_valgrind(void);
bool vt_scan_read_open(struct vt_scan *scan);
void vt_scan_read_close(struct vt_scan *scan);
/* Whether pages of a private mapping that are present can be read in place: no other thread, and no
 * protection key forbids it (process_vm_readv would not notice one). */
bool vt_scan_in_place(struct vt_scan *scan, uintptr_t start, uintptr_t end);
/* Sets the bits of the pages from `start` to `end` that are present, counted from the page of
 * `base`. All of them, where that cannot be known. */
void vt_scan_note_present(struct vt_scan *scan, uintptr_t base, uintptr_t start, uintptr_t end,
                          uint64_t *bits);
/* All of it, or false. */
bool vt_scan_read(struct vt_scan *scan, void *to, uintptr_t from, size_t bytes);
/* The word at `from`, which must be 8-aligned; 0 if it cannot be read. Made for
 * reading forwards. */
uint64_t vt_scan_peek(struct vt_scan *scan, uintptr_t from);
/* Reads ranges, together at most VT_SCAN_BUFFER bytes, one after the other into scan->buffer.
 * Returns how many were read; the next one could not be. */
uint32_t vt_scan_gather(struct vt_scan *scan, const struct vt_range *ranges, uint32_t count);
/* The first run of pages in [from, until) with contents: all of them present, or none. False: there
 * is none. The range must lie in one window of 2 MiB. */
bool vt_scan_resident(struct vt_scan *scan, uintptr_t from, uintptr_t until, struct vt_range *run,
                      bool *present);
/* Whether a mapping has any page; false where it is larger than VT_SEALED_MOST. */
bool vt_scan_has_pages(struct vt_scan *scan, uintptr_t start, uintptr_t end);
/* What was known of pages may have changed. */
void vt_scan_forget_pages(struct vt_scan *scan);
/* Reads a small file of /proc, up to size - 1 bytes, and adds a zero. Returns its length. */
size_t vt_scan_file(const char *path, char *to, size_t size);
/* The number behind so many spaces of such a text; 0: there is none. */
uint64_t vt_scan_number_in(const char *text, unsigned skipped);
/* How many bytes of this process are resident, and how many of these are files'. False: not known. */
bool vt_scan_size(uint64_t *resident, uint64_t *of_files);
/* Writes a number, at most 10 digits and no zero, for the path of such a file. Returns where it ends. */
char *vt_scan_number(char *at, uint32_t n);

/* threads.c, pieces.c: the threads first, then mappings and modules, then ranges; vt_scan_spans makes spans from them. */
void vt_scan_find_threads(struct vt_scan *scan);
/* The calling thread's number in /proc, which may be of another pid namespace. */
uint32_t vt_scan_self(void);
/* The number that a folder's next entry is, 0 if its name is none, from what getdents64 gave. False: no more. */
bool vt_scan_entry(const char *block, long bytes, long *at, uint32_t *number);
bool vt_scan_list_maps(struct vt_scan *scan);
bool vt_scan_look_around(struct vt_scan *scan);
bool vt_scan_spans(struct vt_scan *scan);
/* The C library's block of the thread on whose stack this is, where its address follows from the
 * stack; else 0. */
uintptr_t vt_scan_thread_block(struct vt_scan *scan, uintptr_t sp);
/* sort.c: sorts such items by their start (heap sort: it needs no memory). Their size is whole words. */
void vt_scan_sort(void *items, size_t count, size_t bytes);
struct vt_span *vt_scan_add_span(struct vt_scan *scan, uintptr_t start, uintptr_t end,
                                 unsigned kind, const struct vt_vma *vma);

struct vt_span *vt_scan_span_at(const struct vt_scan *scan, uintptr_t address);
/* The mapping around an address, or the next one; NULL: none. */
struct vt_vma *vt_scan_after(const struct vt_scan *scan, uintptr_t address);

/* heap.c: finds the C library's main arena. */
void vt_scan_heap_open(struct vt_scan *scan);
/* Whether what was found inside of other memory adds up to what the C library has in its books. */
bool vt_scan_heap_adds_up(struct vt_scan *scan);
/* Adds the spans of one piece of plain memory. What malloc or Python has there may go on in the next
 * mappings, up to `limit`. Returns where it ends, which is `end` or later. */
uintptr_t vt_scan_heap_piece(struct vt_scan *scan, const struct vt_vma *vma, uintptr_t start,
                             uintptr_t end, uintptr_t limit);
/* After all spans are made: removes the free chunks that the allocator keeps in lists. */
void vt_scan_heap_free_lists(struct vt_scan *scan);
/* The block of a CELLS span that contains an address. False: none, or not in use. */
bool vt_scan_cell_at(const struct vt_span *span, uintptr_t address, struct vt_range *cell);
/* Whether all pages of a part of a CELLS span were present when the cells were made. */
bool vt_scan_cells_present(const struct vt_span *span, uintptr_t start, uintptr_t end);

static inline bool vt_bit(const uint64_t *bits, size_t i) {
    return bits[i / 64] >> i % 64 & 1;
}
static inline void vt_bit_set(uint64_t *bits, size_t i) {
    bits[i / 64] |= 1ull << i % 64;
}

/* A word leads to memory of which nothing is known. */
static inline void vt_scan_note_pointed(struct vt_span *s, uintptr_t address) {
    s->pointed = !s->pointed || s->pointed == address ? address : VT_SEVERAL;
}
/* As far as it is known, it is one object: a table that was mapped. A heap's blocks are pointed to. */
static inline bool vt_scan_is_one(const struct vt_span *s) {
    return s->unknown && s->pointed == s->start;
}

/* Whether the block that starts there has this mark. */
static inline bool vt_scan_has(const struct vt_span *s, uintptr_t start, enum vt_mark mark) {
    return s->kind == VT_SPAN_CELLS ? vt_bit(s->bits[VT_BITS_MARK + mark], (start - s->base) / 16)
                                    : s->marked[mark];
}
static inline void vt_scan_set(struct vt_span *s, uintptr_t start, enum vt_mark mark) {
    if (s->kind == VT_SPAN_CELLS)
        vt_bit_set(s->bits[VT_BITS_MARK + mark], (start - s->base) / 16);
    else
        s->marked[mark] = true;
}

#endif
