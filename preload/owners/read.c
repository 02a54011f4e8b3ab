/* SPDX-License-Identifier: MIT */
/*
 * Reads memory for the walk through functions that never fault, however wrong the address is.
 *
 * In the child nothing changes, so memory is read in place. /proc/self/maps gives the readable ranges. If a page still
 * cannot be read (a guard, the end of a file), the child's fault handler makes the read return false
 * (vt_owners_faulted). In the program itself, other threads may unmap anything, and the fault handlers are the
 * program's. So there pages are read by process_vm_readv, and the last ones are cached.
 *
 * This file also manages the walk's own memory, because every part needs it. Called by the readers and the walk.
 */
#define _GNU_SOURCE
#include "owners.h"
#include "memory/memory.h"
#include "stack/stack.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>

#define PAGE       4096u
#define PAGES_KEPT 512u
#define READ_WORK  32u /* cost of reading a page of the program itself */

#ifdef __clang__
#define ONCE __attribute__((noinline))
#else
#define ONCE __attribute__((noinline, noclone)) /* cloning would duplicate the labels */
#endif

/* Copies, and returns 0, or after a fault the number of bytes left. The fault handler recognizes these instructions by
 * the labels around them. */
ONCE static size_t copy_bytes(void *to, const void *from, size_t bytes) {
    uint64_t word;
    __asm__ volatile(".globl vt_owners_copy_start, vt_owners_copy_end\n"
                     ".hidden vt_owners_copy_start, vt_owners_copy_end\n"
                     "vt_owners_copy_start:\n" VT_COPY_LOOP "vt_owners_copy_end:"
                     : "+r"(bytes), "+r"(to), "+r"(from), "=&r"(word)
                     :
                     : "memory", "cc", VT_COPY_LOOP_USES);
    return bytes;
}

/* The same for one word, the most frequent read. */
ONCE static size_t copy_word(uint64_t *to, const void *from) {
    size_t left = sizeof *to;
    uint64_t word = 0;
    __asm__ volatile(".globl vt_owners_word_start, vt_owners_word_end\n"
                     ".hidden vt_owners_word_start, vt_owners_word_end\n"
                     "vt_owners_word_start:\n\t" VT_LOAD_WORD "vt_owners_word_end:"
                     : "+r"(left), "+r"(word)
                     : "r"(from)
                     : "memory", "cc");
    *to = word;
    return left;
}

extern const char vt_owners_copy_start[], vt_owners_copy_end[], vt_owners_word_start[],
    vt_owners_word_end[];

bool vt_owners_faulted(void *context) {
    static const struct {
        const char *start, *end;
    } copies[] = {{vt_owners_copy_start, vt_owners_copy_end},
                  {vt_owners_word_start, vt_owners_word_end}};
    uintptr_t *pc = (void *)((char *)context + VT_CONTEXT_PC);
    for (size_t i = 0; i < sizeof copies / sizeof *copies; i++)
        if (*pc >= (uintptr_t)copies[i].start && *pc < (uintptr_t)copies[i].end) {
            *pc = (uintptr_t)copies[i].end;
            return true;
        }
    return false;
}

static void note_mapping(struct vt_owners *w, const struct vt_mapping *m) {
    if (m->access[0] != 'r' || m->device || strncmp(m->name, "[vv", 3) == 0 || /* vvar */
        strncmp(m->name, "[vs", 3) == 0)                                       /* vsyscall */
        return;
    struct vt_range *last = w->range_count ? &w->ranges[w->range_count - 1] : NULL;
    if (last && m->start <= last->end) { /* adjacent, or the list was read while it grew */
        if (m->end > last->end)
            last->end = m->end;
    } else if (w->range_count < VT_OWNERS_RANGES) {
        w->ranges[w->range_count++] = (struct vt_range){m->start, m->end};
    } else {
        w->in_doubt = true;
    }
}

static bool read_maps(struct vt_owners *w) {
    struct vt_maps *maps = vt_owners_map(w, sizeof *maps);
    struct vt_mapping mapping;
    w->ranges = vt_owners_map(w, VT_OWNERS_RANGES * sizeof *w->ranges);
    if (!maps || !w->ranges || !vt_maps_open(maps))
        return false;
    while (vt_maps_next(maps, &mapping))
        note_mapping(w, &mapping);
    vt_maps_close(maps);
    vt_memory_list_release(&w->memory, maps);
    return w->range_count > 0;
}

