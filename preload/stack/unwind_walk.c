/* SPDX-License-Identifier: MIT */
/*
 * The calling thread's stack (see unwind_walk.h).
 *
 * A frame's caller follows from the frame's stack pointer and frame pointer, the rule for the frame's address, and the
 * words that the rule reads. So if a walk begins where a remembered one began, and each word that was read is
 * unchanged, the stack is exactly the same. Comparing is several times faster than walking: the words' positions are
 * known, and no read waits for another.
 *
 * If a return address differs but has the same rule (as for two calls in one function), the positions of all other
 * words are still the same, so we go on comparing, and update the remembered walk in place. Only if a rule differs do
 * we walk frames, until a stack pointer equals that of a remembered frame: from there on, we predict the positions
 * again, and check them.
 *
 * A frame pointer counts only if a rule reads it; most code has other values in that register.
 *
 * We read only the thread's own stack, and only pages that were tested (once) and found readable: a wrong table or
 * register must not cause a fault.
 */
#define _GNU_SOURCE
#include "unwind_walk.h"
#include "log/log.h"
#include "python_layout.h"
#include "unwind_rules.h"

#define PAGE     4096ul
#define NOWHERE  VT_RULE_NOWHERE
#define STACK    (1ul << 30) /* limit of a stack's size */
#define GUESSED  0x4000u     /* libunwind 1.6, src/x86_64/Gstep.c */
#define DOWNWARD (1ul << 20) /* up to this far below the known part, test each page */

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

static uintptr_t return_at(uintptr_t address) {
    return vt_machine_return(word_at(address));
}

static bool reads_fp(uint64_t rule) {
    return vt_rule_kind(rule) == VT_RULE_FP;
}

/* Readable memory. */

static bool is_page(uintptr_t page) {
    char byte;
    return vt_python_peek(&byte, page, 1);
}

/* Extends the known readable part down to the current position, or starts a new part if the position is too far. */
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

/* Whether the memory from the current position up to an address is readable. */
__attribute__((noinline)) static bool reach_further(struct vt_walks *w, uintptr_t to) {
    /* A thread's stack ends at its variables: other mappings follow, which may be unmapped at any time. */
    if (w->low < (uintptr_t)&vt_tls && to > (uintptr_t)&vt_tls)
        return false;
    for (; w->high < to; w->high += PAGE)
        if (w->high - w->low > STACK || !is_page(w->high))
            return false;
    return true;
}

/* Comparing. */

/* Whether frames i to i + 3 may be compared together: their positions do not depend on frame pointers, and are in one
 * page. Positions follow from each other; if a word has changed, the next positions may lie outside the present
 * stack. */
static inline bool is_group(const struct vt_walk *w, uint32_t i) {
    return i % 4 == 0 && i + 4 <= w->n && !(w->based[i / 64] >> i % 64 & 15) &&
           (vt_walk_back_at(w, i) ^ vt_walk_back_at(w, i + 3)) < PAGE;
}

/* The first changed frame; n: none. */
VT_HOT __attribute__((noinline)) static uint32_t first_changed(const struct vt_walk *w) {
    const uintptr_t *address = w->address;
    uint32_t i = 0;
    while (i < w->n) {
        if (is_group(w, i) && !((return_at(vt_walk_back_at(w, i)) ^ address[i]) |
                                (return_at(vt_walk_back_at(w, i + 1)) ^ address[i + 1]) |
                                (return_at(vt_walk_back_at(w, i + 2)) ^ address[i + 2]) |
                                (return_at(vt_walk_back_at(w, i + 3)) ^ address[i + 3]))) {
            i += 4;
            continue;
        }
        if (return_at(vt_walk_back_at(w, i)) != address[i] ||
            (w->based[i / 64] >> i % 64 & 1 && word_at(w->fp_at[i]) != w->fp[i]))
            break;
        i++;
    }
    return i;
}

static bool ends_as_before(const struct vt_walk *w) {
    return w->ruled || (return_at(vt_walk_back_at(w, w->n)) >= NOWHERE) == w->cut;
}

