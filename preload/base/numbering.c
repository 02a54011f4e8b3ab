/* SPDX-License-Identifier: MIT */
/* Numbers by hash (see numbering.h). Called by stack.c and phases.c. */
#define _GNU_SOURCE
#include "numbering.h"
#include "atomic.h"
#include "preload.h"
#include "sys.h"

#include <sys/mman.h>

/* A hash has its slots: first the cache line that it has in the table's beginning, so that what a usual
 * process numbers lies close together; then some anywhere. */
#define CLOSE  (1u << 15)
#define LINE   8u
#define PROBES (LINE + 120u)

/* The two lowest bits of a slot; the others are the hash's. */
#define WRITTEN   1ull /* the item's record is in the log */
#define UNWRITTEN 2ull /* once there was no room for it */
#define MARKS     (WRITTEN | UNWRITTEN)

static uint64_t *slots_of(struct vt_numbering *n) {
    uint64_t *slots = vt_see(&n->slots);
    if (VT_LIKELY(slots != NULL))
        return slots;
    size_t bytes = n->count * sizeof *slots;
    uint64_t *fresh = vt_sys_mmap(bytes, PROT_READ | PROT_WRITE,
                                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (!fresh)
        return NULL;
    if (vt_claim(&n->slots, NULL, fresh))
        return fresh;
    vt_sys_munmap(fresh, bytes);
    return vt_see(&n->slots);
}

static uint32_t slot_of(const struct vt_numbering *n, uint64_t hash, uint32_t probe) {
    return probe < LINE ? ((uint32_t)(hash >> 2) & (CLOSE - LINE)) + probe
                        : (uint32_t)((hash >> 17) + probe) & (n->count - 1);
}

VT_HOT uint32_t vt_numbering_of(struct vt_numbering *numbering, uint64_t hash, bool *fresh) {
    uint64_t *slots = slots_of(numbering);
    hash &= ~MARKS;
    hash = hash ? hash : MARKS + 1; /* 0 is a free slot */
    *fresh = false;
    for (uint32_t i = 0; slots && i < PROBES; i++) {
        uint32_t slot = slot_of(numbering, hash, i);
        /* Its record was written before: pairs with vt_numbering_written; model: NUMBER_SEE, NUMBER_CLAIM. */
        uint64_t has = vt_see(&slots[slot]);
        if (!has && vt_claim(&slots[slot], 0, hash))
            has = hash;
        else if (!has)
            has = vt_see(&slots[slot]);
        if ((has & ~MARKS) == hash) {
            *fresh = !(has & WRITTEN);
            return slot + 1;
        }
    }
    return 0;
}

void vt_numbering_written(struct vt_numbering *numbering, uint32_t number) {
    vt_or(&numbering->slots[number - 1], WRITTEN); /* vt_numbering_of; model: NUMBER_WRITTEN */
}

bool vt_numbering_unwritten(struct vt_numbering *numbering, uint32_t number) {
    return !(vt_or(&numbering->slots[number - 1], UNWRITTEN) & UNWRITTEN);
}

void vt_numbering_forget(struct vt_numbering *n) {
    if (vt_see(&n->slots))
        VT_SYS3(SYS_madvise, n->slots, n->count * sizeof *n->slots, MADV_DONTNEED);
}
