/* SPDX-License-Identifier: MIT */
/*
 * Public header of memory/: finds the parts of this process's memory, and reads it while it changes.
 *
 *   maps.c    the mappings as the kernel lists them, and lines of other files in /proc
 *   read.c    reads memory that may be unmapped meanwhile, and finds present pages
 *   threads.c the process's threads and their stack pointers
 *   pieces.c  stacks, modules' data, and the rest of the memory, cut into spans
 *   heap.c    the C library's heap and Python's small objects, block by block
 *   sort.c    sorts items in place
 *
 * Invariants: no malloc, no lock, no call into the loader; a bad address causes `false`, never a fault. Memory whose
 * state is unknown counts as in use. Uses base/.
 */
#ifndef VT_PRELOAD_MEMORY_H
#define VT_PRELOAD_MEMORY_H

#include "base/base.h"
#include "maps.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A live allocation. Targets are sorted by start, and do not overlap, except for array handles. */
struct vt_target {
    uintptr_t start, end;
    uint8_t kind;
    bool held; /* host or managed memory: its contents are scanned once it is reached */
    bool
        kept; /* belongs to a caching allocator or a CUDA library, so it never counts as lost (base/known_library.c) */
    bool reached;
};

static inline bool vt_target_is_held(unsigned kind) {
    return kind == VT_KIND_HOST || kind == VT_KIND_MANAGED || kind == VT_KIND_POOL_HOST ||
           kind == VT_KIND_POOL_MANAGED;
}

enum vt_span_kind {
    VT_SPAN_ROOT,  /* always reached: modules' data, stacks, thread-local storage */
    VT_SPAN_CUDA,  /* data of CUDA's own libraries, which leads to their tables */
    VT_SPAN_PLAIN, /* any pointer into it reaches all of it */
    VT_SPAN_CELLS, /* reached block by block (a cell each) */
};

/* Properties of a block. */
enum vt_mark {
    VT_MARK_CUDA, /* data of CUDA's libraries leads to it */
    VT_MARK_USER, /* the program's data leads to it */
    VT_MARK_CENTRE, /* data of CUDA's libraries points directly to it, and their other objects refer back to it */
    VT_MARK_THEIRS, /* it is an object of CUDA's libraries, because it refers back */
    VT_MARKS
};
enum vt_bits { VT_BITS_START, VT_BITS_DEAD, VT_BITS_MARK }; /* ... and one bit for each mark */

/* A piece of memory to scan. */
struct vt_span {
    uintptr_t start, end;
    uint8_t kind;
    bool heap;             /* the C library's heap: CUDA's tables may lie here */
    bool opaque;           /* its blocks are unknown, and so is their use */
    bool steady;           /* pages that are present can be read in place */
    bool every_page;       /* scan non-resident pages as well: a driver may hold them elsewhere */
    bool written;          /* scan only pages that differ from the file's */
    bool marked[VT_MARKS]; /* not for CELLS */
    uintptr_t
        pointed;    /* opaque: the only address in it to which words point; VT_SEVERAL; 0: none */
    uintptr_t base; /* CELLS: the address of the bit maps' first bit */
    /* CELLS: one bit per 16 bytes; see enum vt_bits */
    uint64_t *bits[VT_BITS_MARK + VT_MARKS];
    uint64_t *pages; /* CELLS: one bit per page, from the page of `base`: whether it is present */
};

#define VT_SEVERAL UINTPTR_MAX

/* Largest gap between parts of a heap: guard pages, and the reserve of an arena. */
#define VT_RESERVE_MOST ((uintptr_t)64 << 20)
/* Inaccessible mappings up to this size are checked for pages (2 ms); larger ones are reserved address space. */
#define VT_SEALED_MOST  ((uintptr_t)1 << 30)

/* Chunks up to this size are found by their bits; each larger one has its own span. */
#define VT_CELL_MAX 65536u