/* Updates the walk to the present stack from frame `i`, whose position is known, up to the first frame that needs
 * another rule, and returns that frame. The walk is valid at each moment, because a signal handler may jump out of this
 * function. */
VT_HOT __attribute__((noinline)) static uint32_t follow(struct vt_walk *w, uint32_t i) {
    w->number = 0;
    __asm__ volatile("" ::: "memory"); /* `number` is cleared before the rest changes */
    for (; i < w->n; i++) {
        uintptr_t address = return_at(vt_walk_back_at(w, i));
        if (!vt_unwind_rule_is(address, w->rule[i]) ||
            (reads_fp(w->rule[i]) && word_at(w->fp_at[i]) != w->fp[i]))
            break;
        w->address[i] = address;
    }
    return i;
}

/* Walking. */

enum went { CALLER, OUTERMOST, UNKNOWN };

struct place {
    uintptr_t address, sp;
    uintptr_t fp_at;   /* the word that contains the frame pointer */
    uintptr_t back_at; /* ... and the address, unless it is right below sp */
    uintptr_t link_at; /* if interrupted: the word with the saved link register; 0: none */
    bool sp_guessed;   /* only its callee's frame record has a known position */
    bool interrupted;  /* interrupted: `address` is the next instruction, not a return address */
};

static void add(struct vt_walk *w, const struct place *here, uint64_t rule, uintptr_t fp) {
    uint32_t i = w->n;
    w->address[i] = here->address;
    w->sp[i] = here->sp;
    w->rule[i] = rule;
    if (!VT_RETURN_AT_CFA)
        w->back_at[i] = here->back_at;
    w->fp_at[i] = here->fp_at;
    w->fp[i] = fp;
    w->based[i / 64] |= (uint64_t)reads_fp(rule) << i % 64;
    w->n = i + 1;
}

/* Whether the words from the current position up to `to` are on the stack and readable. */
static bool can_read(struct vt_walks *walks, const struct place *here, uintptr_t to) {
    return to > here->sp && to - here->sp <= STACK && !(to & 7) &&
           (to <= walks->high || reach_further(walks, to));
}

static enum went go_to(struct place *here, uintptr_t address, uintptr_t sp, uintptr_t fp_at) {
    *here = (struct place){.address = address, .sp = sp, .fp_at = fp_at};
    return address >= NOWHERE ? CALLER : OUTERMOST;
}

/* A word that a rule reads is outside the known part: libunwind finds it if it is on another stack, but faults if it is
 * unreadable. */
static enum went not_there(struct vt_walk *w, uintptr_t word) {
    w->once = true;
    w->cut = vt_locks_lost(VT_LOST_INSIDE);
    if (w->cut)
        return OUTERMOST;
    return vt_get(&vt_sys_sealed) || is_page(word & ~(PAGE - 1)) ? UNKNOWN : OUTERMOST;
}

/* A realigned frame: the function saved its CFA below the caller's frame pointer. */
static enum went leave_realigned(struct vt_walks *walks, struct vt_walk *w, struct place *here,
                                 uintptr_t below) {
    uintptr_t fp = word_at(here->fp_at), at = fp - below;
    if (at < here->sp || !can_read(walks, here, fp + 8))
        return not_there(w, at);
    uintptr_t cfa = word_at(at);
    if (!can_read(walks, here, cfa))
        return not_there(w, cfa - 8);
    return go_to(here, return_at(cfa - 8), cfa, fp);
}

/* Steps from a signal handler to the interrupted function, which may be on another stack (the kernel's struct
 * rt_sigframe). */
static enum went leave_handler(struct vt_walks *walks, struct vt_walk *w, struct place *here) {
    const uintptr_t context = here->sp + VT_HANDLER_CONTEXT;
    if (!can_read(walks, here, context + VT_CONTEXT_END))
        return UNKNOWN;
    enum went went = go_to(here, word_at(context + VT_CONTEXT_PC), word_at(context + VT_CONTEXT_SP),
                           context + VT_CONTEXT_FP);
    here->interrupted = true;
    here->link_at = context + VT_CONTEXT_LINK;
    if (went == CALLER && (here->sp < walks->low || here->sp >= walks->high)) {
        uint32_t n = w->n;
        bool known = stand_elsewhere(walks, here->sp);
        w->n = n;
        return known ? CALLER : OUTERMOST;
    }
    return went;
}

