/* SPDX-License-Identifier: MIT */
/*
 * Public header of instrument/: what programs and frameworks report themselves. Phases and marks (phase.c, for
 * include/vramtrace.h; nvtx.c), blocks of caching allocators (torch.c; nvtx_memory.c), the thread for which an autograd
 * thread works (torch_backward.c), and seccomp filters (seccomp.c).
 *
 * Invariants: a report is passed on to the tool that it was meant for. Only a block of memory opens a log. Uses all
 * modules before it. Programs enter through exported functions; load.c and fork.c use the functions below.
 */
#ifndef VT_PRELOAD_INSTRUMENT_H
#define VT_PRELOAD_INSTRUMENT_H

/* In the constructor: points NVTX at this library. Allocates nothing with malloc. */
void vt_nvtx_load(void);

/* In the constructor, and in a child of fork: finds the C library's syscall, to which ours jumps. */
void vt_seccomp_load(void);
/* At the first use of CUDA: detects a seccomp filter that the program set by a route that we do not intercept. */
void vt_seccomp_arm(void);
void vt_seccomp_ends(void); /* writes a note about a filter that stopped one of our system calls */

/* In a forked child: forget the totals and the calls of backward() in progress. */
void vt_torch_forked(void);
void vt_torch_backward_forked(void);

#endif
