/* SPDX-License-Identifier: MIT */
/*
 * Stacks that lie in memory of the program's own: those of fibers, and a signal's. A variable that leads
 * to such a stack holds nothing of what is there: the functions do whose frames these are.
 *
 * A fiber that is switched off is known by the ucontext_t that getcontext() or swapcontext() filled:
 * one of its words points to another part of it (glibc, x86-64), and its stack pointer lies in its stack.
 * The registers in one whose stack is another, as of the thread that switched to a fiber, are left over.
 * It is looked for in variables. The stack for signals is what the kernel says of the calling thread.
 *
 * Called by native.c.
 */
#define _GNU_SOURCE
#include "native.h"

#include <stddef.h>
#include <ucontext.h>

#define PART 512u /* words */

/* Leaves memory out: of a variable, and of the heap, if it is a block of its own. */
static void leave_out(struct vt_native *n, struct vt_range memory, bool is_stack) {
    static const struct vt_native_way anybody;
    struct vt_range block;
    if (n->apart_count == VT_NATIVE_APART)
        return;
    n->apart[n->apart_count++] = memory;
    if (is_stack && vt_native_block(n, memory.start, &anybody, &block) == 2 &&
        memory.start - block.start <= 16 && block.end - memory.end <= 4096)
        vt_native_enter(n, block, (struct vt_range){block.end, block.end}, &anybody);
}

static bool runs_on(const struct vt_native *n, struct vt_range stack) {
    bool runs = n->w->here.sp - stack.start < stack.end - stack.start;
    for (uint32_t i = 0; i < n->scan->thread_count && !runs; i++)
        runs = n->scan->threads[i].sp - stack.start < stack.end - stack.start;
    return runs;
}

static void take_context(struct vt_native *n, uintptr_t at) {
    ucontext_t c;
    if (!vt_owners_read(n->w, &c, at, offsetof(ucontext_t, __fpregs_mem)))
        return;
    const greg_t *r = c.uc_mcontext.gregs;
    struct vt_range stack = {(uintptr_t)c.uc_stack.ss_sp,
                             (uintptr_t)c.uc_stack.ss_sp + c.uc_stack.ss_size};
    leave_out(n,
              (struct vt_range){at + offsetof(ucontext_t, uc_stack),
                                at + offsetof(ucontext_t, __fpregs_mem)},
              false);
    if ((uintptr_t)r[REG_RSP] - stack.start >= c.uc_stack.ss_size)
        return;
    leave_out(n, stack, true);
    if (n->fiber_count < VT_NATIVE_FIBERS && !runs_on(n, stack))
        n->fibers[n->fiber_count++] = (struct vt_registers){.pc = (uintptr_t)r[REG_RIP],
                                                            .sp = (uintptr_t)r[REG_RSP],
                                                            .rbp = (uintptr_t)r[REG_RBP],
                                                            .rbp_known = true};
}

static void find_contexts(struct vt_native *n, uintptr_t start, uintptr_t end) {
    enum {
        POINTER = offsetof(ucontext_t, uc_mcontext.fpregs),
        TO = offsetof(ucontext_t, __fpregs_mem)
    };
    static uint64_t words[PART]; /* one snapshot at a time; the stack may be small */
    for (uintptr_t at = start, bytes; at + 8 <= end && vt_owners_goes_on(n->w); at += bytes) {
        bytes = end - at < sizeof words ? (end - at) & ~(uintptr_t)7 : sizeof words;
        if (!vt_owners_read(n->w, words, at, bytes))
            continue;
        for (unsigned i = 0; i < bytes / 8; i++)
            if (words[i] == at + 8 * i + (TO - POINTER) && at + 8 * i - start >= POINTER)
                take_context(n, at + 8 * i - POINTER);
    }
}

void vt_native_find_stacks(struct vt_native *n) {
    struct vt_range signals = n->w->signal_stack;
    if (signals.start)
        leave_out(n, signals, true);
    for (uint32_t i = 0; i < n->scan->module_count; i++) {
        const struct vt_module_data *m = &n->scan->modules[i];
        if (!m->library)
            find_contexts(n, m->start, m->end);
    }
    vt_scan_sort(n->apart, n->apart_count, sizeof *n->apart);
}
