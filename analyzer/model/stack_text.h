/* SPDX-License-Identifier: MIT */
/*
 * A call site as text: its main frame, and in a PyTorch backward pass the running node of the graph. For the formats
 * that people read.
 */
#ifndef VRAMTRACE_ANALYZER_STACK_TEXT_H
#define VRAMTRACE_ANALYZER_STACK_TEXT_H

#include "model.h"

/* The autograd node inside the stack's main frame: "AddmmBackward0", or the class of one written in Python. NULL: none.
 * Free it. */
char *vt_stack_text_node(const struct vt_stack *stack);

/* "train.py:41 in step", or "in backward of AddmmBackward0, from `loss.backward()` at train.py:24"; without the source
 * if the caller shows it (`source` false), it is missing, or it does not fit. At most `width` columns. `stack` NULL:
 * "unknown (no stack)". Free it. */
char *vt_stack_text(const struct vt_process *process, const struct vt_stack *stack, unsigned width,
                    bool source);

/* A row of a list of lines, from one of its sites: like vt_stack_text, with a helper's caller: "alloc.py:3 in alloc,
 * called by train.py:41 in step". Free it. */
char *vt_site_text(const struct vt_process *process, const struct vt_site *site, unsigned width);

#endif
