/* SPDX-License-Identifier: MIT */
/*
 * A call site as text: its main frame, and for what PyTorch allocates in a backward pass the node
 * of the graph that runs. For the formats that people read.
 */
#ifndef VRAMTRACE_ANALYZER_STACK_TEXT_H
#define VRAMTRACE_ANALYZER_STACK_TEXT_H

#include "model.h"

/* The autograd node inside of the stack's main frame: "AddmmBackward0", or the class for one that
 * is written in Python. NULL: none. Free it. */
char *vt_stack_text_node(const struct vt_stack *stack);

/* "train.py:41 in step", or "in backward of AddmmBackward0, from `loss.backward()` at train.py:24";
 * without the source where the caller shows it (`source` false), it is not there, or there is no
 * room. At most `width` columns. `stack` NULL: "unknown (no stack)". Free it. */
char *vt_stack_text(const struct vt_process *process, const struct vt_stack *stack, unsigned width,
                    bool source);

/* A row of a list of lines, by one of its sites: as vt_stack_text, and of a helper its caller:
 * "alloc.py:3 in alloc, called by train.py:41 in step". Free it. */
char *vt_site_text(const struct vt_process *process, const struct vt_site *site, unsigned width);

#endif
