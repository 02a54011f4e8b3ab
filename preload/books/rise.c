/* SPDX-License-Identifier: MIT */
/*
 * When memory has grown so much that its owners are worth a look: what a function holds is gone when
 * the function returns, so a look at the end alone would not see it (scan/owners_moments.c).
 *
 * Three things grow. A call stack's live allocations: at 8, 16, 32 ... of them, which sees the blocks
 * of a leak however small they are beside all others. A block that larger ones take the place of, as
 * torch.cat makes them: at 8, 16, 32 ... times the first one's size, and a few times for each size,
 * since what a bank is multiplied with grows with it. And a device's memory: by half,
 * which sees large blocks of which there are few. The last two from a mebibyte on. What is dropped and
 * grows again to the same height tells nothing new.
 *
 * Called by live.c and peak.c once vt_rise_on is set. A count that is off, because stacks share one
 * or an allocation began before, only shifts the moment.
 */
#include "books.h"
#include "base/base.h"

#include <string.h>

#define COUNTS      65536u
#define COUNT_MASK  0xffffffu /* the level is above it */
#define LEVEL_AT    24u
#define FIRST       8u
#define FIRST_POWER 3u /* of two, for sizes */
#define FIRST_SUM   ((uint64_t)1 << 20)
#define ALONE       3u /* live at a time where one takes the place of the last: both, and a chance hit */
#define LOOKS       2u /* the block, and what is made of it */
#define DEVICES     256u

bool vt_rise_on;

/* Atomic: how many are live by the stacks of one hash, and the highest power of two that was reached
 * so far, plus one. */
static uint32_t counts[COUNTS];
/* Atomic: the first size by the stacks of one hash, and above it the largest: their powers of two, plus one. */
static uint16_t sizes[COUNTS];
static uint8_t looks[65];      /* atomic: by power of two, how often such a size was worth a look */
static uint64_t sums[DEVICES]; /* atomic: a device's bytes when it last was worth a look */

/* Whether one of a few that are live is so much larger than the first one. */
static void larger(uint32_t stack, uint64_t bytes, uint32_t live) {
    uint16_t *size = &sizes[stack % COUNTS], was = vt_get(size);
    unsigned now = 64 - (unsigned)__builtin_clzll(bytes | 1), first = was & 0xff;
    if (VT_LIKELY(now <= was >> 8))
        return;
    vt_put(size, (uint16_t)(now << 8 | (first ? first : now)));
    if (first && now >= first + FIRST_POWER && bytes >= FIRST_SUM && live <= ALONE &&
        vt_get(&looks[now]) < LOOKS) {
        vt_add(&looks[now], 1);
        vt_tls.due |= VT_DUE_RISEN;
    }
}

static void more(const struct vt_live *what) {
    uint32_t stack = what->stack, *count = &counts[stack % COUNTS];
    uint32_t now = vt_add(count, 1) + 1, n = now & COUNT_MASK;
    larger(stack, what->size, n);
    if (VT_LIKELY(n & (n - 1)) || n < FIRST)
        return;
    uint32_t level = 32u - (uint32_t)__builtin_clz(n);
    if (now >> LEVEL_AT >= level || !vt_claim(count, now, level << LEVEL_AT | n))
        return;
    vt_tls.due |= VT_DUE_RISEN;
}

void vt_rise_more_(const struct vt_live *what) {
    vt_tls.newest = what->address;
    more(what);
}

void vt_rise_less_(uint32_t stack) {
    vt_tls.newest = 0;
    uint32_t *count = &counts[stack % COUNTS];
    if (vt_get(count) & COUNT_MASK)
        vt_add(count, -1);
}

void vt_rise_sum_(unsigned device, uint64_t bytes) {
    uint64_t before = vt_get(&sums[device % DEVICES]);
    if (bytes >= FIRST_SUM && bytes >= before + before / 2 &&
        vt_claim(&sums[device % DEVICES], before, bytes))
        vt_tls.due |= VT_DUE_RISEN;
}

static void count(const struct vt_live *what, void *unused) {
    (void)unused;
    more(what);
}

void vt_rise_start(void) {
    if (vt_rise_on)
        return;
    vt_live_each(count, NULL);
    vt_rise_on = true;
}

void vt_rise_forked(void) {
    vt_rise_on = false;
    for (unsigned i = 0; i < COUNTS; i++)
        if (counts[i]) {
            counts[i] = 0;
            sizes[i] = 0;
        }
    for (unsigned i = 0; i < DEVICES; i++)
        sums[i] = 0;
    memset(looks, 0, sizeof looks);
}
