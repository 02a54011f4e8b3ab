/* SPDX-License-Identifier: MIT */
/*
 * The frames of a stopped thread, from its memory alone: libunwind can unwind only the calling thread, and a process
 * cannot read its threads' registers. The kernel reports a blocked thread's program counter and stack pointer. Most
 * functions can be unwound with these two. If a function needs the frame pointer, a function that it called may have
 * saved it. Otherwise unwinding ends there, and the rest of the stack has no names.
 *
 * Called by native.c.
 */
#define _GNU_SOURCE
#include "native.h"

#include "stack/stack.h"

#include <stddef.h>
#include <string.h>

#define SIGNALS 8u /* nested signals */

static bool read_table(void *data, void *to, uintptr_t from, size_t bytes) {
    return vt_owners_read(data, to, from, bytes);
}

/* Whether a signal handler returns to this address. */
static bool is_behind_handler(struct vt_owners *w, uintptr_t pc) {
    uint8_t code[sizeof vt_machine_sigreturn];
    return vt_owners_read(w, code, pc, sizeof code) &&
           memcmp(code, vt_machine_sigreturn, sizeof code) == 0;
}

/* Reads the registers of the interrupted code, which the kernel left on the handler's stack. */
static void read_interrupted(struct vt_owners *w, struct vt_registers *here) {
    uintptr_t context = here->sp + VT_HANDLER_CONTEXT;
    *here = (struct vt_registers){
        .pc = vt_owners_word(w, context + VT_CONTEXT_PC),
        .sp = vt_owners_word(w, context + VT_CONTEXT_SP),
        .fp = vt_owners_word(w, context + VT_CONTEXT_FP),
        .link = VT_CONTEXT_LINK ? vt_owners_word(w, context + VT_CONTEXT_LINK) : 0,
        .fp_known = true};
}

uint32_t vt_native_unwind(struct vt_owners *w, const struct vt_scan *scan, struct vt_registers here,
                          struct vt_stack_frame *frames, uint32_t most) {
    uint32_t count = 0, signals = 0;
    bool returns = false; /* `here.pc` is a return address */
    while (count < most) {
        if (returns && signals < SIGNALS && is_behind_handler(w, here.pc)) {
            read_interrupted(w, &here);
            returns = false;
            signals++;
        }
        uintptr_t pc = here.pc - returns, cfa, back;
        const struct vt_module_code *m =
            vt_scan_item_at(scan->code, scan->code_count, sizeof *scan->code, pc);
        if (!m || !m->unwind)
            return count;
        struct vt_unwind_rule rule = vt_unwind_rule_at(read_table, w, m->unwind, pc);
        if (!(rule.kind == VT_UNWIND_BY_SP || (rule.kind == VT_UNWIND_BY_FP && here.fp_known)))
            return count;
        cfa = (rule.kind == VT_UNWIND_BY_SP ? here.sp : here.fp) + (uintptr_t)rule.cfa_offset;
        back = rule.ra_offset ? vt_owners_word(w, cfa + (uintptr_t)rule.ra_offset) : here.link;
        if (cfa < here.sp || (cfa == here.sp && rule.ra_offset) || cfa & 7)
            return count;
        frames[count++] = (struct vt_stack_frame){
            .start = here.sp, .end = cfa - VT_RETURN_AT_CFA, .pc = here.pc, .code = m};
        if (rule.fp_saved) {
            here.fp = vt_owners_word(w, cfa + (uintptr_t)rule.fp_offset);
            here.fp_known = true;
        }
        here.sp = cfa;
        here.pc = vt_machine_return(back);
        here.link = 0;
        returns = true;
        if (!back)
            return count;
    }
    return count;
}
