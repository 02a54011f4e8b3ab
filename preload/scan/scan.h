/* SPDX-License-Identifier: MIT */
/*
 * Public header of scan/: to which live allocations does the process still have a pointer at its end?
 *
 *   scan.c   which allocations to search for, when not to scan, the result
 *   flood.c  follows every pointer from the memory that a program can always reach
 *   hints.c  judges pointers in blocks that CUDA's libraries may own
 *   kernel.c which addresses the kernel stores for the process
 *
 * Invariants: the scan runs on one thread, in memory that it maps itself: no malloc, no lock, no CUDA call. Memory
 * whose use is unknown counts as in use and reached, so an allocation is called lost only when nothing points to it.
 * Uses base/, log/, state/, stack/, event.c and memory/.
 */
#ifndef VT_PRELOAD_SCAN_H
#define VT_PRELOAD_SCAN_H

#include "preload.h"

/* Scans, and writes the result to the log before the END mark, or a note with the reason if it cannot scan. The stack
 * below `frame` is dead. With `ends` it runs once per process; without, each time an interpreter ends. The last result
 * counts. */
void vt_scan_run(void *frame, bool ends);
/* `so`: an embedding program continued after Python ended. Memory that only Python held is then lost. */
void vt_scan_set_continued(bool so);

/* Like vt_scan_run, but called when a runtime is about to destroy its context inside exit. Scans only if pinned or
 * managed memory is live, whose contents will be gone afterwards. */
void vt_scan_before_teardown(void *frame);

struct vt_scan;
/* Marks everything that the data of CUDA's libraries reaches, with all marks except VT_MARK_USER. False: stopped
 * early. */
bool vt_scan_flood_cuda(struct vt_scan *scan);
/* The signals that the program handles, as a mask. Other signals need no care while memory is read: they end the
 * process, or do nothing. */
uint64_t vt_scan_handled_signals(void);

#endif
