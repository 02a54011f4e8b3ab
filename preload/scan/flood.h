/* SPDX-License-Identifier: MIT */
/* Inside scan/: functions shared by scan.c, flood.c, hints.c and kernel.c. */
#ifndef VT_PRELOAD_FLOOD_H
#define VT_PRELOAD_FLOOD_H

#include "memory/memory.h"
#include "scan.h"

/* A pointer to an allocation, found in a block that may belong to a CUDA library. */
struct vt_hint {
    uint32_t target;
    uint32_t block_bytes, offset; /* where the pointer was found */
    bool theirs;                  /* the block is certainly a library's */
};

bool vt_scan_flood(struct vt_scan *scan, const uintptr_t *registers, uint32_t register_count);
/* hints.c: decides which hints are the program's pointers, and marks their targets as reached. `in_cuda`: all pointers
 * to targets in blocks that may be the libraries'. */
void vt_scan_weigh_hints(struct vt_scan *scan, const struct vt_hint *hints, uint32_t count,
                         const struct vt_hint *in_cuda, uint32_t in_cuda_count);

struct flood;
/* Follows a word that belongs to the program. */
void vt_scan_follow(struct flood *f, uint64_t word);
/* kernel.c: follows the addresses that the kernel stores for the process. */
void vt_scan_follow_kernel(struct vt_scan *scan, struct flood *flood);

/* Whether the contents may hold pointers; PyTorch pins four bytes for a flag. */
static inline bool vt_scan_may_lead_on(const struct vt_target *t) {
    return t->held && t->end - t->start >= sizeof(uintptr_t);
}

#endif
