/* SPDX-License-Identifier: MIT */
/*
 * The frames of a thread that stands still, from its memory alone: libunwind can be asked for the
 * calling thread's only, and a process cannot read its threads' registers. Of a thread that waits,
 * the kernel tells where it is and its stack pointer. Most functions need no more; where the frame
 * pointer is needed, a function that was called may have saved it. Else the frames end there, and
 * the rest of the stack has no names.
 *
 * Called by native.c.
 */
#define _GNU_SOURCE
#include "native.h"

#include "stack/stack.h"

#include <stddef.h>
#include <string.h>
#include <ucontext.h>

#define SIGNALS 8u /* one in another */

static bool read_table(void *data, void *to, uintptr_t from, size_t bytes) {
    return vt_owners_read(data, to, from, bytes);
}

/* Whether a signal's handler returns there: mov $15,%rax; syscall. */
static bool is_behind_handler(struct vt_owners *w, uintptr_t pc) {
    static const uint8_t sigreturn[] = {0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05};
    uint8_t code[sizeof sigreturn];
    return vt_owners_read(w, code, pc, sizeof code) && memcmp(code, sigreturn, sizeof code) == 0;
}

/* The kernel left the registers of what it interrupted on the handler's stack. */
static void take_interrupted(struct vt_owners *w, struct vt_registers *here) {
    uintptr_t r = here->sp + offsetof(ucontext_t, uc_mcontext.gregs);
    *here = (struct vt_registers){.pc = vt_owners_word(w, r + 8 * REG_RIP),
                                  .sp = vt_owners_word(w, r + 8 * REG_RSP),
                                  .rbp = vt_owners_word(w, r + 8 * REG_RBP),
                                  .rbp_known = true};
}

uint32_t vt_native_unwind(struct vt_owners *w, const struct vt_scan *scan, struct vt_registers here,
                          struct vt_stack_frame *frames, uint32_t most) {
    uint32_t count = 0, signals = 0;
    bool returns = false; /* `here.pc` is a return address */
    while (count < most) {
        if (returns && signals < SIGNALS && is_behind_handler(w, here.pc)) {
            take_interrupted(w, &here);
            returns = false;
            signals++;
        }
        uintptr_t pc = here.pc - returns, cfa, back;
        const struct vt_module_code *m =
            vt_scan_around(scan->code, scan->code_count, sizeof *scan->code, pc);
        if (!m || !m->unwind)
            return count;
        struct vt_unwind_rule rule = vt_unwind_rule_at(read_table, w, m->unwind, pc);
        if (!(rule.kind == VT_UNWIND_BY_RSP || (rule.kind == VT_UNWIND_BY_RBP && here.rbp_known)))
            return count;
        cfa = (rule.kind == VT_UNWIND_BY_RSP ? here.sp : here.rbp) + (uintptr_t)rule.cfa_offset;
        back = vt_owners_word(w, cfa - 8);
        if (cfa <= here.sp || cfa & 7)
            return count;
        frames[count++] =
            (struct vt_stack_frame){.start = here.sp, .end = cfa - 8, .pc = here.pc, .code = m};
        if (rule.rbp_saved) {
            here.rbp = vt_owners_word(w, cfa + (uintptr_t)rule.rbp_offset);
            here.rbp_known = true;
        }
        here.sp = cfa;
        here.pc = back;
        returns = true;
        if (!back)
            return count;
    }
    return count;
}
