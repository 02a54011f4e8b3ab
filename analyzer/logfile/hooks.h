/* SPDX-License-Identifier: MIT */
/*
 * The names of the hooked functions by their permanent ids, generated from hooks.def.
 */
#ifndef VRAMTRACE_ANALYZER_HOOKS_H
#define VRAMTRACE_ANALYZER_HOOKS_H

#include <stdbool.h>

/* The exported symbol ("cuMemAlloc_v2", "cudaMalloc"), a constant; NULL: unknown id, from a newer tracer. */
const char *vt_hook_symbol(unsigned id);

/* The name as a program writes it: a driver function without _v2 and _ptsz. Otherwise as above. */
const char *vt_hook_name(unsigned id);

/* Whether the function belongs to the CUDA runtime (cuda...), not to the driver (cu...). */
bool vt_hook_is_runtime(unsigned id);

#endif
