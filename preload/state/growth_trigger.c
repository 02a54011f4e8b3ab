/* SPDX-License-Identifier: MIT */
/*
 * Decides when memory has grown so much that a snapshot of its owners is worthwhile. Objects owned by a function's
 * locals vanish when the function returns, so the snapshot at the end would miss them (snapshot/triggers.c).
 *
 * Three kinds of growth count:
 *   - A call stack's live allocations reach 8, 16, 32, ...: this finds leaked blocks of any size.
 *   - A block is replaced by larger ones, as torch.cat does, and reaches 8, 16, 32, ... times the first one's size.
 *     Each size triggers a few times, because results computed from the block grow as well.
 *   - A device's memory grows by half: this finds a few large blocks.
 * The last two start at one mebibyte. Growth back to an earlier level does not count.
 *
 * Memory that one training step allocates and frees is not growth. So a stack must keep half of its level for a while,
 * namely a quarter of all allocations so far. A snapshot costs the program time, because its memory is copied. So the
 * next snapshot is due only after half as many allocations again, or some thousands. Time is counted in allocations, so
 * that results are the same on a slow machine; snapshot/triggers.c limits the total cost.
 *
 * Called by live.c and peak.c once vt_growth_trigger_on is set. A count may be wrong, because stacks share it or an
 * allocation began earlier; that only shifts the snapshot.
 */
#include "state.h"
#include "base/base.h"

#include <string.h>

#define COUNTS      65536u
#define COUNT_MASK  0xffffffu /* the bits above are the level */
#define LEVEL_AT    24u
#define RISING      (1u << 31) /* reached the level, and has not yet fallen below half of it */
#define LEVEL(word) (((word) & ~RISING) >> LEVEL_AT)
#define LISTED      32u /* entries of the list; if it is full, growth counts as lasting at once */
#define TICK        64u /* allocations that a thread may keep in its part */
#define LASTS_SHARE 4u
#define MOST_WAIT   4096u /* allocations: the limit of each wait */
#define FIRST       8u
#define FIRST_POWER 3u /* power of two, for sizes */
#define FIRST_SUM   ((uint64_t)1 << 20)
#define ALONE       3u /* blocks live at a time if each replaces the last: both, and one false match */
#define LOOKS       2u /* one for the block, one for results computed from it */
#define DEVICES     256u

bool vt_growth_trigger_on;

/* Atomic, by hash of the stack. Low bits: number of live allocations; high bits: highest power of two reached so far,
 * plus one. */
static uint32_t counts[COUNTS];
/* Atomic, by hash of the stack: the first size (low bits) and the largest, as powers of two, plus one. */
static uint16_t sizes[COUNTS];
static uint8_t looks[65];      /* atomic: how often each power of two has triggered */
static uint64_t sums[DEVICES]; /* atomic: a device's bytes at its last trigger */

static uint64_t allocations; /* atomic: number so far, without the threads' parts */
static uint64_t look_at;     /* atomic: allocation count of the next check; 0: none */
static uint64_t not_before;  /* atomic: the earliest count for the next snapshot */
static uint32_t lasting;     /* atomic: growth was seen that need not last */
static uint32_t listing;     /* atomic: a try-lock of the list */
static struct {
    uint32_t slot;  /* index in counts, plus one; 0: free */
    uint64_t until; /* allocation count at which it will have lasted long enough */
} rising[LISTED];

/* The number of allocations, including this thread's part. */
static uint64_t give(void) {
    uint64_t part = vt_tls.growth_part;
    vt_tls.growth_part = 0;
    return vt_add(&allocations, part) + part;
}

