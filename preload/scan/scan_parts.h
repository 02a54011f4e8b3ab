/* SPDX-License-Identifier: MIT */
/*
 * Between the files of scan/, in the order of the work:
 *
 *   scan.c        the door: what is looked for, when it is not, what is written down
 *   scan_read.c   reading memory that may vanish meanwhile
 *   scan_maps.c   what memory there is: modules' data, stacks of threads, the rest
 *   scan_heap.c   the C library's heap and Python's small objects, block by block
 *   scan_flood.c  from what a program can always reach, along every pointer
 */
#ifndef VT_PRELOAD_SCAN_PARTS_H
#define VT_PRELOAD_SCAN_PARTS_H

#include "base/base.h"
#include "scan.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A live allocation. Sorted by start; they do not overlap, but for an array's handle. */
struct vt_target {
    uintptr_t start, end;
    uint8_t kind;
    bool held; /* host or managed memory: what is in it counts once it is reached */
    bool reached;
    bool hinted; /* reached only from what may be a driver's books: see scan_flood.c */
};

enum vt_span_kind {
    VT_SPAN_ROOT,  /* always reached: modules' data, stacks, thread-local storage */
    VT_SPAN_BOOKS, /* the data of CUDA's own libraries: where their books hang */
    VT_SPAN_PLAIN, /* reached as a whole by any pointer into it */
    VT_SPAN_CELLS, /* reached block by block */
};

/* A piece of memory to look at. */
struct vt_span {
    uintptr_t start, end;
    uint8_t kind;
    bool heap;         /* the C library's: books may lie here */
    bool steady;       /* its resident pages may be read in place */
    bool every_page;   /* also what is not resident: held by a driver, elsewhere perhaps */
    bool marked[2];    /* ROOT, BOOKS, PLAIN; see enum vt_mark */
    uintptr_t base;    /* CELLS: where the bit maps begin */
    uint64_t *bits[4]; /* CELLS: one bit for 16 bytes; see enum vt_bits */
};

enum vt_bits { VT_BITS_START, VT_BITS_DEAD, VT_BITS_MARK };
enum vt_mark { VT_MARK_BOOKS, VT_MARK_USER }; /* bits[VT_BITS_MARK + mark] */

/* Chunks up to this size are found by their bits; larger ones are spans of their own. */
#define VT_CELL_MAX 65536u

/* One mapping of the process that can be written. */
struct vt_vma {
    uintptr_t start, end;
    bool private_, anonymous, heap;
    bool steady;  /* its resident pages may be read in place */
    bool guarded; /* a mapping that cannot be touched ends where it begins: it may be a stack */
    bool device;  /* a device's file, or a live allocation of device memory lies in it */
    bool stack;   /* a living thread's, or the remains of a dead one's */
};

#define VT_SCAN_VMAS    65536u
#define VT_SCAN_SPANS   262144u
#define VT_SCAN_RANGES  32768u
#define VT_SCAN_THREADS 4096u
#define VT_SCAN_BUFFER  65536u
#define VT_SCAN_TCACHES 1024u

struct vt_thread_seen {
    uint32_t tid;
    uintptr_t sp; /* 0: not known */
};

struct vt_scan {
    const char *stop; /* why it ended early; NULL: it did not */
    uint64_t started_ns, deadline_ns, asked_ticks;
    uint64_t bytes; /* looked at */
    uint32_t unread_pages;
    bool in_doubt; /* something that is reached could not be read: nothing can be called lost */

    struct vt_target *targets;
    uint32_t target_count;
    uintptr_t target_low, target_high;

    /* scan_read.c */
    bool alone;    /* no other thread, and signals held back: memory stays as it is */
    bool no_readv; /* process_vm_readv is refused */
    uint32_t pid;
    int pagemap, memfd;
    void *memfd_window;
    uint64_t *page_entries; /* 512 */
    uint8_t *buffer;        /* VT_SCAN_BUFFER */
    uint8_t *peeked;        /* VT_SCAN_BUFFER, for vt_scan_peek */
    uintptr_t peeked_at, peeked_end;
    struct vt_range in_place; /* what vt_scan_peek reads where it is */

