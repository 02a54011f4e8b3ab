/* SPDX-License-Identifier: MIT */
/* Between the files of route/: the wrapper for a function that was found (substitute.c). */
#ifndef VT_PRELOAD_SUBSTITUTE_H
#define VT_PRELOAD_SUBSTITUTE_H

/* The wrapper that stands for what a look-up found, or `found` itself. `name` is what was asked
 * for. */
void *vt_substitute(void *found, const char *name);

/* The same for an answer of cuGetProcAddress(base, version, flags). */
void *vt_substitute_driver(void *found, const char *base, int version, unsigned long long flags);

#endif
