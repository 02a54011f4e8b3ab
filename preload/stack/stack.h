/* SPDX-License-Identifier: MIT */
/*
 * The door of stack/: who is calling. Native and Python frames, merged, each different stack numbered
 * and written to the log once; and the modules that its addresses lie in.
 *
 * Law: a stack that was seen before takes no lock. A new one takes libunwind's cache lock and the
 * loader's lock (stack.c says why). Python's frames are read in place, without the GIL. Uses base/
 * and log/.
 *
 * Parts: python.h, the Python half (used by the exit scan for the interpreter's state).
 */
#ifndef VT_PRELOAD_STACK_H
#define VT_PRELOAD_STACK_H

#include "log/log.h"
#include "python.h"

/* Opens the unwinder. Once, at arming. */
void vt_stack_arm(void);
/* The number of the calling thread's stack from `caller` outwards; written to the log when new. 0:
 * unknown. */
uint32_t vt_stack_capture(struct vt_thread *thread, void *caller);
/* Raw return addresses of the calling thread, innermost first. */
size_t vt_stack_raw(void **frames, size_t max);
void vt_stack_modules_changed(void);

void vt_stack_forked(void);

#endif