/* A mapping that the program may have written. */
struct vt_vma {
    uintptr_t start, end;
    uintptr_t run_end;    /* end of the adjacent mappings in which malloc's memory may continue */
    uintptr_t steady_end; /* end of the steady ones among them; 0: this one is not steady */
    bool private_, anonymous, heap;
    bool steady;  /* pages that are present can be read in place */
    bool sealed;  /* the program itself cannot read it */
    bool empty;   /* ... and never wrote it */
    bool written; /* a read-only file mapping: only pages that were written count */
    bool guarded; /* an inaccessible mapping lies just below: it may be a stack */
    bool device;  /* a device file's, or it contains a live allocation of device memory */
    bool stack;   /* the stack of a living thread, or of a dead one */
};

/* Finds the item that contains an address, among sorted, disjoint items whose first fields are start and end, such as
 * the structs above; NULL: none. Inline, because the flood calls it for each word. */
static inline void *vt_scan_item_at(void *items, uint32_t count, size_t bytes, uintptr_t address) {
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
    bool library;     /* belongs to the system, CUDA or us: its frames need no names */
};

/* The writable data of a module that is not CUDA's, the C library's or ours. */
struct vt_module_data {
    uintptr_t start, end;
    bool library; /* the system's, or a Python package's */
    bool torch;   /* libtorch_cpu.so's */
};

/* The thread-local storage of such a module. */
struct vt_module_tls {
    uintptr_t start; /* its initial contents */
    size_t bytes, file_bytes, align, odd;
    uintptr_t bias;
    bool library; /* as above */
};

struct vt_scan {
    struct vt_memory_list *memory; /* memory mapped for the scan */
    const char *stop;              /* why the scan ended early; NULL: it ran to the end */
    uint64_t started_ns, started_ticks, asked_ticks;
    uint64_t work, most_work; /* unit: a byte read in place, the same on every machine */
    uint64_t looked_work;     /* at the last check of the clock */
    uint64_t ending;          /* signals that the program handles and that end the scan */
    uint64_t bytes;           /* scanned so far */
    uint32_t unread_pages;
    bool in_doubt;     /* reached memory could not be read: nothing can be called lost */
    const char *doubt; /* the reason; NULL: some memory could not be read */
    bool aio;          /* the kernel does I/O for the process on its own */

    struct vt_target *targets;
    uint32_t target_count;
    uint32_t sought; /* how many targets are neither kept nor reached yet */
    bool found;      /* all targets are reached: the rest of memory need not be searched */
    uintptr_t target_low, target_high;

    /* read.c */
    bool alone;    /* no other thread, and handled signals are blocked: memory does not change */
    bool no_readv; /* process_vm_readv is refused */
    uint32_t pid;
    int pagemap, memfd, mem;
    uint64_t *page_entries; /* 512 entries, for the window that begins at `window` */
    uintptr_t window;
    bool written;    /* files' pages count as absent */
    uint8_t *buffer; /* VT_SCAN_BUFFER */
    uint8_t *peeked; /* VT_SCAN_BUFFER, for vt_scan_peek */
    uintptr_t peeked_at, peeked_end;
    struct vt_range in_place; /* memory that vt_scan_peek may read in place */

    /* pieces.c */
    void *frame;
    struct vt_vma *vmas;
    uint32_t vma_count;
    struct vt_range *ours, *roots, *cuda_data, *dead;
    uint32_t our_count, root_count, cuda_data_count, dead_count;
    struct vt_range brk;    /* the mappings named [heap] as one range, which may have holes */
    struct vt_range libc;   /* its writable data */
    struct vt_range loader; /* the dynamic loader's data */
    struct vt_module_data *modules; /* NULL: not requested; VT_SCAN_RANGES of them */
    struct vt_module_code *code;    /* likewise */
    uint32_t module_count, code_count;
    struct vt_module_tls *tls; /* likewise */
    uint32_t tls_count;
    size_t tls_bytes; /* modules' thread-local storage, per thread */
    bool python;
    bool by_opaque;      /* some allocations are pointed to only from opaque memory */
    bool stacks_unknown; /* some thread's stack was not found */
    struct vt_thread_seen *threads;
    uint32_t thread_count;
    bool
        renumbered; /* /proc belongs to another pid namespace: its thread numbers differ from gettid()'s */

    /* spans, sorted */
    struct vt_span *spans;
    uint32_t span_count;

