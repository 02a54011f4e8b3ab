/* SPDX-License-Identifier: MIT */
/*
 * The names of the hooked functions, from their permanent ids: made from hooks.def, the one list.
 */
#ifndef VRAMTRACE_ANALYZER_HOOKS_H
#define VRAMTRACE_ANALYZER_HOOKS_H

#include <stdbool.h>

/* The exported symbol ("cuMemAlloc_v2", "cudaMalloc"); NULL: an id of a newer tracer. Static
 * memory. */
const char *vt_hook_symbol(unsigned id);

/* The name as a program writes it: for the driver's functions the base name, without _v2 and _ptsz.
 * NULL as above. Static memory. */
const char *vt_hook_name(unsigned id);

/* Whether the function is one of the CUDA runtime's (cuda...), not the driver's (cu...). */
bool vt_hook_is_runtime(unsigned id);

#endif
