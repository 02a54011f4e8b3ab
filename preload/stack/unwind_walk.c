/* SPDX-License-Identifier: MIT */
/*
 * The calling thread's stack (see unwind_walk.h).
 *
 * Where a frame's caller is follows from the frame's stack pointer and frame pointer, by a rule of the
 * tables for the frame's address, and from the words that the rule reads. So if a walk begins where a
 * remembered one began, and each word that was read then is unchanged, the stack is the same, exactly.
 * Comparing is several times faster than walking: the words' places are known, and none waits for
 * another.
 *
 * Where another return address is found, but its rule is the one of the address that was there (as
 * for two calls in one function), the places of all other words are still the same, so they are again
 * compared, not computed; the remembered walk becomes the new one in place. Only where a rule differs,
 * frames are walked, up to where the stack pointer is one of a remembered frame: from there on, its
 * places are expected again, and checked.
 *
 * A frame pointer counts only where a rule reads it; most code has other numbers in that register.
 *
 * Nothing is read but the thread's own stack, and that only where it was found to be readable, once
 * a page: a wrong table or register must not become a fault.
 */
#define _GNU_SOURCE
#include "unwind_walk.h"
#include "python_layout.h"
#include "unwind_rules.h"

#include <ucontext.h>

#define PAGE     4096ul
#define NOWHERE  VT_RULE_NOWHERE
#define STACK    (1ul << 30) /* a stack is not larger */
#define GUESSED  0x4000u     /* libunwind 1.6, src/x86_64/Gstep.c */
#define DOWNWARD (1ul << 20) /* so far below what is known to be readable, each page is tried */

#define SPARE VT_WALKS
static_assert(SPARE < 8, "it has a byte in vt_walks.order");

/* Odd numbers without a pattern (splitmix64's). */
#define MIXED(x, shift, by) (((x) ^ (x) >> (shift)) * (by))
#define KEY(i)                                                                                     \
    (MIXED(MIXED(((i) + 1ull) * 0x9e3779b97f4a7c15ull, 30, 0xbf58476d1ce4e5b9ull), 27,             \
           0x94d049bb133111ebull) |                                                                \
     1)
#define KEYS4(i)  KEY(i), KEY((i) + 1), KEY((i) + 2), KEY((i) + 3)
#define KEYS16(i) KEYS4(i), KEYS4((i) + 4), KEYS4((i) + 8), KEYS4((i) + 12)
#define KEYS64(i) KEYS16(i), KEYS16((i) + 16), KEYS16((i) + 32), KEYS16((i) + 48)
const uint64_t vt_walk_keys[VT_DEPTH_MAX] = {KEYS64(0), KEYS64(64), KEYS64(128), KEYS64(192)};
static_assert(VT_DEPTH_MAX == 256, "a key each");

static uintptr_t word_at(uintptr_t address) {
    return *(const volatile uintptr_t *)address;
}

static bool reads_rbp(uint64_t rule) {
    return vt_rule_kind(rule) == VT_RULE_RBP;
}

/* --- what can be read --- */

static bool is_page(uintptr_t page) {
    char byte;
    return vt_python_peek(&byte, page, 1);
}

/* Makes the pages from where we stand up to what is known part of it; else begins anew. */
__attribute__((noinline)) static bool stand_elsewhere(struct vt_walks *w, uintptr_t at) {
    uintptr_t page = at & ~(PAGE - 1);
    if (at < w->low && w->low - at < DOWNWARD) {
        while (w->low > page && is_page(w->low - PAGE))
            w->low -= PAGE;
        if (w->low <= page)
            return true;
    }
    for (unsigned i = 0; i <= VT_WALKS; i++)
        w->walk[i].n = 0;
    w->low = w->high = page;
    if (!is_page(page))
        return false;
    w->high += PAGE;
    return true;
}

/* Whether we may read from where we stand up to an address. */
__attribute__((noinline)) static bool reach_further(struct vt_walks *w, uintptr_t to) {
    for (; w->high < to; w->high += PAGE)
        if (w->high - w->low > STACK || !is_page(w->high))
            return false;
    return true;
}

