/* SPDX-License-Identifier: MIT */
/*
 * The unwind rules of return addresses (see unwind_rules.h): a table that only grows. An address keeps its slot. A rule
 * is one word, so a thread sees all of it or none.
 */
#define _GNU_SOURCE
#include "unwind_rules.h"
#include "python_layout.h"
#include "unwind_table.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>

#define PROBES  8u
#define OFFSETS (1u << 20) /* limit of offsets, in words */

struct vt_rule_place vt_unwind_rules[VT_RULE_PLACES];

uint32_t vt_unwind_epochs = 1;

void vt_unwind_forget(void) {
    if (vt_unwind_epoch())
        vt_add(&vt_unwind_epochs, 1);
}

/* Modules. */

/* A loaded module: its range, and its .eh_frame_hdr. */
struct code {
    uintptr_t pc, start, end, table;
};

/* glibc's struct dl_find_object (glibc manual, "Dynamic Linker Introspection"; since 2.35). */
struct found_object {
    unsigned long long flags;
    void *start, *end;
    struct link_map *map;
    void *eh_frame;
    unsigned long long reserved[7];
};

static int (*find)(void *address, struct found_object *object); /* atomic; NULL: not available */

void vt_unwind_arm(void) {
    bool lost = vt_locks_lost(VT_LOST_LOADER);
    void *found = lost ? NULL : vt_libc_dlsym(RTLD_DEFAULT, "_dl_find_object");
    if (!found && !lost)
        vt_libc_dlerror_clear();
    vt_publish(&find, __extension__(__typeof__(find)) found);
}

static bool find_code(struct code *code) {
    __typeof__(find) f = vt_see(&find);
    if (!f) {
        struct vt_elf elf;
        if (!vt_elf_containing((void *)code->pc, &elf) || !elf.unwind_table)
            return false;
        *code = (struct code){code->pc, elf.start, elf.end, elf.unwind_table};
        return true;
    }
    struct found_object object;
    if (f((void *)code->pc, &object) != 0 || !object.eh_frame)
        return false;
    code->start = (uintptr_t)object.start;
    code->end = (uintptr_t)object.end;
    code->table = (uintptr_t)object.eh_frame;
    return true;
}

static bool read_code(void *data, void *to, uintptr_t from, size_t bytes) {
    const struct code *code = data;
    if (from < code->start || from >= code->end || bytes > code->end - from)
        return false;
    memcpy(to, (const void *)from, bytes);
    return true;
}

/* Rules. */

static uint64_t other(enum vt_unwind_kind kind, uint32_t epoch) {
    return (uint64_t)epoch << 42 | (uint64_t)kind << 2 | VT_RULE_OTHER;
}

/* Whether an offset is a positive number of whole words within the limit. */
static bool fits(int64_t bytes) {
    return bytes > 0 && !(bytes & 7) && (uint64_t)bytes / 8 < OFFSETS;
}

/* For a return address that is not right below the CFA: encodes the distances of the return address and the frame
 * pointer below the CFA, in words; 0: the rule cannot be encoded. */
static uint64_t saved_anywhere(const struct vt_unwind_rule *rule) {
    int64_t back = -rule->ra_offset, saved = -rule->fp_offset;
    if (!fits(back) || !fits(2 * back + 16) || (rule->fp_saved && saved != back + 8))
        return 0;
    return rule->fp_saved ? (uint64_t)saved / 8 << 22 : (uint64_t)back / 8 << 22 | VT_RULE_ALONE;
}

/* For a return address that is still in its register. */
static uint64_t packed_leaf(const struct vt_unwind_rule *rule, uint32_t epoch) {
    if (rule->kind != VT_UNWIND_BY_SP || rule->fp_saved ||
        (rule->cfa_offset && !fits(rule->cfa_offset)))
        return other(VT_UNWIND_UNKNOWN, epoch);
    return (uint64_t)epoch << 42 | (uint64_t)rule->cfa_offset / 8 << 2 | VT_RULE_WORD;
}

static uint64_t packed(const struct vt_unwind_rule *rule, uint32_t epoch) {
    static const enum vt_rule_kind kinds[] = {[VT_UNWIND_BY_WORD] = VT_RULE_WORD,
                                              [VT_UNWIND_BY_SP] = VT_RULE_SP,
                                              [VT_UNWIND_BY_FP] = VT_RULE_FP};
    bool by_word = rule->kind == VT_UNWIND_BY_WORD;
    int64_t cfa = by_word ? -rule->cfa_offset : rule->cfa_offset,
            saved = rule->fp_saved && !by_word ? -rule->fp_offset : 0;
    uint64_t words = (uint64_t)saved / 8 << 22;
    if (rule->kind <= VT_UNWIND_END)
        return other(rule->kind, epoch);
    if (!VT_RETURN_AT_CFA && !rule->ra_offset)
        return packed_leaf(rule, epoch);
    if (!fits(cfa) || (saved && (!fits(saved) || saved <= 8)) || (by_word && rule->fp_offset) ||
        (!VT_RETURN_AT_CFA && !(words = saved_anywhere(rule))))
        return other(VT_UNWIND_UNKNOWN, epoch);
    return (uint64_t)epoch << 42 | words | (uint64_t)cfa / 8 << 2 | kinds[rule->kind];
}

/* Whether a signal handler returns to this address: the kernel's code may have no table, and be in no module. */
static bool is_behind_handler(uintptr_t address) {
    uint8_t code[sizeof vt_machine_sigreturn];
    return vt_python_peek(code, address, sizeof code) &&
           memcmp(code, vt_machine_sigreturn, sizeof code) == 0;
}

__attribute__((noinline)) static uint64_t find_rule(uintptr_t address, uint32_t epoch) {
    struct code code = {.pc = address - 1};
    struct vt_unwind_rule rule = {.kind = VT_UNWIND_NONE};
    if (find_code(&code))
        rule = vt_unwind_rule_at(read_code, &code, code.table, address - 1);
    if (!VT_RETURN_AT_CFA && rule.kind == VT_UNWIND_NONE && is_behind_handler(address))
        rule.kind = VT_UNWIND_SIGNAL;
    return packed(&rule, epoch);
}

uint64_t vt_unwind_rule_find(uintptr_t address, uint32_t epoch) {
    uint32_t at = vt_rule_place(address);
    for (uint32_t i = 0; i < PROBES; i++, at = (at + 1) % VT_RULE_PLACES) {
        struct vt_rule_place *place = &vt_unwind_rules[at];
        uint64_t here = vt_get(&place->address), rule = vt_get(&place->rule);
        if (here == address && vt_rule_epoch(rule) == epoch)
            return rule;
        if (here && here != address)
            continue;
        rule = find_rule(address, epoch);
        /* Not stored: code outside modules comes and goes, and may not be code at all. */
        if (!here && vt_rule_kind(rule) == VT_RULE_OTHER && vt_rule_other(rule) == VT_UNWIND_NONE)
            return rule;
        if (!here && !vt_claim(&place->address, 0, address) && vt_get(&place->address) != address)
            continue;
        vt_put(&place->rule, rule);
        return rule;
    }
    return find_rule(address, epoch);
}
