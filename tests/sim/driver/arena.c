/* SPDX-License-Identifier: MIT */
/*
 * Address space for simulated device memory: one reserved range, from which addresses are allocated
 * by size class. The last one freed is reused first, so a tracer sees reused addresses at once. A
 * device of 141 GiB costs nothing until its bytes are touched. The caller holds the driver's lock.
 */
#include "driver.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define SMALLEST  ((size_t)512)
#define LARGE     ((size_t)1 << 20)
#define STEPS     8 /* size classes between two powers of two */
#define CLASSES   (48 * STEPS)
#define GROWTH    ((size_t)64 << 20) /* pages are made accessible in such steps */
/* Where a range of 32-bit addresses is asked for, and where it must end. */
#define LOW_START ((uintptr_t)1 << 30)
#define LOW_END   ((uintptr_t)1 << 32)

struct sim_freelist {
    uintptr_t *starts;
    size_t count, room;
};

static size_t round_up(size_t value, size_t step) {
    return (value + step - 1) / step * step;
}

/* The size that a request is served with, and the list that such ranges wait in. */
static size_t class_of(size_t bytes, unsigned *index) {
    size_t granule = bytes >= LARGE ? SIM_GRANULE : SMALLEST;
    size_t size = round_up(bytes != 0 ? bytes : 1, granule);
    unsigned log = 63U - (unsigned)__builtin_clzll(size);
    size_t step = ((size_t)1 << log) / STEPS;
    size = round_up(size, step > granule ? step : granule);
    if (size >= LARGE && granule == SMALLEST)
        return class_of(size, index); /* rounded up into the large ones: it must come back there */
    log = 63U - (unsigned)__builtin_clzll(size);
    *index = log * STEPS + (unsigned)(((size - ((size_t)1 << log)) * STEPS) >> log);
    return size;
}

bool sim_arena_open(struct sim_arena *arena, size_t bytes, bool low) {
    bytes = round_up(bytes, SIM_GRANULE) + SIM_GRANULE;
    void *base = mmap(low ? (void *)LOW_START : NULL, bytes, PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED)
        return false;
    bool fits = !low || (uintptr_t)base + bytes <= LOW_END;
    arena->freelists = fits ? calloc(CLASSES, sizeof *arena->freelists) : NULL;
    if (arena->freelists == NULL) {
        munmap(base, bytes);
        return false;
    }
    madvise(base, bytes, MADV_DONTDUMP); /* a core file of the program is not a device's */
    arena->base = round_up((uintptr_t)base, SIM_GRANULE);
    arena->end = (uintptr_t)base + bytes;
    arena->next = arena->writable = arena->base;
    return true;
}

/* Moves the frontier; what lies below it is accessible. */
static uintptr_t advance(struct sim_arena *arena, size_t size) {
    uintptr_t start = arena->next;
    if (size > arena->end - start)
        return 0;
    if (start + size > arena->writable) {
        uintptr_t until = arena->writable + round_up(start + size - arena->writable, GROWTH);
        if (until > arena->end)
            until = arena->end;
        if (mprotect((void *)arena->writable, until - arena->writable, PROT_READ | PROT_WRITE) != 0)
            return 0;
        arena->writable = until;
    }
    arena->next = start + size;
    return start;
}

uintptr_t sim_arena_take(struct sim_arena *arena, size_t bytes, size_t *span) {
    unsigned index;
    if (bytes > arena->end - arena->base)
        return 0;
    size_t size = class_of(bytes, &index);
    *span = size;
    struct sim_freelist *list = &arena->freelists[index];
    if (list->count > 0)
        return list->starts[--list->count];
    if (size >= SIM_GRANULE) {
        uintptr_t start = advance(arena, size);
        if (start != 0)
            return start;
        /* The range is used up: a bigger one that lies idle will do. */
        for (index++; index < CLASSES; index++) {
            list = &arena->freelists[index];
            if (list->count > 0) {
                start = list->starts[--list->count];
                unsigned log = index / STEPS;
                *span = ((size_t)1 << log) + (((size_t)1 << log) / STEPS) * (index % STEPS);
                return start;
            }
        }
        return 0;
    }
    if (size > arena->small_end - arena->small_next) {
        uintptr_t slab = advance(arena, SIM_GRANULE);
        if (slab == 0)
            return 0;
        arena->small_next = slab;
        arena->small_end = slab + SIM_GRANULE;
    }
    uintptr_t start = arena->small_next;
    arena->small_next += size;
    return start;
}

void sim_arena_give(struct sim_arena *arena, uintptr_t start, size_t span, bool touched) {
    unsigned index;
    class_of(span, &index);
    struct sim_freelist *list = &arena->freelists[index];
    if (touched && span >= 65536) {
        const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
        uintptr_t first = round_up(start, page), last = (start + span) & -page;
        madvise((void *)first, last - first, MADV_DONTNEED);
    }
    if (list->count == list->room) {
        size_t room = list->room != 0 ? 2 * list->room : 16;
        uintptr_t *starts = realloc(list->starts, room * sizeof *starts);
        if (starts == NULL)
            return; /* the addresses are lost, not the bytes */
        list->starts = starts;
        list->room = room;
    }
    list->starts[list->count++] = start;
}