static uint64_t least(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

/* Whether an entry of the list has lasted long enough; *next: when the next one will have, or UINT64_MAX. */
static bool has_lasted(uint64_t now, uint64_t *next) {
    bool any = false;
    *next = UINT64_MAX;
    for (unsigned i = 0; i < LISTED; i++) {
        if (rising[i].slot && !(vt_get(&counts[rising[i].slot - 1]) & RISING))
            rising[i].slot = 0;
        if (rising[i].slot && now < rising[i].until)
            *next = least(*next, rising[i].until);
        any |= rising[i].slot && now >= rising[i].until;
    }
    return any;
}

/* Checks whether a snapshot is due; called at intervals and after growth. */
static void tick(void) {
    uint64_t now = give(), at = vt_get(&look_at), next;
    if (at && now >= at && vt_claim(&listing, 0, 1)) {
        bool due = has_lasted(now, &next) || vt_get(&lasting);
        if (due && now >= vt_get(&not_before))
            vt_tls.due |= VT_DUE_GROWTH;
        if (due)
            next = now < vt_get(&not_before) ? vt_get(&not_before) : UINT64_MAX;
        at = next == UINT64_MAX ? 0 : next;
        vt_put(&look_at, at);
        vt_publish(&listing, 0);
    }
    vt_tls.growth_part_max = at > now ? (uint32_t)least(at - now, TICK) : TICK;
}

/* Notes growth that need not last. */
static void rose(void) {
    vt_put(&lasting, 1);
    vt_put(&look_at, 1);
    vt_tls.growth_part_max = 0;
}

static void list(uint32_t slot, bool rises_on) {
    uint64_t now = give(), until = now + least(now / LASTS_SHARE, MOST_WAIT);
    bool listed = false;
    if (vt_claim(&listing, 0, 1)) {
        for (unsigned i = 0; i < LISTED && !listed; i++)
            if (!rising[i].slot || rising[i].slot == slot + 1) {
                if (!rising[i].slot || !rises_on)
                    rising[i].until = until;
                rising[i].slot = slot + 1;
                listed = true;
            }
        uint64_t at = vt_get(&look_at);
        vt_put(&look_at, at ? least(at, until + !until) : until + !until);
        vt_publish(&listing, 0);
    }
    if (!listed)
        rose();
    vt_tls.growth_part_max = 0;
}

void vt_growth_trigger_reset(void) {
    uint64_t now = give();
    vt_put(&not_before, now + least(now / 2, MOST_WAIT));
    vt_put(&lasting, 0);
    if (!vt_claim(&listing, 0, 1))
        return;
    for (unsigned i = 0; i < LISTED; i++) {
        if (rising[i].slot)
            vt_and(&counts[rising[i].slot - 1], ~RISING);
        rising[i].slot = 0;
    }
    vt_put(&look_at, 0);
    vt_publish(&listing, 0);
}

/* Notes a block, one of few live ones, that is much larger than the first one. */
static void larger(uint32_t stack, uint64_t bytes, uint32_t live) {
    uint16_t *size = &sizes[stack % COUNTS], was = vt_get(size);
    unsigned now = 64 - (unsigned)__builtin_clzll(bytes | 1), first = was & 0xff;
    if (VT_LIKELY(now <= was >> 8))
        return;
    vt_put(size, (uint16_t)(now << 8 | (first ? first : now)));
    if (first && now >= first + FIRST_POWER && bytes >= FIRST_SUM && live <= ALONE &&
        vt_get(&looks[now]) < LOOKS) {
        vt_add(&looks[now], 1);
        rose();
    }
}

static void more(const struct vt_live *what) {
    uint32_t stack = what->stack, *count = &counts[stack % COUNTS];
    uint32_t now = vt_add(count, 1) + 1, n = now & COUNT_MASK;
    larger(stack, what->size, n);
    if (VT_LIKELY(n & (n - 1)) || n < FIRST)
        return;
    uint32_t level = 32u - (uint32_t)__builtin_clz(n);
    if (LEVEL(now) < level && vt_claim(count, now, RISING | level << LEVEL_AT | n))
        list(stack % COUNTS, now & RISING);
}

void vt_growth_trigger_allocated_(const struct vt_live *what) {
    vt_tls.newest = what->address;
    vt_tls.growth_part++;
    more(what);
    if (VT_UNLIKELY(vt_tls.growth_part >= vt_tls.growth_part_max))
        tick();
}

void vt_growth_trigger_freed_(uint32_t stack) {
    vt_tls.newest = 0;
    uint32_t *count = &counts[stack % COUNTS];
    if (!(vt_get(count) & COUNT_MASK))
        return;
    uint32_t now = vt_add(count, -1) - 1;
    if (VT_UNLIKELY(now & RISING) && (now & COUNT_MASK) < 1u << (LEVEL(now) - 2))
        vt_and(count, ~RISING);
}

void vt_growth_trigger_device_(unsigned device, uint64_t bytes) {
    uint64_t before = vt_get(&sums[device % DEVICES]);
    if (bytes >= FIRST_SUM && bytes >= before + before / 2 &&
        vt_claim(&sums[device % DEVICES], before, bytes)) {
        rose();
        tick();
    }
}

static void count(const struct vt_live *what, void *unused) {
    (void)unused;
    more(what);
}

void vt_growth_trigger_start(void) {
    if (vt_growth_trigger_on)
        return;
    vt_live_each(count, NULL);
    vt_growth_trigger_on = true;
}

void vt_growth_trigger_forked(void) {
    vt_growth_trigger_on = false;
    for (unsigned i = 0; i < COUNTS; i++)
        if (counts[i]) {
            counts[i] = 0;
            sizes[i] = 0;
        }
    for (unsigned i = 0; i < DEVICES; i++)
        sums[i] = 0;
    memset(looks, 0, sizeof looks);
    memset(rising, 0, sizeof rising);
    allocations = look_at = not_before = 0;
    lasting = listing = 0;
    vt_tls.growth_part = vt_tls.growth_part_max = 0;
}
