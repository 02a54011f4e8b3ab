/* SPDX-License-Identifier: MIT */
/* Inside stack/: libunwind kept off the program's descriptors (unwind_guard.c). */
#ifndef VT_PRELOAD_UNWIND_GUARD_H
#define VT_PRELOAD_UNWIND_GUARD_H

/* Makes the unwinder that this address lies in leave the program's descriptors and
 * its threads' cancellation alone. Before its first use. */
void vt_unwind_guard(void *inside);

#endif
