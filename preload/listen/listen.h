/* SPDX-License-Identifier: MIT */
/*
 * The door of listen/: what programs tell us without being asked. Phases and marks (phase.c, for
 * include/vramtrace.h; nvtx.c), blocks of caching allocators (torch.c; nvtx_memory.c).
 *
 * Law: what the program says reaches whoever else it was for. Nothing here opens a log but a block
 * of memory. Uses all rooms before it. Entered by the program; init.c uses the two functions below.
 */
#ifndef VT_PRELOAD_LISTEN_H
#define VT_PRELOAD_LISTEN_H

/* In the constructor: sees to it that NVTX finds us. No allocation. */
void vt_nvtx_load(void);

void vt_torch_forked(void);

#endif
