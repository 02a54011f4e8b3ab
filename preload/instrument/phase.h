/* SPDX-License-Identifier: MIT */
/* Inside instrument/: phases and marks from any source (phase.c). */
#ifndef VT_PRELOAD_PHASE_H
#define VT_PRELOAD_PHASE_H

#include <stdint.h>

/* Phases and marks of the program, from vramtrace.h and NVTX (nvtx.c). They never open a log. A phase that is already
 * open when the log opens is written at its thread's next event. `domain` is a number from vt_phases_domain(), or 0 for
 * the default; `name` is copied. */
int vt_phase_push(uint32_t domain, const char *name); /* returns its level, from 0; -1: too deep */
int vt_phase_pop(uint32_t domain); /* returns the level that ended; -1: none was open */
uint64_t vt_phase_start(uint32_t domain, const char *name); /* returns its range number */
void vt_phase_end(uint64_t range);                          /* ignores an unknown number */
void vt_phase_mark(uint32_t domain, const char *name);

#endif
