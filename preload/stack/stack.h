/* SPDX-License-Identifier: MIT */
/*
 * Public header of stack/: the caller's native and Python frames, merged. Each distinct stack gets a number and is
 * written to the log once, with the modules that its addresses lie in.
 *
 * Invariants: a known stack takes no lock. A new stack takes libunwind's cache lock and the loader's lock (explained in
 * stack.c). Python frames are read in place, without the GIL. Uses base/ and log/.
 *
 * Parts: python.h, the Python half (the exit scan reads the interpreter's state from it); unwind_table.h, which finds a
 * function's caller (native/ reads other threads' stacks).
 */
#ifndef VT_PRELOAD_STACK_H
#define VT_PRELOAD_STACK_H

#include "log/log.h"
#include "python.h"
#include "python_layout.h"
#include "unwind_table.h"

/* Opens the unwinder. Called once, at arming. */
void vt_stack_arm(void);
/* The number of the calling thread's stack from `caller` outwards. The stack continues with that of the thread that
 * waits for this one (vt_tls.caller_stack). Writes the stack to the log if it is new. 0: unknown. */
uint32_t vt_stack_capture(struct vt_thread *thread, const struct vt_caller *caller);
/* Whether the program made a stack's innermost call, or a library that keeps memory by design. */
enum vt_allocator vt_stack_allocator(uint32_t number);
/* Whether the calling code runs inside exit(). */
bool vt_stack_in_exit(const struct vt_caller *caller);
/* Stores the calling thread's return addresses, innermost first. Returns their number. */
size_t vt_stack_raw(void **frames, size_t max);
/* Writes new modules to the log, for addresses that are in no stack. */
void vt_stack_write_modules(struct vt_thread *thread);
void vt_stack_modules_changed(void); /* after a dlclose: old addresses may belong to new code */
void vt_stack_forked(void);

#endif
