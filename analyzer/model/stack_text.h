/* SPDX-License-Identifier: MIT */
/*
 * A call site as text, for people: its main frame, and in a PyTorch backward pass the running node of the graph.
 */
#ifndef VRAMTRACE_ANALYZER_STACK_TEXT_H
#define VRAMTRACE_ANALYZER_STACK_TEXT_H

#include "model.h"

/* The autograd node that runs inside the stack's main frame: "AddmmBackward0", or the class of a node written in
 * Python. NULL: none. Free it. */
char *vt_stack_text_node(const struct vt_stack *stack);

/* "train.py:41 in step", or "in backward of AddmmBackward0, from `loss.backward()` at train.py:24"; without the source
 * line if the caller shows it separately (`source` false), or if it is missing or does not fit. At most `width`
 * columns. `stack` NULL: "unknown (no stack)". Free it. */
char *vt_stack_text(const struct vt_process *process, const struct vt_stack *stack, unsigned width,
                    bool source);

/* A row of a list of lines, made from one site of the line: like vt_stack_text, but with a helper's caller: "alloc.py:3
 * in alloc, called by train.py:41 in step". Free it. */
char *vt_site_text(const struct vt_process *process, const struct vt_site *site, unsigned width);

#endif
