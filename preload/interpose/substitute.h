/* SPDX-License-Identifier: MIT */
/* Inside interpose/: the wrapper for a function that was found (substitute.c). */
#ifndef VT_PRELOAD_SUBSTITUTE_H
#define VT_PRELOAD_SUBSTITUTE_H

/* Returns the wrapper for `found`, the result of looking up `name`; `found` itself if there is no wrapper. */
void *vt_substitute(void *found, const char *name);

/* The same for a result of cuGetProcAddress(base, version, flags). */
void *vt_substitute_driver(void *found, const char *base, int version, unsigned long long flags);

#endif
