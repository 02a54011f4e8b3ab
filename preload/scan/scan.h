/* SPDX-License-Identifier: MIT */
/*
 * Public header of scan/: which live allocations does the process still point to when it ends?
 *
 *   scan.c   what to look for, when not to scan, what to write
 *   flood.c  follows every pointer from what a program can always reach
 *   hints.c  which pointers count in blocks that CUDA's libraries may own
 *   kernel.c which addresses the kernel holds for the process
 *
 * Invariants: it runs on one thread, in mapped memory of its own: no malloc, no lock, no CUDA call. Memory
 * whose use is unknown counts as in use and reached, so an allocation is called lost only when
 * nothing points to it. Uses base/, log/, state/, stack/, event.c and memory/.
 */
#ifndef VT_PRELOAD_SCAN_H
#define VT_PRELOAD_SCAN_H

#include "preload.h"

/* Scans, and writes the result to the log, before the END mark. If it cannot run, it writes a note with the reason. The
 * stack below `frame` is dead. Once per process with `ends`; before that whenever the interpreter ends: the last result
 * counts. */
void vt_scan_run(void *frame, bool ends);
/* Whether an embedding program has gone on since Python ended. Then what Python held is lost, if the program has no pointer. */
void vt_scan_went_on(bool so);

/* The same, when a runtime is about to destroy its context inside exit. Runs only if pinned or
 * managed memory is live, because its contents would be gone later. */
void vt_scan_before_teardown(void *frame);

struct vt_scan;
/* What CUDA's libraries reach: sets all marks but VT_MARK_USER. */
bool vt_scan_flood_books(struct vt_scan *scan);
/* Signals that the program handles, as a mask. Every other one may arrive while its memory is read: it
 * ends the process, as it must, or does nothing. */
uint64_t vt_scan_handled_signals(void);

#endif