    /* heap.c */
    uintptr_t tcaches[VT_SCAN_TCACHES];
    uint32_t tcache_count;
    struct vt_range
        main_arena;     /* the main arena's own data, which points to chunks both free and in use */
    uintptr_t main_top; /* its last chunk */
    uintptr_t main_next;   /* where its heap continues after fences; 0: not looked for yet */
    bool main_apart;       /* its memory was mapped piece by piece */
    uintptr_t arenas[256]; /* the other arenas' own data */
    uint32_t arena_count;
    uint64_t mapped_bytes; /* chunks with mappings of their own */
    bool look_inside;      /* also look for such chunks after other memory */
    bool mapped_inside;    /* such a chunk was found there */
    bool unordered;        /* the spans need sorting */
};

/* read.c */

#define VT_SCAN_NO_MEMORY "not enough memory"
/* The prefix of the names of memory files, ours and the simulated driver's. "scan": for copied pages. */
#define VT_OUR_MEMFD      "vramtrace-"
#define VT_SCAN_MEMFD     VT_OUR_MEMFD "scan"

/* Maps zeroed memory, in whole pages. NULL: out of memory. */
void *vt_memory_map(size_t bytes);
/* The same, but the memory is put on a list; a struct vt_memory_list precedes each piece. vt_memory_list_release unmaps
 * one piece; NULL: the last one. */
struct vt_memory_list;
void *vt_memory_list_add(struct vt_memory_list **list, size_t bytes);
void vt_memory_list_release(struct vt_memory_list **list, void *memory);
/* The same for a scan: the memory lives until vt_scan_release. If it returns NULL, scan->stop is set. */
void *vt_scan_allocate(struct vt_scan *scan, size_t bytes);
void vt_scan_release(struct vt_scan *scan);
/* Counts a step. Sets scan->stop at the limit, or when a signal in scan->ending is pending. False if scan->stop is
 * set. */
bool vt_scan_may_continue(struct vt_scan *scan);

bool vt_scan_on_valgrind(void);
bool vt_scan_read_open(struct vt_scan *scan);
void vt_scan_read_close(struct vt_scan *scan);
/* Whether the present pages of a private mapping can be read in place: there is no other thread, and no protection key
 * forbids it (process_vm_readv ignores protection keys). */
bool vt_scan_in_place(struct vt_scan *scan, uintptr_t start, uintptr_t end);
/* Sets the bits of the present pages between `start` and `end`; bit 0 is the page of `base`. If presence is unknown,
 * sets all. */
void vt_scan_note_present(struct vt_scan *scan, uintptr_t base, uintptr_t start, uintptr_t end,
                          uint64_t *bits);
/* Reads all of it; false: not all is readable. */
bool vt_scan_read(struct vt_scan *scan, void *to, uintptr_t from, size_t bytes);
/* The word at `from`, which must be 8-aligned; 0 if it cannot be read. Fast for reading forwards. */
uint64_t vt_scan_peek(struct vt_scan *scan, uintptr_t from);
/* Reads ranges, of at most VT_SCAN_BUFFER bytes in total, one after the other into scan->buffer. Returns the number of
 * ranges read; the next one is not readable. */
uint32_t vt_scan_gather(struct vt_scan *scan, const struct vt_range *ranges, uint32_t count);
/* Finds the first run of pages with contents in [from, until), either all present or all not present. False: no such
 * run. The range must lie in one window of 2 MiB. */
bool vt_scan_resident(struct vt_scan *scan, uintptr_t from, uintptr_t until, struct vt_range *run,
                      bool *present);
/* Whether a mapping has any page; false if it is larger than VT_SEALED_MOST. */
bool vt_scan_has_pages(struct vt_scan *scan, uintptr_t start, uintptr_t end);
/* Discards cached page states, which may have changed. */
void vt_scan_forget_pages(struct vt_scan *scan);
/* Reads a small file in /proc, up to size - 1 bytes, and appends a zero. Returns its length. */
size_t vt_scan_read_file(const char *path, char *to, size_t size);
/* The number after `skipped` spaces in such a file's text; 0: none. */
uint64_t vt_scan_parse_number(const char *text, unsigned skipped);
/* This process's resident bytes, and the part that belongs to files. False: unknown. */
bool vt_scan_resident_bytes(uint64_t *resident, uint64_t *of_files);
/* Writes a decimal number, at most 10 digits, without a NUL. Returns a pointer past it. */
char *vt_scan_write_number(char *at, uint32_t n);