/* --- comparing --- */

/* Whether frames i to i + 3 may be compared at once: their places do not depend on frame pointers, and
 * are in one page. The places follow from each other; where one has changed, the next ones may be of a
 * stack that is no longer there. */
static inline bool is_group(const struct vt_walk *w, uint32_t i) {
    return i % 4 == 0 && i + 4 <= w->n && !(w->based[i / 64] >> i % 64 & 15) &&
           ((w->sp[i] - 8) ^ (w->sp[i + 3] - 8)) < PAGE;
}

/* The first frame that is not as it was; n: all are. */
VT_HOT __attribute__((noinline)) static uint32_t first_changed(const struct vt_walk *w) {
    const uintptr_t *sp = w->sp, *address = w->address;
    uint32_t i = 0;
    while (i < w->n) {
        if (is_group(w, i) &&
            !((word_at(sp[i] - 8) ^ address[i]) | (word_at(sp[i + 1] - 8) ^ address[i + 1]) |
              (word_at(sp[i + 2] - 8) ^ address[i + 2]) |
              (word_at(sp[i + 3] - 8) ^ address[i + 3]))) {
            i += 4;
            continue;
        }
        if (word_at(sp[i] - 8) != address[i] ||
            (w->based[i / 64] >> i % 64 & 1 && word_at(w->rbp_at[i]) != w->rbp[i]))
            break;
        i++;
    }
    return i;
}

static bool ends_as_before(const struct vt_walk *w) {
    return w->ruled || (word_at(w->sp[w->n] - 8) >= NOWHERE) == w->cut;
}

/* Makes the walk that of the present stack from frame `i` on, whose place is known, up to the first
 * frame that needs another rule, which is returned. Each moment it holds what may be remembered: a
 * handler of a signal may leave by a jump. */
VT_HOT __attribute__((noinline)) static uint32_t follow(struct vt_walk *w, uint32_t i) {
    w->number = 0;
    __asm__ volatile("" ::: "memory"); /* before the rest */
    for (; i < w->n; i++) {
        uintptr_t address = word_at(w->sp[i] - 8);
        if (!vt_unwind_rule_is(address, w->rule[i]) ||
            (reads_rbp(w->rule[i]) && word_at(w->rbp_at[i]) != w->rbp[i]))
            break;
        w->address[i] = address;
    }
    return i;
}

/* --- walking --- */

enum went { CALLER, OUTERMOST, UNKNOWN };

struct place {
    uintptr_t address, sp;
    uintptr_t rbp_at; /* the word that holds the frame pointer */
    bool interrupted; /* it is about to run what is at `address`, and did not call from before it */
};

static void add(struct vt_walk *w, const struct place *here, uint64_t rule, uintptr_t rbp) {
    uint32_t i = w->n;
    w->address[i] = here->address;
    w->sp[i] = here->sp;
    w->rule[i] = rule;
    w->rbp_at[i] = here->rbp_at;
    w->rbp[i] = rbp;
    w->based[i / 64] |= (uint64_t)reads_rbp(rule) << i % 64;
    w->n = i + 1;
}

/* Whether the words from where we stand up to `to` are on the stack and can be read. */
static bool can_read(struct vt_walks *walks, const struct place *here, uintptr_t to) {
    return to > here->sp && to - here->sp <= STACK && !(to & 7) &&
           (to <= walks->high || reach_further(walks, to));
}

static enum went go_to(struct place *here, uintptr_t address, uintptr_t sp, uintptr_t rbp_at) {
    *here = (struct place){.address = address, .sp = sp, .rbp_at = rbp_at};
    return address >= NOWHERE ? CALLER : OUTERMOST;
}

/* A frame that was realigned: the function put its CFA below the caller's frame pointer. */
static enum went leave_realigned(struct vt_walks *walks, struct place *here, uintptr_t below) {
    uintptr_t rbp = word_at(here->rbp_at), at = rbp - below;
    if (at < here->sp || !can_read(walks, here, rbp + 8))
        return UNKNOWN;
    uintptr_t cfa = word_at(at);
    if (!can_read(walks, here, cfa))
        return UNKNOWN;
    return go_to(here, word_at(cfa - 8), cfa, rbp);
}