/* Steps out of a function that was interrupted before it called another: it may have no frame, and its return address
 * may still be in the register. */
static enum went leave_leaf(struct vt_walks *walks, struct place *here, uint64_t rule) {
    uintptr_t cfa = here->sp + vt_rule_cfa(rule);
    if (!here->link_at || !can_read(walks, here, cfa + 8))
        return UNKNOWN;
    return go_to(here, return_at(here->link_at), cfa, here->fp_at);
}

/* Steps out of code without a table, which may have a frame pointer. Like libunwind, we take a value not much above the
 * stack pointer as one. (libunwind reads the memory there in any case.) */
static enum went guess(struct vt_walks *walks, struct place *here) {
    uintptr_t fp = word_at(here->fp_at);
    if (fp < here->sp || fp - here->sp > GUESSED || !can_read(walks, here, fp + 16))
        return OUTERMOST;
    enum went went = go_to(here, return_at(fp + 8), fp + 16, fp);
    here->sp_guessed = !VT_RETURN_AT_CFA;
    return went;
}

/* step() for unusual rules. */
__attribute__((noinline)) static enum went step_oddly(struct vt_walks *walks, struct vt_walk *w,
                                                      struct place *here, uint64_t rule) {
    if (vt_rule_kind(rule) == VT_RULE_OTHER && vt_rule_other(rule) == VT_UNWIND_UNKNOWN) {
        if (!vt_locks_lost(VT_LOST_INSIDE))
            return UNKNOWN;
        add(w, here, rule, 0);
        w->cut = w->once = true;
        return OUTERMOST;
    }
    add(w, here, rule, 0);
    if (vt_rule_kind(rule) == VT_RULE_OTHER && vt_rule_other(rule) == VT_UNWIND_END) {
        w->ruled = true;
        return OUTERMOST;
    }
    w->once = true;
    if (vt_rule_kind(rule) == VT_RULE_WORD && !VT_RETURN_AT_CFA)
        return leave_leaf(walks, here, rule);
    if (vt_rule_kind(rule) == VT_RULE_WORD)
        return leave_realigned(walks, w, here, vt_rule_cfa(rule));
    if (vt_rule_kind(rule) == VT_RULE_OTHER && vt_rule_other(rule) == VT_UNWIND_SIGNAL)
        return leave_handler(walks, w, here);
    w->guessed = true;
    return guess(walks, here);
}

/* Adds the current frame, and moves to its caller. `next`: the frame of the last walk that may be equal. */
static enum went step(struct vt_walks *walks, struct vt_walk *w, struct place *here,
                      const struct vt_walk *last, uint32_t *next) {
    uint64_t rule = vt_unwind_rule(here->address + here->interrupted, w->epoch);
    enum vt_rule_kind kind = vt_rule_kind(rule);
    if (VT_UNLIKELY(kind == VT_RULE_OTHER || kind == VT_RULE_WORD ||
                    (!VT_RETURN_AT_CFA && kind == VT_RULE_SP && here->sp_guessed)))
        return step_oddly(walks, w, here, rule);
    uint32_t i = w->n, j = *next;
    uintptr_t fp = kind == VT_RULE_FP ? word_at(here->fp_at) : 0, cfa, below = vt_rule_saved(rule);
    add(w, here, rule, fp);
    /* The processor need not wait for a prediction: it continues with the predicted values while it computes. */
    if (j < last->n && last->sp[j] == here->sp && last->rule[j] == rule &&
        (kind != VT_RULE_FP || last->fp[j] == fp)) {
        cfa = last->sp[j + 1];
        *next = j + 1;
    } else {
        cfa = (kind == VT_RULE_FP ? fp : here->sp) + vt_rule_cfa(rule);
        if (!can_read(walks, here, cfa) || (below && cfa - below < here->sp) ||
            cfa - vt_rule_return(rule) < here->sp)
            return not_there(w, cfa - vt_rule_return(rule));
        while (j < last->n && last->sp[j] < cfa)
            j++;
        *next = j;
    }
    w->sp[i + 1] = here->sp = cfa;
    here->address = return_at(cfa - vt_rule_return(rule));
    if (!VT_RETURN_AT_CFA)
        w->back_at[i + 1] = here->back_at = cfa - vt_rule_return(rule);
    here->interrupted = here->sp_guessed = false;
    here->link_at = 0;
    if (below)
        here->fp_at = cfa - below;
    return here->address >= NOWHERE ? CALLER : OUTERMOST;
}