    /* scan_maps.c */
    void *frame;
    struct vt_vma *vmas;
    uint32_t vma_count;
    struct vt_range *ours, *roots, *books, *dead;
    uint32_t our_count, root_count, books_count, dead_count;
    struct vt_range libc;   /* its data */
    struct vt_range loader; /* the dynamic loader's data */
    size_t tls_bytes;       /* modules' thread-local storage, of one thread */
    bool python;
    bool stacks_unknown; /* of some thread it is not known where its stack is */
    struct vt_thread_seen *threads;
    uint32_t thread_count;

    /* spans, sorted */
    struct vt_span *spans;
    uint32_t span_count;

    /* scan_heap.c */
    uintptr_t tcaches[VT_SCAN_TCACHES];
    uint32_t tcache_count;
    uintptr_t main_top;         /* the last chunk of the heap that grows by brk */
    struct vt_range main_arena; /* the main arena's own words: they name chunks, free and in use */
    uintptr_t arenas[256];      /* the other arenas' own words */
    uint32_t arena_count;

    void *flood; /* scan_flood.c's own */
};

/* scan_read.c */

#define VT_SCAN_NO_MEMORY "not enough memory"

/* Zeroed memory of that many bytes, mapped; it lasts to the end of the process. NULL: there is none. */
void *vt_scan_memory(size_t bytes);
/* The same; NULL is said in scan->stop. */
void *vt_scan_take(struct vt_scan *scan, size_t bytes);
/* Whether to go on: no stop, and time is left. */
bool vt_scan_goes_on(struct vt_scan *scan);

bool vt_scan_read_open(struct vt_scan *scan);
void vt_scan_read_close(struct vt_scan *scan);
/* Whether resident pages of a private mapping may be read where they are: no other thread, and no
 * protection key in the way (which process_vm_readv would not notice). */
bool vt_scan_in_place(struct vt_scan *scan, uintptr_t address);
/* All of it, or false. */
bool vt_scan_read(struct vt_scan *scan, void *to, uintptr_t from, size_t bytes);
/* The word at `from`, 8-aligned; 0 where there is none. For going forward through memory. */
uint64_t vt_scan_peek(struct vt_scan *scan, uintptr_t from);
/* Reads ranges, of at most VT_SCAN_BUFFER bytes together, one behind the other into scan->buffer.
 * Answers how many from the first on are there; the one behind those cannot be read. */
uint32_t vt_scan_gather(struct vt_scan *scan, const struct vt_range *ranges, uint32_t count);
/* The first run of pages in [from, until) that hold anything; false: none. `until` at most 2 MiB
 * behind `from`. */
bool vt_scan_resident(struct vt_scan *scan, uintptr_t from, uintptr_t until, struct vt_range *run);
/* A whole small file of /proc; its length, at most size - 1, and a zero behind it. */
size_t vt_scan_file(const char *path, char *to, size_t size);

/* scan_maps.c: first the threads, then vmas and ranges; then vt_scan_spans makes spans of them. */
void vt_scan_find_threads(struct vt_scan *scan);
bool vt_scan_look_around(struct vt_scan *scan);
bool vt_scan_spans(struct vt_scan *scan);
struct vt_span *vt_scan_add_span(struct vt_scan *scan, uintptr_t start, uintptr_t end,
                                 unsigned kind, const struct vt_vma *vma);

/* scan_heap.c: adds the spans of one piece of plain memory. */
void vt_scan_heap_piece(struct vt_scan *scan, const struct vt_vma *vma, uintptr_t start,
                        uintptr_t end);
/* When all spans are there: takes out what the allocator keeps in its lists. */
void vt_scan_heap_free_lists(struct vt_scan *scan);

/* scan_flood.c */
struct vt_span *vt_scan_span_at(const struct vt_scan *scan, uintptr_t address);
/* The block of a CELLS span that an address is in. False: none, or not in use. */
bool vt_scan_cell_at(const struct vt_span *span, uintptr_t address, struct vt_range *cell);
bool vt_scan_flood(struct vt_scan *scan, const uintptr_t *registers, uint32_t register_count);

static inline bool vt_bit(const uint64_t *bits, size_t i) {
    return bits[i / 64] >> i % 64 & 1;
}
static inline void vt_bit_set(uint64_t *bits, size_t i) {
    bits[i / 64] |= 1ull << i % 64;
}

#endif
