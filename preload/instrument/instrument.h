/* SPDX-License-Identifier: MIT */
/*
 * Public header of instrument/: records phases and marks (phase.c, for include/vramtrace.h; nvtx.c) and blocks of
 * caching allocators (torch.c; nvtx_memory.c), which programs and frameworks report themselves. Also finds the thread
 * for which an autograd thread works (torch_backward.c), and detects seccomp filters (seccomp.c).
 *
 * Invariants: a report is passed on to the tool for which it was meant. Only a report of a memory block opens a log.
 * Uses all modules before it. Programs enter through exported functions; load.c and fork.c use the functions below.
 */
#ifndef VT_PRELOAD_INSTRUMENT_H
#define VT_PRELOAD_INSTRUMENT_H

/* Call in the constructor: points NVTX at this library. Calls no malloc. */
void vt_nvtx_load(void);

/* Call in the constructor and in a child of fork: finds the C library's syscall, to which ours jumps. */
void vt_seccomp_load(void);
/* Call at the first use of CUDA: detects a seccomp filter that the program set in a way that we do not intercept. */
void vt_seccomp_arm(void);
void vt_seccomp_ends(void); /* writes a note about a filter that stopped one of our system calls */

/* Call in a forked child: they forget the totals, and the calls of backward() in progress. */
void vt_torch_forked(void);
void vt_torch_backward_forked(void);

#endif