void *vt_owners_map(struct vt_owners *w, size_t bytes) {
    void *memory = vt_memory_list_add(&w->memory, bytes);
    w->stopped |= !memory;
    return memory;
}

void vt_owners_unmap(struct vt_owners *w) {
    while (w->memory)
        vt_memory_list_release(&w->memory, NULL);
}

void *vt_owners_push(struct vt_owners *w, struct vt_pile *pile, size_t bytes) {
    if (pile->room - pile->used < bytes || w->most_piled - w->piled < bytes) {
        w->stopped = true;
        return NULL;
    }
    w->piled += bytes;
    void *at = pile->at + pile->used;
    pile->used += bytes;
    return at;
}

bool vt_owners_read_open(struct vt_owners *w) {
    w->pid = (uint32_t)VT_SYS0(SYS_getpid);
    if (!w->copy) {
        w->pages = vt_owners_map(w, (size_t)PAGES_KEPT * PAGE);
        w->page_addresses = vt_owners_map(w, PAGES_KEPT * sizeof *w->page_addresses);
        return w->pages && w->page_addresses;
    }
    return read_maps(w);
}

/* The range that contains an address; NULL: none. First tries the range last used near that address. */
static const struct vt_range *range_at(struct vt_owners *w, uintptr_t address) {
    const struct vt_range **last = &w->last_ranges[address >> 20 & (VT_OWNERS_LAST - 1)];
    if (*last && address - (*last)->start < (*last)->end - (*last)->start)
        return *last;
    const struct vt_range *r =
        vt_scan_item_at(w->ranges, w->range_count, sizeof *w->ranges, address);
    return r ? *last = r : NULL;
}

static bool is_readable(struct vt_owners *w, uintptr_t from, size_t bytes) {
    const struct vt_range *r = range_at(w, from);
    return r && bytes <= r->end - from;
}

/* A page of the program itself, perhaps from the cache; NULL: not readable. */
static const uint8_t *page_in_place(struct vt_owners *w, uintptr_t page) {
    uint32_t i = (uint32_t)(page / PAGE * 0x9e3779b1u) % PAGES_KEPT;
    uint8_t *kept = w->pages + (size_t)i * PAGE;
    if (!page)
        return NULL;
    if (w->page_addresses[i] != page) {
        struct iovec local = {kept, PAGE}, remote = {(void *)page, PAGE};
        w->work += READ_WORK;
        w->page_addresses[i] = 0;
        if (VT_SYS6(SYS_process_vm_readv, w->pid, &local, 1, &remote, 1, 0) != PAGE)
            return NULL;
        w->page_addresses[i] = page;
    }
    return kept;
}

static bool read_in_place(struct vt_owners *w, uint8_t *to, uintptr_t from, size_t bytes) {
    while (bytes) {
        size_t offset = from % PAGE, n = PAGE - offset < bytes ? PAGE - offset : bytes;
        const uint8_t *page = page_in_place(w, from - offset);
        if (!page)
            return false;
        memcpy(to, page + offset, n);
        to += n;
        from += n;
        bytes -= n;
    }
    return true;
}

bool vt_owners_read(struct vt_owners *w, void *to, uintptr_t from, size_t bytes) {
    w->work += 1 + bytes / 64;
    return w->copy ? is_readable(w, from, bytes) && copy_bytes(to, (const void *)from, bytes) == 0
                   : read_in_place(w, to, from, bytes);
}

bool vt_owners_is_unchanging(const struct vt_owners *w) {
    return w->copy;
}

uint32_t vt_owners_number(const struct vt_owners *w) {
    return w->snapshot;
}

uint64_t vt_owners_word(struct vt_owners *w, uintptr_t from) {
    uint64_t word;
    if (!w->copy)
        return vt_owners_read(w, &word, from, sizeof word) ? word : 0;
    w->work++;
    return is_readable(w, from, sizeof word) && copy_word(&word, (const void *)from) == 0 ? word
                                                                                          : 0;
}
