/* SPDX-License-Identifier: MIT */
/*
 * Numbers by hash (see numbering.h). Called by stack.c and phases.c.
 *
 * The slots are in parts, each twice as long as the one before, and made when needed. A typical process has only the
 * first part, whose slots lie close together. In each part a hash has one cache line of slots; if all of them are
 * taken, the search goes on in the next part. A taken slot stays taken. So every thread finds an item in the same part:
 * the first one where its line contains it or has a free slot.
 */
#define _GNU_SOURCE
#include "numbering.h"
#include "atomic.h"
#include "preload.h"
#include "sys.h"

#include <sys/mman.h>

#define FIRST_BITS  15u /* slots of the first part */
#define LINE        8u
#define LAST_PROBES 1024u /* in the last part; then the item gets no number */

/* The two lowest bits of a slot; the other bits are the hash. */
#define WRITTEN   1ull /* the item's record is in the log */
#define UNWRITTEN 2ull /* there was no space for its record */
#define MARKS     (WRITTEN | UNWRITTEN)

static uint32_t size_of(uint32_t part) {
    return 1u << (FIRST_BITS + part);
}

/* After the slots comes one byte for each: its note. */
static size_t bytes_of(uint32_t part) {
    return size_of(part) * (sizeof(uint64_t) + 1);
}

static uint64_t *slots_of(struct vt_numbering *n, uint32_t part) {
    uint64_t *slots = vt_see(&n->parts[part]);
    if (VT_LIKELY(slots != NULL))
        return slots;
    uint64_t *fresh = vt_sys_mmap(bytes_of(part), PROT_READ | PROT_WRITE,
                                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (!fresh)
        return NULL;
    if (vt_claim(&n->parts[part], NULL, fresh))
        return fresh;
    vt_sys_munmap(fresh, bytes_of(part));
    return vt_see(&n->parts[part]);
}

/* Returns the index of a hash among `probes` slots from `from`, or takes a free slot; `probes`: all are taken. */
static inline __attribute__((always_inline)) uint32_t
find(uint64_t *slots, uint32_t size, uint32_t from, uint32_t probes, uint64_t hash, bool *fresh) {
    uint32_t i = 0;
    for (; i < probes; i++) {
        uint64_t *slot = &slots[(from + i) & (size - 1)];
        /* Its record was written before: pairs with vt_numbering_written; model: NUMBER_SEE, NUMBER_CLAIM. */
        uint64_t has = vt_see(slot);
        if (!has && vt_claim(slot, 0, hash))
            has = hash;
        else if (!has)
            has = vt_see(slot);
        if ((has & ~MARKS) == hash) {
            *fresh = !(has & WRITTEN);
            break;
        }
    }
    return i;
}

VT_COLD static uint32_t number_beyond_first(struct vt_numbering *n, uint64_t hash, bool *fresh) {
    uint32_t before = size_of(0);
    uint64_t mixed = hash;
    for (uint32_t part = 1; part < VT_NUMBERING_PARTS; part++) {
        uint64_t *slots = slots_of(n, part);
        uint32_t size = size_of(part), probes = part + 1 < VT_NUMBERING_PARTS ? LINE : LAST_PROBES;
        if (!slots)
            return 0;
        mixed = (mixed ^ mixed >> 32) * 0x9e3779b97f4a7c15ull; /* another line in each */
        uint32_t from = (uint32_t)(mixed >> 32) & (size - LINE),
                 i = find(slots, size, from, probes, hash, fresh);
        if (i < probes)
            return before + ((from + i) & (size - 1)) + 1;
        before += size;
    }
    return 0;
}

VT_HOT uint32_t vt_numbering_of(struct vt_numbering *numbering, uint64_t hash, bool *fresh) {
    uint64_t *slots = slots_of(numbering, 0);
    hash &= ~MARKS;
    hash = hash ? hash : MARKS + 1; /* 0 is a free slot */
    *fresh = false;
    if (VT_UNLIKELY(!slots))
        return 0;
    uint32_t from = (uint32_t)(hash >> 2) & (size_of(0) - LINE),
             i = find(slots, size_of(0), from, LINE, hash, fresh);
    return VT_LIKELY(i < LINE) ? from + i + 1 : number_beyond_first(numbering, hash, fresh);
}

/* The part in which a number lies, and its index there. */
static uint64_t *part_of(const struct vt_numbering *n, uint32_t number, uint32_t *part,
                         uint32_t *slot) {
    uint32_t place = number - 1 + size_of(0);
    *part = 31 - (uint32_t)__builtin_clz(place) - FIRST_BITS;
    *slot = place - size_of(*part);
    return vt_see(&n->parts[*part]);
}

void vt_numbering_written(struct vt_numbering *numbering, uint32_t number) {
    uint32_t part, slot;
    uint64_t *slots = part_of(numbering, number, &part, &slot);
    vt_or(&slots[slot], WRITTEN); /* pairs with vt_numbering_of; model: NUMBER_WRITTEN */
}

bool vt_numbering_unwritten(struct vt_numbering *numbering, uint32_t number) {
    uint32_t part, slot;
    uint64_t *slots = number ? part_of(numbering, number, &part, &slot) : NULL;
    return !slots || !(vt_or(&slots[slot], UNWRITTEN) & UNWRITTEN);
}

uint8_t *vt_numbering_note(const struct vt_numbering *numbering, uint32_t number) {
    uint32_t part, slot;
    uint64_t *slots = part_of(numbering, number, &part, &slot);
    return (uint8_t *)(slots + size_of(part)) + slot;
}

void vt_numbering_forget(struct vt_numbering *n) {
    for (uint32_t part = 0; part < VT_NUMBERING_PARTS; part++)
        if (vt_see(&n->parts[part]))
            VT_SYS3(SYS_madvise, n->parts[part], bytes_of(part), MADV_DONTNEED);
}
