/* SPDX-License-Identifier: MIT */
/*
 * The calling thread's stack (see unwind_walk.h).
 *
 * Where a frame's caller is follows from the frame's address, stack pointer and frame pointer, by a
 * rule of the tables, and from the words that the rule reads. So if these three are those of a frame
 * of the last walk, and each word that was read from there on is unchanged, then the rest of the
 * stack is the same, exactly. Comparing is several times faster than walking: the words' places are
 * known, and none waits for another.
 *
 * So each walk is compared with the last one: from the innermost frame on, and wherever it comes to
 * a frame of the last one again. What lies between is walked by rules. A frame pointer counts only
 * where a rule reads it before another value is loaded; most code has other numbers in that
 * register.
 *
 * Nothing is read but the thread's own stack, and that only where it was found to be readable, once
 * a page: a wrong table or register must not become a fault.
 */
#define _GNU_SOURCE
#include "unwind_walk.h"
#include "python_layout.h"
#include "unwind_rules.h"

#include <string.h>
#include <ucontext.h>

#define PAGE     4096ul
#define NONE     UINT32_MAX
#define NOWHERE  0x4000u     /* a smaller return address ends the stack, as for libunwind */
#define STACK    (1ul << 30) /* a stack is not larger */
#define GUESSED  0x4000u     /* libunwind 1.6, src/x86_64/Gstep.c */
#define DOWNWARD (1ul << 20) /* so far below what is known to be readable, each page is tried */

/* In rbp_from, whose addresses are multiples of 8 */
#define NEEDED 1u /* a later rule reads this frame pointer */
#define BASED  2u /* this frame's rule reads it */
#define SAVED  4u /* the frame saved its caller's */
#define FLAGS  7u

/* In vt_walks.order */
#define SPARE       (4 * VT_WALKS)
#define FIRST_ORDER 0x43210u

struct registers {
    uintptr_t address, sp, rbp, rbp_from;
    bool interrupted; /* it is about to run what is at `address`, and did not call from before it */
};

static uintptr_t word_at(uintptr_t address) {
    return *(const volatile uintptr_t *)address;
}

/* --- what can be read --- */

static bool is_page(uintptr_t page) {
    char byte;
    return vt_python_peek(&byte, page, 1);
}

