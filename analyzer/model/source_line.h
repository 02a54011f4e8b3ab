/* SPDX-License-Identifier: MIT */
/*
 * Decides which source line a call site is on, and whether two are on the same one.
 *
 * A stack is on the line of its main frame (vt_stack_main). symbols/ stores the key of that line (VT_LINE_CODE) in
 * vt_stack.line: two stacks of a process with equal keys are on the same line.
 */
#ifndef VRAMTRACE_ANALYZER_SOURCE_LINE_H
#define VRAMTRACE_ANALYZER_SOURCE_LINE_H

#include "model.h"

/* The frame that names a stack: the innermost one of user code, else the innermost Python frame, the running autograd
 * node, PyTorch's operator, or the innermost frame outside the interpreter and the frameworks' allocators. NULL: the
 * stack is empty. */
const struct vt_frame *vt_stack_main_frame(const struct vt_stack *stack);

/* Its index; stack->count: the stack is empty. */
uint32_t vt_stack_main(const struct vt_stack *stack);

/* The index of the nearest caller of frame `at` in user code; stack->count: none. */
uint32_t vt_stack_caller(const struct vt_stack *stack, uint32_t at);

/* The nearest caller of the user frame in another function of user code: it distinguishes calls of an allocation
 * helper. NULL: none, or only a caller that does not help: a script's top level that calls a function of its file, or
 * python -c. */
const struct vt_frame *vt_stack_helper_caller(const struct vt_stack *stack);

/* What makes two lines the same. */
enum vt_line_by {
    /* File and line number; without them, module and offset. All instances of a template are one line, and so are all
     * autograd nodes of one backward(), because one mistake there is one leak. */
    VT_LINE_CODE,
    /* As VT_LINE_CODE, with the function as reports show it: identical rows are merged, and two functions on one line
     * are two rows. */
    VT_LINE_SHOWN,
    /* Function and file name, without folders and line number: folders differ between machines, and an edit above a
     * line changes its number. */
    VT_LINE_NAMED
};

uint64_t vt_frame_line(const struct vt_frame *frame, enum vt_line_by by);

/* The line of the main frame. VT_LINE_SHOWN and VT_LINE_NAMED distinguish autograd nodes. 0: no frames. */
uint64_t vt_stack_line(const struct vt_stack *stack, enum vt_line_by by);

/* The text behind VT_LINE_NAMED: "step (train.py)", "f (libx.so)", "? (unknown)". Free it. */
char *vt_frame_line_name(const struct vt_frame *frame);

/* The line for tracking growth: vt_stack.line. In a notebook, whose cells are edited and run again, all sites with the
 * same line number and block size are one line. */
uint64_t vt_site_growth_line(const struct vt_site *site);

/* In lists, added to the key of the site's line, to distinguish a helper's callers. */
static inline uint64_t vt_site_caller_line(const struct vt_site *site) {
    return site->caller ? vt_frame_line(site->caller, VT_LINE_CODE) : 0;
}

/* Whether both frames are in the same function. False if a function is unknown. */
bool vt_same_function(const struct vt_frame *a, const struct vt_frame *b);

/* Whether the frame is an IPython cell's code outside of functions. */
bool vt_frame_is_cell(const struct vt_frame *frame);

#endif
