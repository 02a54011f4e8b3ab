/* SPDX-License-Identifier: MIT */
/*
 * The thread's previous stacks (see unwind_recall.h).
 *
 * A stack is kept as the words that its walk read: return addresses, and frame pointers that a rule reads. If the
 * present stack begins at the same place and each word is unchanged, it is the same stack, for the reason given in
 * unwind_walk.c. We compare the words in the order of the walk: each word's position follows from the words before it,
 * so we read only the present stack.
 *
 * Stacks in random order cannot be predicted. So we count hits, and if there are too few, prediction pauses for a
 * while.
 */
#include "unwind_recall.h"
#include "unwind_rules.h"

#include <sys/mman.h>

#define FIRST      64u   /* events of a thread before prediction is worth the memory */
#define JUDGED     1024u /* events between two checks of the hits */
#define WORTHY     (JUDGED / 4)
#define PAUSE_MOST (1u << 15)
#define PAST_SHIFT 2 /* 32 stacks in 64 bits */
#define FEW        3

static uintptr_t word_at(const uintptr_t *address) {
    return *(const volatile uintptr_t *)address;
}

static bool is_unchanged(const struct vt_recalled *r) {
    const uintptr_t *words = r->caller.frame;
#pragma GCC unroll 4
    for (uint32_t i = 0; i < r->n; i++)
        if (word_at(&words[r->at[i]]) != r->word[i])
            return false;
    return true;
}

/* Whether a kept stack begins where the present one does. */
static bool begins_here(const struct vt_recalled *r, const struct vt_caller *caller) {
    return r->n && r->caller.frame == caller->frame && r->caller.to == caller->to &&
           vt_caller_sp(&r->caller) == vt_caller_sp(caller) && r->epoch == vt_unwind_epoch();
}

/* False: not now. */
static bool claim_part(struct vt_recall *recall) {
    if (recall->pausing) {
        recall->pausing--;
        return false;
    }
    if (VT_UNLIKELY(!recall->kept)) {
        if (recall->left++ < FIRST)
            return false;
        recall->kept = vt_sys_mmap(sizeof *recall->kept, PROT_READ | PROT_WRITE,
                                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        recall->left = JUDGED;
        recall->pausing = recall->kept ? 0 : UINT32_MAX;
        return recall->kept != NULL;
    }
    if (VT_LIKELY(--recall->left))
        return true;
    bool worthy = recall->hits >= WORTHY;
    recall->left = JUDGED;
    recall->hits = 0;
    if (worthy) {
        recall->pause = 0;
        return true;
    }
    recall->pause = recall->pause ? recall->pause * 4 : JUDGED;
    if (recall->pause > PAUSE_MOST)
        recall->pause = PAUSE_MOST;
    recall->pausing = recall->pause;
    return false;
}

/* The entry that predicts the next stack from the last stacks: from many of them, or from a few. */
static uint8_t *after(struct vt_recall *recall, bool few) {
    uint64_t past = few ? recall->past % (1u << (FEW * PAST_SHIFT)) : recall->past;
    return &recall->kept->after[few][past * 0x9e3779b97f4a7c15u >> 50];
}
static_assert(VT_RECALL_PASTS == 1u << (64 - 50), "a place for each");

/* Many past stacks give a better prediction, but take longer to recover after an unusual stack. */
VT_HOT struct vt_recalled *vt_recall_expected(struct vt_recall *recall,
                                              const struct vt_caller *caller) {
    if (!claim_part(recall))
        return NULL;
    recall->changed = NULL;
    for (unsigned few = 0; few < 2; few++) {
        struct vt_recalled *r = &recall->kept->stack[*after(recall, few)];
        if (r == recall->changed || !begins_here(r, caller))
            continue;
        if (VT_LIKELY(is_unchanged(r)))
            return r;
        recall->changed = r;
    }
    return NULL;
}

/* Notes that `r` followed the last stacks. */
static void pass(struct vt_recall *recall, const struct vt_recalled *r) {
    uint8_t which = (uint8_t)(r - recall->kept->stack);
    *after(recall, false) = which;
    *after(recall, true) = which;
    recall->past = recall->past << PAST_SHIFT ^ which;
}

VT_HOT void vt_recall_was(struct vt_recall *recall, const struct vt_recalled *r) {
    recall->hits++;
    pass(recall, r);
}

static void add(struct vt_recalled *r, uint32_t *n, uintptr_t address) {
    if (*n == VT_RECALL_WORDS)
        return;
    r->at[*n] = (uint32_t)((address - (uintptr_t)r->caller.frame) / sizeof(uintptr_t));
    r->word[(*n)++] = word_at((const uintptr_t *)address);
}

/* False: not all words fit. `r` is complete before it becomes valid, because a signal handler may jump out of this
 * function. */
static bool fill(struct vt_recalled *r, const struct vt_walk *walk, const struct vt_caller *caller,
                 uint64_t hash) {
    uint32_t n = 0;
    uintptr_t fp_at = 0;
    r->n = 0;
    __asm__ volatile("" ::: "memory");
    r->caller = *caller;
    r->hash = hash;
    r->epoch = walk->epoch;
    for (unsigned i = 0; i < VT_RECALL_KNOWN; i++)
        r->number[i] = 0;
    for (uint32_t i = 0; i <= walk->n; i++) {
        /* The rule of frame i - 1 gives the position of frame i's address. */
        bool based = i && walk->based[(i - 1) / 64] >> (i - 1) % 64 & 1;
        if (based && walk->fp_at[i - 1] != fp_at)
            add(r, &n, fp_at = walk->fp_at[i - 1]);
        if (i < walk->n || !walk->ruled)
            add(r, &n, vt_walk_back_at(walk, i));
    }
    if (n == VT_RECALL_WORDS)
        return false;
    __asm__ volatile("" ::: "memory");
    r->n = n;
    return true;
}

struct vt_recalled *vt_recall_keep(struct vt_recall *recall, const struct vt_walk *walk,
                                   const struct vt_caller *caller, uint64_t hash) {
    uint8_t *by_hash = &recall->kept->by_hash[hash % VT_RECALL_HASHES];
    struct vt_recalled *r = &recall->kept->stack[*by_hash];
    if (r->hash != hash || r == recall->changed || !begins_here(r, caller)) {
        if (r->hash != hash) {
            *by_hash = (uint8_t)(recall->turn++ % VT_RECALL_STACKS);
            r = &recall->kept->stack[*by_hash];
        }
        if (!fill(r, walk, caller, hash))
            return NULL;
    }
    pass(recall, r);
    return r;
}

void vt_recall_number_is(struct vt_recalled *r, uint64_t python, uint32_t caller_stack,
                         uint32_t number) {
    unsigned i = r->turn++ % VT_RECALL_KNOWN;
    r->number[i] = 0;
    __asm__ volatile("" ::: "memory");
    r->python[i] = python;
    r->caller_stack[i] = caller_stack;
    __asm__ volatile("" ::: "memory");
    r->number[i] = number;
}