/* threads.c, pieces.c: call them in this order. False: scan->stop is set. */
void vt_scan_find_threads(struct vt_scan *scan);
/* The calling thread's number in /proc, which may be that of another pid namespace. */
uint32_t vt_scan_own_tid(void);
/* Advances through a block of getdents64 entries; *number is the next entry's name, or 0 if that is no number. False:
 * no more. */
bool vt_scan_next_entry(const char *block, long bytes, long *at, uint32_t *number);
bool vt_scan_list_maps(struct vt_scan *scan);
bool vt_scan_classify_maps(struct vt_scan *scan);
bool vt_scan_make_spans(struct vt_scan *scan);
/* The C library's block of the thread whose stack contains `sp`; 0: unknown. */
uintptr_t vt_scan_thread_block(struct vt_scan *scan, uintptr_t sp);
/* sort.c: sorts items that begin with their start, in place (heap sort). `bytes`: size of an item, in whole words. */
void vt_scan_sort(void *items, size_t count, size_t bytes);
struct vt_span *vt_scan_add_span(struct vt_scan *scan, uintptr_t start, uintptr_t end,
                                 unsigned kind, const struct vt_vma *vma);

struct vt_span *vt_scan_span_at(const struct vt_scan *scan, uintptr_t address);
/* The mapping that contains an address, or the next one; NULL: none. */
struct vt_vma *vt_scan_vma_from(const struct vt_scan *scan, uintptr_t address);

/* heap.c: finds the C library's main arena. */
void vt_scan_heap_open(struct vt_scan *scan);
/* Whether the chunks found after other memory add up to the C library's own count. */
bool vt_scan_heap_adds_up(struct vt_scan *scan);
/* Adds the spans of one piece of plain memory. A heap in it may continue in the next mappings, up to `limit`. Returns
 * the heap's end, which is at or after `end`. */
uintptr_t vt_scan_heap_piece(struct vt_scan *scan, const struct vt_vma *vma, uintptr_t start,
                             uintptr_t end, uintptr_t limit);
/* Call after all spans are made: removes the free chunks that are on the allocator's lists. */
void vt_scan_heap_free_lists(struct vt_scan *scan);
/* Finds the block of a CELLS span that contains an address. False: none, or not in use. */
bool vt_scan_cell_at(const struct vt_span *span, uintptr_t address, struct vt_range *cell);
/* Whether all pages of a part of a CELLS span were present when the cells were made. */
bool vt_scan_cells_present(const struct vt_span *span, uintptr_t start, uintptr_t end);

static inline bool vt_bit(const uint64_t *bits, size_t i) {
    return bits[i / 64] >> i % 64 & 1;
}
static inline void vt_bit_set(uint64_t *bits, size_t i) {
    bits[i / 64] |= 1ull << i % 64;
}

/* Notes that a word points into opaque memory. */
static inline void vt_scan_note_pointed(struct vt_span *s, uintptr_t address) {
    s->pointed = !s->pointed || s->pointed == address ? address : VT_SEVERAL;
}
/* Whether the memory seems to be a single object, such as a mapped table: words point only to its start. In a heap,
 * words point to many blocks. */
static inline bool vt_scan_is_one(const struct vt_span *s) {
    return s->opaque && s->pointed == s->start;
}

/* Whether the block at `start` has this mark. */
static inline bool vt_scan_has_mark(const struct vt_span *s, uintptr_t start, enum vt_mark mark) {
    return s->kind == VT_SPAN_CELLS ? vt_bit(s->bits[VT_BITS_MARK + mark], (start - s->base) / 16)
                                    : s->marked[mark];
}
static inline void vt_scan_set_mark(struct vt_span *s, uintptr_t start, enum vt_mark mark) {
    if (s->kind == VT_SPAN_CELLS)
        vt_bit_set(s->bits[VT_BITS_MARK + mark], (start - s->base) / 16);
    else
        s->marked[mark] = true;
}

#endif
