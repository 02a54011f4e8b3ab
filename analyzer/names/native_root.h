/* SPDX-License-Identifier: MIT */
/*
 * What a way of memory begins with in C or C++: a variable or a function's frame. For owner_names.c.
 */
#ifndef VRAMTRACE_ANALYZER_NATIVE_ROOT_H
#define VRAMTRACE_ANALYZER_NATIVE_ROOT_H

#include "log/log.h"
#include "model/owner.h"
#include "symbolize.h"

/* Fills in what is known of a step's root (enum vt_step: GLOBAL, THREAD_LOCAL, NATIVE_STACK), which is
 * of the module around another address. The texts
 * live as long as the log and the symbolizer. */
void vt_native_root_fill(const struct vt_log *log, struct vt_symbols *symbols, unsigned kind,
                         uint64_t address, uint64_t inside_module, struct vt_root *root);

/* Finds the variable in which a step's way begins, and its address in the process. False: it begins in
 * none that is known. */
bool vt_native_root_variable(const struct vt_log *log, struct vt_symbols *symbols,
                             const struct vt_log_step *step, uint64_t *address,
                             struct vt_variable_symbol *variable);

/* Whether what a step's variable has is left over from what it held before (left_over.h). */
bool vt_native_root_is_left_over(const struct vt_log *log, struct vt_symbols *symbols,
                                 const struct vt_log_step *step);

#endif
