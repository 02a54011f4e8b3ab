/* SPDX-License-Identifier: MIT */
/*
 * A log's stacks as the model shows them: our own frames skipped, names found, own frame chosen.
 * For build.c.
 */
#ifndef VRAMTRACE_ANALYZER_STACKS_H
#define VRAMTRACE_ANALYZER_STACKS_H

#include "log/log.h"
#include "model/model.h"
#include "symbolize.h"

struct vt_stacks;

/* All that is named must outlive it; so must it the model that uses its stacks. Never NULL. */
struct vt_stacks *vt_stacks_open(const struct vt_log *log, struct vt_symbols *symbols,
                                 const char *const *user_code);

/* The stack with index `stack` in the log (VT_NO_STACK: an empty one), as a call of the CUDA
 * runtime or of the driver. */
const struct vt_stack *vt_stacks_get(struct vt_stacks *stacks, uint32_t stack, bool runtime);

/* Adds a sentence to the process's notes for each module whose file changed since. */
void vt_stacks_notes(const struct vt_stacks *stacks, struct vt_process *process);

void vt_stacks_close(struct vt_stacks *stacks);

#endif
