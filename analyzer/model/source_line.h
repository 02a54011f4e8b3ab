/* SPDX-License-Identifier: MIT */
/*
 * Which source line a call site is on, and whether two are on the same one: decided here alone.
 *
 * A stack is on the line of its main frame (vt_stack_main). symbols/ stores the key VT_LINE_CODE in
 * vt_stack.line, so two stacks of a process are on one line if these are equal.
 */
#ifndef VRAMTRACE_ANALYZER_SOURCE_LINE_H
#define VRAMTRACE_ANALYZER_SOURCE_LINE_H

#include "model.h"

/* The frame that names a stack: the innermost one of user code; without any, the innermost Python frame, else
 * the autograd node that runs, else PyTorch's operator, else the innermost frame outside the interpreter and
 * the frameworks' allocators. NULL: the stack is empty. */
const struct vt_frame *vt_stack_main_frame(const struct vt_stack *stack);

/* Its index; stack->count: the stack is empty. */
uint32_t vt_stack_main(const struct vt_stack *stack);

/* The index of the nearest caller of frame `at` in user code; stack->count: none. */
uint32_t vt_stack_caller(const struct vt_stack *stack, uint32_t at);

/* The nearest caller of the user frame in user code in another function: it tells calls of an allocation helper
 * apart. NULL: none, or one that adds nothing: a script's own line above a function of the same file, or the
 * line of python -c. */
const struct vt_frame *vt_stack_helper_caller(const struct vt_stack *stack);

/* How much two lines must have in common to be the same. */
enum vt_line_by {
    /* File and number; without them, module and offset. All instances of a template and all autograd nodes
     * of one backward() are one line: one mistake there is one leak. */
    VT_LINE_CODE,
    /* The same, with the function as a report writes it: two lines that look alike are one row, and two
     * functions on one line are two. */
    VT_LINE_SHOWN,
    /* Function and file name, without folders and without the number: between builds, runs and machines an
     * edit above a line moves its number. */
    VT_LINE_NAMED
};

uint64_t vt_frame_line(const struct vt_frame *frame, enum vt_line_by by);

/* Of the main frame. VT_LINE_SHOWN and VT_LINE_NAMED tell autograd nodes apart. 0: no frames. */
uint64_t vt_stack_line(const struct vt_stack *stack, enum vt_line_by by);

/* The text behind VT_LINE_NAMED: "step (train.py)", "f (libx.so)", "? (unknown)". Free it. */
char *vt_frame_line_name(const struct vt_frame *frame);

/* The line by which growth is followed: vt_stack.line, but a notebook is one place, since its cells are
 * edited and run again: all that allocate blocks of one size on their line of this number. */
uint64_t vt_site_growth_line(const struct vt_site *site);

/* To be added to the key of its line where reports list lines: tells a helper's callers apart. */
static inline uint64_t vt_site_caller_line(const struct vt_site *site) {
    return site->caller ? vt_frame_line(site->caller, VT_LINE_CODE) : 0;
}

/* Whether both are in the same function. Unknown ones never are. */
bool vt_same_function(const struct vt_frame *a, const struct vt_frame *b);

/* Whether it is an IPython cell's code outside of functions. */
bool vt_frame_is_cell(const struct vt_frame *frame);

#endif