/* Back from the handler of a signal to the function that it interrupted, which may be on another
 * stack (the kernel's struct rt_sigframe: where the handler has returned, the stack pointer is at its
 * ucontext). */
static enum went leave_handler(struct vt_walks *walks, struct vt_walk *w, struct place *here) {
    const uintptr_t words = here->sp + offsetof(ucontext_t, uc_mcontext.gregs);
    if (!can_read(walks, here, words + NGREG * sizeof(greg_t)))
        return UNKNOWN;
    enum went went =
        go_to(here, word_at(words + REG_RIP * sizeof(greg_t)),
              word_at(words + REG_RSP * sizeof(greg_t)), words + REG_RBP * sizeof(greg_t));
    here->interrupted = true;
    if (went == CALLER && (here->sp < walks->low || here->sp >= walks->high)) {
        uint32_t n = w->n;
        bool known = stand_elsewhere(walks, here->sp);
        w->n = n;
        return known ? CALLER : OUTERMOST;
    }
    return went;
}

/* Code without a table: it may have a frame pointer. As libunwind has it, one that is not much above
 * the stack pointer is taken for that. (libunwind reads what it points to even if it is not.) */
static enum went guess(struct vt_walks *walks, struct place *here) {
    uintptr_t rbp = word_at(here->rbp_at);
    if (rbp < here->sp || rbp - here->sp > GUESSED || !can_read(walks, here, rbp + 16))
        return OUTERMOST;
    return go_to(here, word_at(rbp + 8), rbp + 16, rbp);
}

/* The same as step() where that is not one of the usual rules. */
__attribute__((noinline)) static enum went step_oddly(struct vt_walks *walks, struct vt_walk *w,
                                                      struct place *here, uint64_t rule) {
    if (vt_rule_kind(rule) == VT_RULE_OTHER && vt_rule_other(rule) == VT_UNWIND_UNKNOWN)
        return UNKNOWN;
    add(w, here, rule, 0);
    if (vt_rule_kind(rule) == VT_RULE_OTHER && vt_rule_other(rule) == VT_UNWIND_END) {
        w->ruled = true;
        return OUTERMOST;
    }
    w->once = true;
    if (vt_rule_kind(rule) == VT_RULE_WORD)
        return leave_realigned(walks, here, vt_rule_cfa(rule));
    if (vt_rule_other(rule) == VT_UNWIND_SIGNAL)
        return leave_handler(walks, w, here);
    w->guessed = true;
    return guess(walks, here);
}

/* Adds the frame where we are, and goes to its caller. `next`: the frame of the last walk that may be
 * the same. */
static enum went step(struct vt_walks *walks, struct vt_walk *w, struct place *here,
                      const struct vt_walk *last, uint32_t *next) {
    uint64_t rule = vt_unwind_rule(here->address + here->interrupted, w->epoch);
    enum vt_rule_kind kind = vt_rule_kind(rule);
    if (VT_UNLIKELY(kind == VT_RULE_OTHER || kind == VT_RULE_WORD))
        return step_oddly(walks, w, here, rule);
    uint32_t i = w->n, j = *next;
    uintptr_t rbp = kind == VT_RULE_RBP ? word_at(here->rbp_at) : 0, cfa,
              below = vt_rule_saved(rule);
    add(w, here, rule, rbp);
    /* What is expected is not waited for: the processor goes on with it while it computes. */
    if (j < last->n && last->sp[j] == here->sp && last->rule[j] == rule &&
        (kind != VT_RULE_RBP || last->rbp[j] == rbp)) {
        cfa = last->sp[j + 1];
        *next = j + 1;
    } else {
        cfa = (kind == VT_RULE_RBP ? rbp : here->sp) + vt_rule_cfa(rule);
        if (!can_read(walks, here, cfa) || (below && cfa - below < here->sp))
            return UNKNOWN;
        while (j < last->n && last->sp[j] < cfa)
            j++;
        *next = j;
    }
    w->sp[i + 1] = here->sp = cfa;
    here->address = word_at(cfa - 8);
    here->interrupted = false;
    if (below)
        here->rbp_at = cfa - below;
    return here->address >= NOWHERE ? CALLER : OUTERMOST;
}

