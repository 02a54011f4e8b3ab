/* SPDX-License-Identifier: MIT */
/* Inside instrument/: what nvtx.c and nvtx_memory.c share. */
#ifndef VT_PRELOAD_NVTX_H
#define VT_PRELOAD_NVTX_H

#include <stdbool.h>

/* Whether to attach to NVTX: we are preloaded, and VRAMTRACE_NVTX is not 0. */
bool vt_nvtx_wanted(void);
/* A function of the tool that was named in our place before. NULL: none. */
void *vt_nvtx_next(const char *symbol);

#endif
