/* SPDX-License-Identifier: MIT */
/*
 * The door of scan/: which of the live allocations does the process still know of when it ends?
 *
 * Law: all of it runs once, at the end, on one thread, in mapped memory of its own: no malloc, no
 * lock, no CUDA call. Whatever cannot be made out counts as memory that is in use and reached, so
 * that an allocation is called lost only where nothing speaks against it. Uses base/, log/, books/,
 * stack/ and event.c.
 */
#ifndef VT_PRELOAD_SCAN_H
#define VT_PRELOAD_SCAN_H

/* Looks, and writes what it found to the log. Once a process, before the END mark; anything that
 * stands in the way is a note in the log. `frame`: the stack below it is dead. */
void vt_scan_run(void *frame);

/* The same, when a runtime is about to tear its context down from within exit: only where pinned or
 * managed memory is live, whose words would be gone later. */
void vt_scan_before_teardown(void *frame);

#endif
