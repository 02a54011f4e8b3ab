/* SPDX-License-Identifier: MIT */
/*
 * What runs inside someone else's process. This is the law of the whole folder; each room's own stands
 * at its door, ROOM/ROOM.h.
 *
 * The law:
 *   - The program's result never changes. We return what the driver returned, keep errno, never
 * exit, never abort. When we cannot record, we count (vt_log_drop) and the report says it.
 *   - The record path (event.c and what it calls) takes no lock, calls no malloc, no stdio and no
 * CUDA, and can be entered from any thread at any time: a framework's allocator mutex or Python's
 * GIL may be held. It waits for nobody. Two exceptions, stated where they stand: a stack never seen
 * before (libunwind's cache and the loader's lock, stack.c), and the first look-ups and the log's
 * opening (real.c, log.c).
 *   - Nothing happens before the program first reaches for CUDA: no file, no output, no library
 * opened.
 *   - System calls are made directly (sys.h). File descriptors are the program's: ours is checked
 * before each use.
 *
 * The rooms stand in an order, and each uses only those before it (tools/check-rooms proves it):
 *   base/    ground: tables, symbols, system calls, options
 *   log/     where records go
 *   books/   what the calls so far add up to
 *   stack/   who is calling
 *   event.c  the one door to the log: time, stack, books and record meet here
 *   scan/    what still points to it, at the end
 *   real/    the real functions behind ours
 *   wrap/    one wrapper a hook
 *   route/   how a program is led to our wrappers
 *   listen/  what programs tell us unasked
 *   init.c   a life from load to end; exec.c, which ends it early
 *
 * Reading order: init.c, route/lookup.c, real/real.c, wrap/wrap_device.c (what a wrapper looks like),
 * event.c, log/log.c, books/live.c, stack/stack.c.
 */
#ifndef VT_PRELOAD_PRELOAD_H
#define VT_PRELOAD_PRELOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vramtrace/cuda_abi.h"
#include "vramtrace/log_format.h"
#include "vramtrace/text.h"
#include "vramtrace/version.h"

#define VT_EXPORT      __attribute__((visibility("default")))
#define VT_LIKELY(x)   __builtin_expect(!!(x), 1)
#define VT_UNLIKELY(x) __builtin_expect(!!(x), 0)

/* The permanent ids of hooks.def by name: VT_HOOK_cuMemAlloc_v2, VT_HOOK_cudaMalloc, ... */
enum vt_hook {
    VT_HOOK_NONE = 0,
#define VT_DRIVER(id, symbol, base, since, stream, role, prototype)        VT_HOOK_##symbol = id,
#define VT_RUNTIME(id, symbol, since, until, role, prototype)              VT_HOOK_##symbol = id,
#define VT_RUNTIME_AS(id, symbol, exported, since, until, role, prototype) VT_HOOK_##symbol = id,
#define VT_FRAMEWORK(id, symbol)                                           VT_HOOK_##symbol = id,
#include "vramtrace/hooks.def"
};

#endif
