/* SPDX-License-Identifier: MIT */
/*
 * Finds a function's caller by the unwind tables that compilers write (.eh_frame_hdr and .eh_frame; System V x86-64
 * ABI 3.7, DWARF for AArch64, DWARF 5 6.4, Linux Standard Base 10.6). For unwind_walk.c, and for native/unwind.c,
 * which reads other threads' stacks.
 */
#ifndef VT_PRELOAD_UNWIND_TABLE_H
#define VT_PRELOAD_UNWIND_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum vt_unwind_kind {
    VT_UNWIND_UNKNOWN, /* an unsupported expression or table */
    VT_UNWIND_NONE,    /* no entry for the address */
    VT_UNWIND_SIGNAL,  /* code that a signal handler returns to: all registers are on the stack */
    VT_UNWIND_END,     /* the outermost function: it has no caller */
    VT_UNWIND_BY_WORD, /* CFA = word at frame pointer + cfa_offset: a realigned frame */
    VT_UNWIND_BY_SP,   /* CFA = stack pointer + cfa_offset */
    VT_UNWIND_BY_FP    /* CFA = frame pointer + cfa_offset */
};

/* The caller's stack pointer is the CFA. */
struct vt_unwind_rule {
    enum vt_unwind_kind kind;
    bool fp_saved;      /* the caller's frame pointer is at CFA + fp_offset (BY_WORD: at the frame
                       pointer + fp_offset); else it is unchanged */
    int64_t cfa_offset; /* bytes */
    int64_t fp_offset;
    int64_t ra_offset; /* its return address is at CFA + ra_offset; 0: in the link register */
};

/* Copies `bytes` bytes from an address in the tables. False: not readable. */
typedef bool vt_unwind_read(void *data, void *to, uintptr_t from, size_t bytes);

/* The rule at `pc`, from the module's table; `table` is the address of .eh_frame_hdr. `pc` must be inside the function:
 * for a return address, pass one less. Pure except for `read`; the time grows with the logarithm of the number of
 * functions. */
struct vt_unwind_rule vt_unwind_rule_at(vt_unwind_read *read, void *data, uintptr_t table,
                                        uintptr_t pc);

#endif
