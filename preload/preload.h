/* SPDX-License-Identifier: MIT */
/*
 * Invariants of the whole library, which runs inside someone else's process. Each module's own invariants are in its
 * public header, MODULE/MODULE.h.
 *
 *   - The program's result never changes. We return what the driver returned, keep errno, and neither exit nor abort.
 *     An event that we cannot record is counted (vt_log_drop), and the report shows the count.
 *   - The record path (event.c and the functions that it calls) takes no lock, calls neither malloc nor stdio nor CUDA,
 *     and may be entered from any thread at any time: the caller may hold a framework's allocator mutex or Python's
 *     GIL. It never waits. (For VRAMTRACE_ASK, we call the driver after the record is closed: interpose/ask_driver.c.)
 *     Two exceptions, explained in the code: a new stack (libunwind's cache and the loader's lock, stack.c), and the
 *     first look-ups and the opening of the log (real.c, log.c).
 *   - Nothing happens before the program first uses CUDA: no file, no output, no library opened.
 *   - System calls are made directly (sys.h). The program may close any file descriptor, so ours is checked before
 *     each use.
 *
 * The modules have an order; each uses only those before it (tools/check-modules proves it):
 *   machine/ the differences between architectures
 *   base/    basic tools: tables, symbols, system calls, options
 *   memory/  the process's memory: its mappings and blocks, and how to read it while it changes
 *   log/     writes the records
 *   state/   the state that follows from the calls so far
 *   stack/   the caller's native and Python frames
 *   event.c  the only writer of memory events: joins time, stack, state and record
 *   scan/    looks for pointers to live memory when the process ends
 *   owners/, pyobjects/, torch/, native/   find the named paths that hold memory: the walk over the process's objects,
 *            and the readers of Python's objects, of PyTorch's, and of plain memory
 *   snapshot/  decides when, in which process and within which limits owners are searched
 *   interpose/   receives the program's calls: look-ups, the real functions, one wrapper per hook
 *   instrument/  receives reports from programs and frameworks
 *   load.c, fork.c, exec.c, exit.c   a process's life, from load to end
 *
 * Reading order: load.c, exit.c, interpose/lookup.c, interpose/real.c, interpose/wrap_device.c (a typical wrapper),
 * event.c, log/log_chunks.c, state/live.c, stack/stack.c.
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

#define VT_EXPORT       __attribute__((visibility("default")))
#define VT_LIKELY(x)    __builtin_expect(!!(x), 1)
#define VT_UNLIKELY(x)  __builtin_expect(!!(x), 0)
/* Code that runs at each event lies together, apart from rarely used code, because between events the program evicts it
 * from the processor's caches. */
#define VT_HOT          __attribute__((hot))
#define VT_COLD         __attribute__((cold, noinline))
/* In the hot section, but without the attribute `hot`, which would make the code longer. */
#define VT_HOT_AS_IT_IS __attribute__((section(".text.hot")))

/* The permanent ids of hooks.def, by name: VT_HOOK_cuMemAlloc_v2, VT_HOOK_cudaMalloc, ... */
enum vt_hook {
    VT_HOOK_NONE = 0,
#define VT_DRIVER(id, symbol, base, since, stream, role, prototype) VT_HOOK_##symbol = id,
#define VT_RUNTIME(id, symbol, since, until, role, prototype)       VT_HOOK_##symbol = id,
#define VT_FRAMEWORK(id, symbol)                                    VT_HOOK_##symbol = id,
#include "vramtrace/hooks.def"
};

#endif
