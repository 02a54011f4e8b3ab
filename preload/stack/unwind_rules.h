/* SPDX-License-Identifier: MIT */
/*
 * The unwind rules of return addresses, kept for the whole process. For unwind_walk.c.
 *
 * Invariants: a known address takes neither lock nor memory. For a new address we read its module's tables; before
 * glibc 2.35, that takes the loader's lock.
 */
#ifndef VT_PRELOAD_UNWIND_RULES_H
#define VT_PRELOAD_UNWIND_RULES_H

#include "base/base.h"
#include "unwind_table.h"

#include <stdint.h>

/* A rule in one word (explained in struct vt_unwind_rule); 0: none yet. */
enum vt_rule_kind {
    /* x86: the word is vt_rule_cfa below the frame pointer and points to the frame. AArch64: based on the stack
     * pointer; the return address is still in its register */
    VT_RULE_WORD,
    VT_RULE_SP,
    VT_RULE_FP,
    VT_RULE_OTHER /* vt_rule_other */
};

static inline enum vt_rule_kind vt_rule_kind(uint64_t rule) {
    return rule & 3;
}

#define VT_RULE_ALONE (1ull << 41) /* the return address is saved, the frame pointer is not */

/* The kind of a VT_RULE_OTHER, up to VT_UNWIND_END. */
static inline enum vt_unwind_kind vt_rule_other(uint64_t rule) {
    return rule >> 2 & 3;
}

/* Bytes from the register up to the CFA. */
static inline uintptr_t vt_rule_cfa(uint64_t rule) {
    return (rule >> 2 & 0xfffff) * 8;
}

/* Distance of the caller's saved frame pointer below the CFA, in bytes; 0: the register is unchanged. */
static inline uintptr_t vt_rule_saved(uint64_t rule) {
    return !VT_RETURN_AT_CFA && rule & VT_RULE_ALONE ? 0 : (rule >> 22 & 0xfffff) * 8;
}

/* The same for the return address. If it is not right below the CFA, either it is right above the saved frame pointer,
 * or the frame pointer is unchanged. */
static inline uintptr_t vt_rule_return(uint64_t rule) {
    return VT_RETURN_AT_CFA       ? VT_RETURN_AT_CFA
           : rule & VT_RULE_ALONE ? (rule >> 22 & 0x7ffff) * 8
                                  : (rule >> 22 & 0xfffff) * 8 - 8;
}

static inline uint32_t vt_rule_epoch(uint64_t rule) {
    return (uint32_t)(rule >> 42);
}

#define VT_RULE_EPOCHS (1u << 22)

/* Looks up the function that finds a module by address. Called once, at arming. */
void vt_unwind_arm(void);

/* The current epoch of the rules, from 1; 0: no epochs are left. */
extern uint32_t vt_unwind_epochs; /* atomic */
static inline uint32_t vt_unwind_epoch(void) {
    uint32_t epoch = vt_get(&vt_unwind_epochs);
    return epoch < VT_RULE_EPOCHS ? epoch : 0;
}

/* The table: an address keeps its slot for ever. */
#define VT_RULE_PLACES (1u << 16) /* PyTorch in training: some 5,000 addresses */
struct vt_rule_place {
    uint64_t address, rule; /* atomic; address 0: free */
};
extern struct vt_rule_place vt_unwind_rules[VT_RULE_PLACES];

static inline uint32_t vt_rule_place(uintptr_t address) {
    return (uint32_t)(address * 0x9e3779b97f4a7c15ull >> 48);
}

/* Finds or makes the rule for a return address. Never 0. */
uint64_t vt_unwind_rule_find(uintptr_t address, uint32_t epoch);

static inline uint64_t vt_unwind_rule(uintptr_t address, uint32_t epoch) {
    const struct vt_rule_place *place = &vt_unwind_rules[vt_rule_place(address)];
    uint64_t rule = vt_get(&place->rule);
    return VT_LIKELY(vt_get(&place->address) == address && vt_rule_epoch(rule) == epoch)
               ? rule
               : vt_unwind_rule_find(address, epoch);
}

/* A return address below this ends the stack, as in libunwind. */
#define VT_RULE_NOWHERE 0x4000u

/* Whether an address has this rule, in the rule's own epoch. */
static inline bool vt_unwind_rule_is(uintptr_t address, uint64_t rule) {
    const struct vt_rule_place *place = &vt_unwind_rules[vt_rule_place(address)];
    return VT_LIKELY(vt_get(&place->rule) == rule && vt_get(&place->address) == address) ||
           (address >= VT_RULE_NOWHERE && vt_unwind_rule(address, vt_rule_epoch(rule)) == rule);
}

/* After a dlclose: starts a new epoch. */
void vt_unwind_forget(void);

#endif
