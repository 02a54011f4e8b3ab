/* SPDX-License-Identifier: MIT */
/* Inside stack/: keeps libunwind off the program's descriptors (unwind_guard.c). */
#ifndef VT_PRELOAD_UNWIND_GUARD_H
#define VT_PRELOAD_UNWIND_GUARD_H

/* Keeps the libunwind that contains the address `inside` from using the program's descriptors, and its calls from being
 * cancellation points. Call it before the first unwind. */
void vt_unwind_guard(void *inside);

#endif