/* False: a frame is not known. */
static bool walk(struct vt_walks *walks, struct vt_walk *w, const struct vt_walk *last,
                 uintptr_t frame) {
    struct place here = {word_at(frame + 8), frame + 16, frame, false};
    uint32_t next = 0;
    while (next < last->n && last->sp[next] < here.sp)
        next++;
    w->n = 0;
    w->once = w->guessed = w->ruled = w->cut = false;
    for (unsigned i = 0; i < sizeof w->based / sizeof *w->based; i++)
        w->based[i] = 0;
    for (;;) {
        switch (step(walks, w, &here, last, &next)) {
        case CALLER:
            w->cut = w->n == w->most;
            if (w->cut)
                return true;
            continue;
        case OUTERMOST:
            return true;
        case UNKNOWN: /* if guessed, it is not a frame, or libunwind would have to guess, too */
            return w->guessed;
        }
    }
}

/* Whether we may read what lies at a frame of ours, and it is what was there at its start. It may be gone:
 * a handler of a signal may have jumped out of it. */
static bool is_there(struct vt_walks *walks, uintptr_t frame, uintptr_t caller) {
    return (frame & 7) == 0 &&
           ((frame >= walks->low && frame < walks->high) || stand_elsewhere(walks, frame)) &&
           (frame + 16 <= walks->high || reach_further(walks, frame + 16)) &&
           word_at(frame + 8) == caller;
}

/* A way's walk, or the free one (SPARE). */
static inline unsigned index_of(const struct vt_walks *walks, unsigned way) {
    return way ^ ((const uint8_t *)&walks->order)[way];
}

static inline unsigned way_of(uintptr_t caller) {
    return (caller >> 2 ^ caller >> 7) % VT_WALKS;
}

VT_HOT __attribute__((noinline)) static struct vt_walk *walk_anew(struct vt_walks *walks,
                                                                  uintptr_t caller, uintptr_t frame,
                                                                  uint32_t most, uint32_t epoch) {
    unsigned way = way_of(caller), taken = index_of(walks, way), spare = index_of(walks, SPARE);
    struct vt_walk *last = &walks->walk[taken], *w = &walks->walk[spare];
    if (!epoch || !is_there(walks, frame, caller))
        return NULL;
    if (last->epoch != epoch || last->most != most)
        last->n = 0;
    w->epoch = epoch;
    w->most = most;
    w->number = 0;
    if (!walk(walks, w, last, frame)) {
        w->n = 0;
        return NULL;
    }
    if (VT_UNLIKELY(w->once))
        return w;
    /* At once: a handler of a signal may leave by a jump. */
    uint64_t swap = taken ^ spare;
    walks->order ^= swap << 8 * way | swap << 8 * SPARE;
    return w;
}

VT_HOT struct vt_walk *vt_unwind_walk(struct vt_walks *walks, const void *caller, const void *frame,
                                      uint32_t most, bool *again) {
    uint32_t epoch = vt_unwind_epoch();
    uintptr_t to = (uintptr_t)caller, at = (uintptr_t)frame;
    struct vt_walk *last = &walks->walk[index_of(walks, way_of(to))];
    *again = false;
    if (VT_LIKELY(last->n && last->epoch == epoch && last->most == most && last->sp[0] == at + 16 &&
                  word_at(at + 8) == to)) {
        uint32_t i = first_changed(last);
        if (i == last->n && ends_as_before(last)) {
            *again = true;
            return last;
        }
        if (follow(last, i) == last->n && ends_as_before(last))
            return last;
    }
    return walk_anew(walks, to, at, most, epoch);
}
