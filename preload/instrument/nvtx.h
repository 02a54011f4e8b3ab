/* SPDX-License-Identifier: MIT */
/* Inside instrument/: functions shared by nvtx.c and nvtx_memory.c. */
#ifndef VT_PRELOAD_NVTX_H
#define VT_PRELOAD_NVTX_H

#include <stdbool.h>

/* Whether to attach to NVTX: this library is preloaded, and VRAMTRACE_NVTX is not 0. */
bool vt_nvtx_wanted(void);
/* A function of the tool that NVTX_INJECTION64_PATH named before us; NULL: none. */
void *vt_nvtx_next(const char *symbol);

#endif
