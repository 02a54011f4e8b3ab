/* SPDX-License-Identifier: MIT */
/*
 * A log's stacks as the model shows them: without the tracer's frames, with names, and with the
 * user frame. For build.c.
 */
#ifndef VRAMTRACE_ANALYZER_STACKS_H
#define VRAMTRACE_ANALYZER_STACKS_H

#include "symbols/symbolize.h"

struct vt_stacks;

/* Never NULL; the arguments must outlive it. Free with vt_stacks_close. */
struct vt_stacks *vt_stacks_open(const struct vt_log *log, struct vt_symbols *symbols,
                                 const char *const *user_code);

/* The stack with index `stack` in the log (VT_NO_STACK: an empty one), for a call to the CUDA
 * runtime or to the driver. Never NULL; lives until vt_stacks_close. */
const struct vt_stack *vt_stacks_get(struct vt_stacks *stacks, uint32_t stack, bool runtime);

/* Fills the process's modules from the stacks made so far. Adds a note for each module whose file is missing or
 * changed since the run. */
void vt_stacks_add_modules(const struct vt_stacks *stacks, struct vt_process *process);

void vt_stacks_close(struct vt_stacks *stacks);

#endif