/* Makes the pages from where we stand up to what is known part of it; else begins anew. */
__attribute__((noinline)) static bool stand_elsewhere(struct vt_walks *w, uintptr_t sp) {
    uintptr_t page = sp & ~(PAGE - 1);
    if (sp < w->low && w->low - sp < DOWNWARD) {
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

/* Whether a frame of a walk is where we are. */
static bool is_here(const struct vt_walk *w, uint32_t i, const struct registers *here) {
    return w->sp[i] == here->sp && w->address[i] == here->address &&
           (!(w->rbp_from[i] & NEEDED) || w->rbp[i] == here->rbp);
}

/* The outermost frame up to which the stack is still as it was, from frame `i` on, which is. */
static uint32_t unchanged(const struct vt_walk *w, uint32_t i) {
    for (; i + 1 < w->n; i++) {
        uintptr_t from = w->rbp_from[i + 1];
        if (word_at(w->sp[i + 1] - 8) != w->address[i + 1] ||
            (from & NEEDED && (from ^ w->rbp_from[i]) > FLAGS &&
             word_at(from & ~(uintptr_t)FLAGS) != w->rbp[i + 1]))
            break;
    }
    return i;
}

static bool ends_as_before(const struct vt_walk *w, uint32_t i) {
    return i + 1 == w->n && (!w->end_from || word_at(w->end_from) < NOWHERE);
}

/* Takes frames `from` to `to` of the last walk over, where we are now. Their frame pointers are read
 * again: those that were not needed were not compared. Then we are at the last one of them. */
static void take_over(struct vt_walk *w, const struct vt_walk *last, uint32_t from, uint32_t to,
                      struct registers *here) {
    uint32_t n = w->n, count = to - from + 1;
    uintptr_t unloaded = last->rbp_from[from] & ~(uintptr_t)FLAGS;
    memcpy(w->address + n, last->address + from, count * sizeof *w->address);
    memcpy(w->sp + n, last->sp + from, count * sizeof *w->sp);
    for (uint32_t i = 0; i < count; i++) {
        uintptr_t was = last->rbp_from[from + i], at = was & ~(uintptr_t)FLAGS;
        if (at != unloaded && at != here->rbp_from) {
            here->rbp_from = at;
            here->rbp = word_at(at);
            unloaded = 0;
        }
        w->rbp[n + i] = here->rbp;
        w->rbp_from[n + i] = here->rbp_from | (was & FLAGS);
    }
    w->n += count;
    here->address = w->address[w->n - 1];
    here->sp = w->sp[w->n - 1];
}

/* --- walking --- */

enum went { CALLER, OUTERMOST, UNKNOWN };

static void add(struct vt_walk *w, const struct registers *here, unsigned flags) {
    w->address[w->n] = here->address;
    w->sp[w->n] = here->sp;
    w->rbp[w->n] = here->rbp;
    w->rbp_from[w->n++] = here->rbp_from | flags;
}

/* Whether the words from where we stand up to `to` are on the stack and can be read. */
static bool can_read(struct vt_walks *walks, const struct registers *here, uintptr_t to) {
    return to > here->sp && to - here->sp <= STACK && !(to & 7) &&
           (to <= walks->high || reach_further(walks, to));
}

static enum went go_to(struct registers *here, uintptr_t address, uintptr_t sp, uintptr_t rbp) {
    *here = (struct registers){.address = address, .sp = sp, .rbp = rbp};
    return address >= NOWHERE ? CALLER : OUTERMOST;
}

/* A frame that was realigned: the function put its CFA below the caller's frame pointer. */
static enum went leave_realigned(struct vt_walks *walks, struct registers *here, uintptr_t below) {
    uintptr_t rbp = here->rbp, at = rbp - below;
    if (at < here->sp || !can_read(walks, here, rbp + 8))
        return UNKNOWN;
    uintptr_t cfa = word_at(at);
    if (!can_read(walks, here, cfa))
        return UNKNOWN;
    return go_to(here, word_at(cfa - 8), cfa, word_at(rbp));
}

/* Back from the handler of a signal to the function that it interrupted, which may be on another
 * stack (the kernel's struct rt_sigframe: where the handler has returned, the stack pointer is at its
 * ucontext). */
static enum went leave_handler(struct vt_walks *walks, struct vt_walk *w, struct registers *here) {
    const uintptr_t words = here->sp + offsetof(ucontext_t, uc_mcontext.gregs);
    if (!can_read(walks, here, words + NGREG * sizeof(greg_t)))
        return UNKNOWN;
    enum went went =
        go_to(here, word_at(words + REG_RIP * sizeof(greg_t)),
              word_at(words + REG_RSP * sizeof(greg_t)), word_at(words + REG_RBP * sizeof(greg_t)));
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
static enum went guess(struct vt_walks *walks, struct registers *here) {
    uintptr_t rbp = here->rbp;
    if (rbp < here->sp || rbp - here->sp > GUESSED || !can_read(walks, here, rbp + 16))
        return OUTERMOST;
    return go_to(here, word_at(rbp + 8), rbp + 16, word_at(rbp));
}

/* The same as step() where that is not one of the usual rules. */
__attribute__((noinline)) static enum went step_oddly(struct vt_walks *walks, struct vt_walk *w,
                                                      struct registers *here, uint64_t rule) {
    if (vt_rule_kind(rule) == VT_RULE_OTHER && vt_rule_other(rule) == VT_RULE_UNKNOWN)
        return UNKNOWN;
    add(w, here, 0);
    if (vt_rule_kind(rule) == VT_RULE_OTHER && vt_rule_other(rule) == VT_RULE_END)
        return OUTERMOST;
    w->once = true;
    if (vt_rule_kind(rule) == VT_RULE_WORD)
        return leave_realigned(walks, here, vt_rule_cfa(rule));
    if (vt_rule_other(rule) == VT_RULE_SIGNAL)
        return leave_handler(walks, w, here);
    w->guessed = true;
    return guess(walks, here);
}

/* Adds the frame where we are, and goes to its caller. */
static enum went step(struct vt_walks *walks, struct vt_walk *w, struct registers *here,
                      uint32_t epoch) {
    uint64_t rule = vt_unwind_rule(here->address + here->interrupted, epoch);
    enum vt_rule_kind kind = vt_rule_kind(rule);
    if (VT_UNLIKELY(kind == VT_RULE_OTHER || kind == VT_RULE_WORD))
        return step_oddly(walks, w, here, rule);
    unsigned flags = kind == VT_RULE_RBP ? BASED : 0;
    uintptr_t cfa = (kind == VT_RULE_RBP ? here->rbp : here->sp) + vt_rule_cfa(rule);
    uintptr_t below = vt_rule_saved(rule), saved = below ? cfa - below : 0;
    add(w, here, flags | (saved ? SAVED : 0));
    if (!can_read(walks, here, cfa) || (saved && saved < here->sp))
        return UNKNOWN;
    here->address = word_at(cfa - 8);
    here->sp = cfa;
    here->interrupted = false;
    if (saved) {
        here->rbp = word_at(saved);
        here->rbp_from = saved;
    }
    if (here->address >= NOWHERE)
        return CALLER;
    w->end_from = cfa - 8;
    return OUTERMOST;
}

/* Says of each frame whether a rule from there on reads the frame pointer that it has. */
static void mark_needed(struct vt_walk *w) {
    bool needed = false;
    for (uint32_t i = w->n; i-- > 0;) {
        uintptr_t *from = &w->rbp_from[i];
        needed = *from & BASED || (needed && !(*from & SAVED));
        *from = (*from & ~(uintptr_t)NEEDED) | needed;
    }
}

/* Frames up to `same` of the last walk are known to be unchanged; NONE: not the first one. False: a
 * frame is not known. */
static bool walk(struct vt_walks *walks, struct vt_walk *w, const struct vt_walk *last,
                 uint32_t same, struct registers here, uint32_t most) {
    uint32_t next = 0; /* the first frame of the last walk that may come */
    w->end_from = 0;
    w->once = w->guessed = false;
    for (w->n = 0; w->n < most;) {
        while (next < last->n && last->sp[next] < here.sp)
            next++;
        if (next < last->n && !here.interrupted && is_here(last, next, &here)) {
            uint32_t to = same == NONE ? unchanged(last, next) : same;
            same = NONE;
            if (to - next > most - w->n - 1)
                to = next + most - w->n - 1;
            bool whole = ends_as_before(last, to);
            take_over(w, last, next, to, &here);
            if (whole) {
                w->end_from = last->end_from;
                break;
            }
            if (w->n == most)
                break;
            w->n--; /* its caller has changed */
            next = to + 1;
        }
        switch (step(walks, w, &here, w->epoch)) {
        case CALLER:
            continue;
        case OUTERMOST:
            break;
        case UNKNOWN:
            if (w->guessed) /* it is not a frame, or libunwind would have to guess, too */
                break;
            return false;
        }
        break;
    }
    mark_needed(w);
    return true;
}

__attribute__((noinline)) struct vt_walk *vt_unwind_walk(struct vt_walks *walks, const void *caller,
                                                         uint32_t most, bool *again) {
    struct registers here = {.rbp_from = 0};
    __asm__ volatile("leaq 1f(%%rip), %0\n1:\tmovq %%rsp, %1\n\tmovq %%rbp, %2"
                     : "=&r"(here.address), "=&r"(here.sp), "=&r"(here.rbp));
    uint32_t epoch = vt_unwind_epoch();
    unsigned way = 4 * (((uintptr_t)caller >> 2 ^ (uintptr_t)caller >> 7) % VT_WALKS);
    uint32_t order = walks->order ? walks->order : FIRST_ORDER;
    uint32_t taken = order >> way & 15, spare = order >> SPARE & 15;
    struct vt_walk *last = &walks->walk[taken], *w = &walks->walk[spare];
    *again = false;
    if (VT_UNLIKELY(!epoch || ((here.sp < walks->low || here.sp >= walks->high) &&
                               !stand_elsewhere(walks, here.sp))))
        return NULL;
    if (last->epoch != epoch)
        last->n = 0;
    uint32_t same = last->n && is_here(last, 0, &here) ? unchanged(last, 0) : NONE;
    if (same != NONE && ends_as_before(last, same)) {
        *again = true;
        return last;
    }
    w->epoch = epoch;
    w->number = 0;
    if (!walk(walks, w, last, same, here, most)) {
        w->n = 0;
        return NULL;
    }
    if (VT_UNLIKELY(w->once))
        return w;
    /* At once: a handler of a signal may leave by a jump. */
    walks->order = order ^ (taken ^ spare) << way ^ (taken ^ spare) << SPARE;
    return w;
}
