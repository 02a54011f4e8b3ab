/* SPDX-License-Identifier: MIT */
/*
 * Public header of base/: basic tools that are safe inside a process that is not ours.
 *
 * Invariants: no CUDA, no log, no malloc, no stdio; nothing waits. It uses no other module, with one exception:
 * process.h calls load.c's steps through a table.
 *
 * Each part has a header of its own:
 *   atomic.h       all memory orders
 *   sys.h          system calls, and the two functions that map and unmap memory
 *   mappings.h     the list of the library's own mappings
 *   table.h        a lock-free table
 *   arena.h        numbered items
 *   numbering.h    numbers for items that are written to the log once
 *   elf.h          symbols of loaded objects
 *   known_library.h  the loaded modules that are known libraries
 *   libc.h         the C library's functions behind those that we export, bypassing sanitizers
 *   locks.h        locks that may stay locked for ever in a forked child
 *   string.c       our own versions of the functions of <string.h>
 *   settings.h     the VRAMTRACE_* variables
 *   descriptors.h  opens files, above descriptor 2
 *   message.h      lines on stderr
 *   process.h      arming, forks, and whether exit() is running
 *   array_bytes.h  the size of a CUDA array
 */
#ifndef VT_PRELOAD_BASE_H
#define VT_PRELOAD_BASE_H

#include "preload.h"
#include "machine/machine.h"

#include "arena.h"
#include "array_bytes.h"
#include "atomic.h"
#include "descriptors.h"
#include "elf.h"
#include "libc.h"
#include "known_library.h"
#include "locks.h"
#include "mappings.h"
#include "numbering.h"
#include "settings.h"
#include "process.h"
#include "message.h"
#include "sys.h"
#include "table.h"

#endif
