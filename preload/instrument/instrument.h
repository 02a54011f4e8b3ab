/* SPDX-License-Identifier: MIT */
/*
 * Public header of instrument/: what programs report themselves. Phases and marks (phase.c, for
 * include/vramtrace.h; nvtx.c), blocks of caching allocators (torch.c; nvtx_memory.c), and which
 * thread another one works for (torch_backward.c).
 *
 * Invariants: a report is passed on to the tool that it was meant for. Only a block of memory opens a log.
 * Uses all modules before it. The program enters it; load.c and fork.c use the functions below.
 */
#ifndef VT_PRELOAD_INSTRUMENT_H
#define VT_PRELOAD_INSTRUMENT_H

/* In the constructor: makes NVTX find us. No allocation. */
void vt_nvtx_load(void);

/* In the constructor, and in a child of fork: finds the C library's syscall, which is then jumped to. */
void vt_seccomp_load(void);
/* At the first use of CUDA: notices a seccomp filter that the program may have set unseen. */
void vt_seccomp_arm(void);
void vt_seccomp_ends(void); /* writes what is to be said of a filter that was found */

/* In a forked child: forget the totals, and who waits in backward(). */
void vt_torch_forked(void);
void vt_torch_backward_forked(void);

#endif
