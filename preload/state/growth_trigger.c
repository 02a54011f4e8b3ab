/* SPDX-License-Identifier: MIT */
/*
 * When memory has grown so much that its owners are worth a look: what a function holds is gone when
 * the function returns, so a look at the end alone would not see it (snapshot/moments.c).
 *
 * Three things grow. A call stack's live allocations: at 8, 16, 32 ... of them, which sees the blocks
 * of a leak however small they are beside all others. A block that larger ones take the place of, as
 * torch.cat makes them: at 8, 16, 32 ... times the first one's size, and a few times for each size,
 * since what a bank is multiplied with grows with it. And a device's memory: by half,
 * which sees large blocks of which there are few. The last two from a mebibyte on. What is dropped and
 * grows again to the same height tells nothing new.
 *
 * What a step of a training holds and drops again is no growth. So a stack must keep half of the height
 * for a while: a quarter of all allocations so far. And a look costs the program time, for its memory is
 * copied: the next one is due after half as many allocations again, or some thousand. It is counted in
 * allocations, so that a program has the same answer on a slow machine; what looks may cost in all is for
 * snapshot/moments.c to say.
 *
 * Called by live.c and peak.c once vt_growth_trigger_on is set. A count that is off, because stacks share one
 * or an allocation began before, only shifts the moment.
 */
#include "state.h"
#include "base/base.h"

#include <string.h>

#define COUNTS      65536u
#define COUNT_MASK  0xffffffu /* the level is above it */
#define LEVEL_AT    24u
#define RISING      (1u << 31) /* it reached the level and did not fall below half of it yet */
#define LEVEL(word) (((word) & ~RISING) >> LEVEL_AT)
#define LISTED      32u /* of these; one more counts as lasting */
#define TICK        64u /* allocations that a thread may keep in its part */
#define LASTS_SHARE 4u
#define MOST_WAIT   4096u /* allocations: the most that anything waits */
#define FIRST       8u
#define FIRST_POWER 3u /* of two, for sizes */
#define FIRST_SUM   ((uint64_t)1 << 20)
#define ALONE       3u /* live at a time where one takes the place of the last: both, and a chance hit */
#define LOOKS       2u /* the block, and what is made of it */
#define DEVICES     256u

bool vt_growth_trigger_on;

/* Atomic: how many are live by the stacks of one hash, and the highest power of two that was reached
 * so far, plus one. */
static uint32_t counts[COUNTS];
/* Atomic: the first size by the stacks of one hash, and above it the largest: their powers of two, plus one. */
static uint16_t sizes[COUNTS];
static uint8_t looks[65];      /* atomic: by power of two, how often such a size was worth a look */
static uint64_t sums[DEVICES]; /* atomic: a device's bytes when it last was worth a look */

static uint64_t allocations; /* atomic: so far, without the threads' parts */
static uint64_t look_at;     /* atomic: how many there are when the next look may be due; 0: none */
static uint64_t not_before;  /* atomic: ... and when it is at the earliest */
static uint32_t lasting;     /* atomic: something rose that need not last */
static uint32_t listing;     /* atomic: a try-lock of the list */
static struct {
    uint32_t slot;  /* of counts, plus one; 0: free */
    uint64_t until; /* how many allocations there are when it has lasted */
} rising[LISTED];

/* How many allocations there are, with this thread's part. */
static uint64_t give(void) {
    uint64_t part = vt_tls.growth_part;
    vt_tls.growth_part = 0;
    return vt_add(&allocations, part) + part;
}

static uint64_t least(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

/* Whether one of the list has lasted; when the next one will have, or UINT64_MAX. */
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

/* At times, and when something rose: whether a look is due. */
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

/* Something rose, which need not last. */
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
