/* SPDX-License-Identifier: MIT */
/*
 * The library's own mappings. Our tables, logs and per-thread data hold the address of every live allocation, so a scan
 * must skip them. /proc/self/maps does not show which mappings are ours, because the kernel merges neighbours. sys.h
 * updates the list from any thread when it maps or unmaps; the exit scan reads it. Lock-free, no allocation. A forked
 * child inherits the list together with the mappings.
 */
#include "mappings.h"
#include "atomic.h"
#include "locks.h"
#include "sys.h"

#define MAPPINGS_MAX 16384u /* a recording thread uses two or three */

bool vt_sys_sealed, vt_sys_careful, vt_sys_unsure; /* atomic */
static bool watched;                               /* atomic */
__thread uint32_t vt_locks_vforks __attribute__((visibility("hidden")));
/* The vt_locks_vforks of the sealed vfork child; its own children inherit the filter. */
static __thread uint32_t sealed_child;

static bool has_filter(void) {
    return vt_sys_anyway(SYS_prctl, 21 /* PR_GET_SECCOMP */, 0, 0, 0, 0, 0) != 0;
}

void vt_sys_seal(bool sealed) {
    /* The child's filter is not its parent's, though they share this memory */
    if (vt_locks_vforks) {
        sealed_child = sealed ? vt_locks_vforks : 0;
        vt_put(&vt_sys_careful, true);
        return;
    }
    vt_publish(&vt_sys_sealed, sealed);
    vt_put(&vt_sys_careful, sealed || vt_get(&watched));
}

bool vt_sys_is_free(void) {
    if (vt_get(&vt_sys_sealed) || (sealed_child && vt_locks_vforks >= sealed_child))
        return false;
    if (!vt_get(&watched) || !has_filter())
        return true;
    vt_sys_seal(true);
    return false;
}

void vt_sys_watch(void) {
    /* A container has a filter from the start, so a later one would go unnoticed. */
    vt_put(&watched, !has_filter());
    vt_put(&vt_sys_careful, vt_get(&watched));
}

static struct vt_range ours[MAPPINGS_MAX]; /* start 0: free, 1: being written; atomic */
static uint32_t used;                      /* atomic: entries below this were used at some time */
static uint32_t hint = MAPPINGS_MAX;       /* atomic: a free entry; MAPPINGS_MAX: none */
static uint32_t missing;                   /* atomic: how often the list was full */

static bool claim(uint32_t i, const void *start, size_t bytes) {
    if (vt_get(&ours[i].start) != 0 || !vt_claim(&ours[i].start, 0, 1))
        return false;
    /* A thread that sees `end` also sees the 1 in `start`: vt_mappings_list. */
    vt_publish(&ours[i].end, (uintptr_t)start + bytes);
    vt_publish(&ours[i].start, (uintptr_t)start);
    return true;
}

void vt_mappings_add(const void *start, size_t bytes) {
    uint32_t n = vt_get(&hint);
    if (n < MAPPINGS_MAX && claim(n, start, bytes))
        return;
    while ((n = vt_get(&used)) < MAPPINGS_MAX)
        if (vt_claim(&used, n, n + 1) && claim(n, start, bytes))
            return;
    for (n = 0; n < MAPPINGS_MAX; n++)
        if (claim(n, start, bytes))
            return;
    vt_add(&missing, 1);
}

void vt_mappings_remove(const void *start) {
    for (uint32_t i = 0, n = vt_get(&used); i < n; i++)
        if (vt_see(&ours[i].start) == (uintptr_t)start) {
            vt_publish(&ours[i].start, (uintptr_t)0);
            vt_put(&hint, i);
            return;
        }
}

bool vt_mappings_list(struct vt_range *out, uint32_t room, uint32_t *count) {
    *count = 0;
    for (uint32_t i = 0, n = vt_get(&used); i < n && i < MAPPINGS_MAX; i++) {
        struct vt_range r;
        do { /* another mapping may reuse the entry meanwhile */
            r.start = vt_see(&ours[i].start);
            r.end = vt_see(&ours[i].end);
        } while (r.start != vt_see(&ours[i].start));
        if (r.start <= 1)
            continue;
        if (*count == room)
            return false;
        r.start &= ~(uintptr_t)4095;
        r.end = (r.end + 4095) & ~(uintptr_t)4095;
        out[(*count)++] = r;
    }
    return vt_get(&missing) == 0;
}

bool vt_mappings_hold(uintptr_t address) {
    for (uint32_t i = 0, n = vt_get(&used); i < n && i < MAPPINGS_MAX; i++) {
        uintptr_t start = vt_see(&ours[i].start);
        if (start > 1 && address >= start && address < vt_see(&ours[i].end))
            return true;
    }
    return false;
}
