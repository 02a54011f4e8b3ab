/* SPDX-License-Identifier: MIT */
/*
 * Public header of content/: the sentences of a process: what shows a conclusion of analysis/, and what to do about it.
 *
 *   why.c       what shows each verdict         evidence.c       their order, and notes
 *   advice.c    what to do about a leak         owner_advice.c   ... by what keeps it
 *   oom.c       why memory ran out, and what to do
 *
 * Invariants: it reads the model, and nothing else of a log: whatever is said can be looked up there. Uses base, model,
 * and what symbols/ and replay/ know of classes and of PyTorch's settings.
 */
#ifndef VRAMTRACE_ANALYZER_CONTENT_H
#define VRAMTRACE_ANALYZER_CONTENT_H

#include "model/model.h"

/* Fills what is said of sites, leaks and ooms, and adds notes. All else of the process must be there. */
void vt_content_write(struct vt_process *process);

#endif
