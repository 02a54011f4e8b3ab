/* SPDX-License-Identifier: MIT */
/*
 * Which mappings are the library's own. The kernel merges neighbours, so /proc/self/maps cannot
 * tell; and our tables, logs and per-thread words name every live allocation. Called by sys.h
 * whenever something is mapped or unmapped, from any thread; read by the exit scan. Lock-free, no
 * allocation.
 *
 * A forked child inherits the list with the mappings that it names.
 */
#include "scan/scan.h"
#include "atomic.h"
#include "sys.h"

#define OWN_MAX 16384u /* a recording thread takes two or three */

static struct vt_range own[OWN_MAX]; /* start 0: free, 1: being written; atomic */
static uint32_t used;                /* atomic: entries up to here were used at some time */
static uint32_t hint = OWN_MAX;      /* atomic: one that was given back; OWN_MAX: none */
static uint32_t missing;             /* atomic: how often there was no room */

static bool take(uint32_t i, const void *start, size_t bytes) {
    if (vt_get(&own[i].start) != 0 || !vt_claim(&own[i].start, 0, 1))
        return false;
    vt_put(&own[i].end, (uintptr_t)start + bytes);
    vt_publish(&own[i].start, (uintptr_t)start);
    return true;
}

void vt_scan_own(const void *start, size_t bytes) {
    uint32_t n = vt_get(&hint);
    if (n < OWN_MAX && take(n, start, bytes))
        return;
    while ((n = vt_get(&used)) < OWN_MAX)
        if (vt_claim(&used, n, n + 1) && take(n, start, bytes))
            return;
    for (n = 0; n < OWN_MAX; n++)
        if (take(n, start, bytes))
            return;
    vt_add(&missing, 1);
}

void vt_scan_disown(const void *start) {
    for (uint32_t i = 0, n = vt_get(&used); i < n; i++)
        if (vt_see(&own[i].start) == (uintptr_t)start) {
            vt_publish(&own[i].start, (uintptr_t)0);
            vt_put(&hint, i);
            return;
        }
}

bool vt_scan_own_list(struct vt_range *out, uint32_t room, uint32_t *count) {
    *count = 0;
    for (uint32_t i = 0, n = vt_get(&used); i < n && i < OWN_MAX; i++) {
        struct vt_range r = {.start = vt_see(&own[i].start), .end = vt_get(&own[i].end)};
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