/* False: a frame is unknown. */
static bool walk(struct vt_walks *walks, struct vt_walk *w, const struct vt_walk *last,
                 const struct vt_caller *caller) {
    struct place here = {.address = (uintptr_t)caller->to,
                         .sp = vt_caller_sp(caller),
                         .fp_at = (uintptr_t)caller->frame,
                         .back_at = (uintptr_t)caller->frame + 8};
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
        case UNKNOWN: /* after a guess: this is no frame, or libunwind would also have to guess */
            return w->guessed;
        }
    }
}

/* Whether the memory at our own frame is readable, and unchanged since the function's start. The frame may no longer
 * exist, because a signal handler may have jumped out of it. */
static bool is_there(struct vt_walks *walks, const struct vt_caller *caller) {
    uintptr_t frame = (uintptr_t)caller->frame;
    return (frame & 7) == 0 &&
           ((frame >= walks->low && frame < walks->high) || stand_elsewhere(walks, frame)) &&
           (frame + 16 <= walks->high || reach_further(walks, frame + 16)) &&
           return_at(frame + 8) == (uintptr_t)caller->to;
}

/* The index of a way's walk, or of the free one (SPARE). */
static inline unsigned index_of(const struct vt_walks *walks, unsigned way) {
    return way ^ ((const uint8_t *)&walks->order)[way];
}

static inline unsigned way_of(uintptr_t caller) {
    return (caller >> 2 ^ caller >> 7) % VT_WALKS;
}

VT_HOT __attribute__((noinline)) static struct vt_walk *
walk_anew(struct vt_walks *walks, const struct vt_caller *caller, uint32_t most, uint32_t epoch) {
    unsigned way = way_of((uintptr_t)caller->to), taken = index_of(walks, way),
             spare = index_of(walks, SPARE);
    struct vt_walk *last = &walks->walk[taken], *w = &walks->walk[spare];
    if (!epoch || !is_there(walks, caller))
        return NULL;
    if (last->epoch != epoch || last->most != most)
        last->n = 0;
    w->epoch = epoch;
    w->most = most;
    w->number = 0;
    if (!walk(walks, w, last, caller)) {
        w->n = 0;
        return NULL;
    }
    if (VT_UNLIKELY(w->once))
        return w;
    /* In one store, because a signal handler may jump out of this function. */
    uint64_t swap = taken ^ spare;
    walks->order ^= swap << 8 * way | swap << 8 * SPARE;
    return w;
}

VT_HOT struct vt_walk *vt_unwind_walk(struct vt_walks *walks, const struct vt_caller *caller,
                                      uint32_t most, bool *again) {
    uint32_t epoch = vt_unwind_epoch();
    uintptr_t to = (uintptr_t)caller->to, at = (uintptr_t)caller->frame;
    struct vt_walk *last = &walks->walk[index_of(walks, way_of(to))];
    *again = false;
    if (VT_LIKELY(last->n && last->epoch == epoch && last->most == most &&
                  last->sp[0] == vt_caller_sp(caller) &&
                  (VT_RETURN_AT_CFA || last->fp_at[0] == at) && return_at(at + 8) == to)) {
        uint32_t i = first_changed(last);
        if (i == last->n && ends_as_before(last)) {
            *again = true;
            return last;
        }
        if (follow(last, i) == last->n && ends_as_before(last))
            return last;
    }
    return walk_anew(walks, caller, most, epoch);
}
