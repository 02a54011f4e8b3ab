/* SPDX-License-Identifier: MIT */
/*
 * Stacks in the program's own memory: fibers' stacks, and a signal stack. The contents of such a stack belong to the
 * functions whose frames lie there, not to a variable that points to the stack.
 *
 * A suspended fiber is recognized by the ucontext_t that getcontext() or swapcontext() filled. One word identifies a
 * ucontext_t (machine/machine.h), and its stack pointer must lie in its stack. If the stack pointer lies elsewhere, as
 * for the thread that switched to a fiber, the registers are stale. We search for contexts in variables. The signal
 * stack is the one that the kernel reports for the calling thread.
 *
 * Called by native.c.
 */
#define _GNU_SOURCE
#include "native.h"

#include <stddef.h>
#include <ucontext.h>

#define PART 512u /* words */

/* Excludes memory inside a variable, and a stack that is a heap block of its own. */
static void exclude(struct vt_native *n, struct vt_range memory, bool is_stack) {
    static const struct vt_native_path anybody;
    struct vt_range block;
    if (n->apart_count == VT_NATIVE_APART)
        return;
    n->apart[n->apart_count++] = memory;
    if (is_stack && vt_native_block(n, memory.start, &anybody, &block) == 2 &&
        memory.start - block.start <= 16 && block.end - memory.end <= vt_machine_page())
        vt_native_enter(n, block, (struct vt_range){block.end, block.end}, &anybody);
}

static bool runs_on(const struct vt_native *n, struct vt_range stack) {
    bool runs = n->w->here.sp - stack.start < stack.end - stack.start;
    for (uint32_t i = 0; i < n->scan->thread_count && !runs; i++)
        runs = n->scan->threads[i].sp - stack.start < stack.end - stack.start;
    return runs;
}

static uintptr_t context_word(const ucontext_t *context, size_t offset) {
    return *(const uintptr_t *)(const void *)((const char *)context + offset);
}

static void add_context(struct vt_native *n, uintptr_t at) {
    ucontext_t c;
    if (!vt_owners_read(n->w, &c, at, VT_CONTEXT_BYTES))
        return;
    const uintptr_t sp = context_word(&c, VT_CONTEXT_SP);
    struct vt_range stack = {(uintptr_t)c.uc_stack.ss_sp,
                             (uintptr_t)c.uc_stack.ss_sp + c.uc_stack.ss_size};
    exclude(n, (struct vt_range){at + offsetof(ucontext_t, uc_stack), at + VT_CONTEXT_BYTES},
            false);
    if (sp - stack.start >= c.uc_stack.ss_size)
        return;
    exclude(n, stack, true);
    if (n->fiber_count < VT_NATIVE_FIBERS && !runs_on(n, stack))
        n->fibers[n->fiber_count++] = (struct vt_registers){.pc = context_word(&c, VT_CONTEXT_PC),
                                                            .sp = sp,
                                                            .fp = context_word(&c, VT_CONTEXT_FP),
                                                            .fp_known = true};
}

static void find_contexts(struct vt_native *n, uintptr_t start, uintptr_t end) {
    static uint64_t words[PART]; /* static: the stack may be small */
    for (uintptr_t at = start, bytes; at + 8 <= end && vt_owners_may_continue(n->w); at += bytes) {
        bytes = end - at < sizeof words ? (end - at) & ~(uintptr_t)7 : sizeof words;
        if (!vt_owners_read(n->w, words, at, bytes))
            continue;
        for (unsigned i = 0; i < bytes / 8; i++)
            if (vt_machine_is_context_mark(words[i], at + 8 * i) &&
                at + 8 * i - start >= VT_CONTEXT_MARK)
                add_context(n, at + 8 * i - VT_CONTEXT_MARK);
    }
}

void vt_native_find_stacks(struct vt_native *n) {
    struct vt_range signals = n->w->signal_stack;
    if (signals.start)
        exclude(n, signals, true);
    for (uint32_t i = 0; i < n->scan->module_count; i++) {
        const struct vt_module_data *m = &n->scan->modules[i];
        if (!m->library)
            find_contexts(n, m->start, m->end);
    }
    vt_scan_sort(n->apart, n->apart_count, sizeof *n->apart);
}
