/* SPDX-License-Identifier: MIT */
/*
 * The door of scan/: which live allocations does the process still point to when it ends?
 *
 * Law: it runs once, at the end, on one thread, in mapped memory of its own: no malloc, no lock, no
 * CUDA call. Memory whose use is unknown counts as in use and reached, so an allocation is called
 * lost only when nothing points to it. Uses base/, log/, books/, stack/ and event.c.
 */
#ifndef VT_PRELOAD_SCAN_H
#define VT_PRELOAD_SCAN_H

/* Scans, and writes the result to the log. Once per process, before the END mark. If it cannot run,
 * it writes a note with the reason. The stack below `frame` is dead. */
void vt_scan_run(void *frame);

/* The same, when a runtime is about to destroy its context inside exit. Runs only if pinned or
 * managed memory is live, because its contents would be gone later. */
void vt_scan_before_teardown(void *frame);

#endif
