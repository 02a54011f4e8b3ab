/* SPDX-License-Identifier: MIT */
/*
 * The door of base/: ground to stand on in a process that is not ours.
 *
 * Law: no CUDA, no log, no malloc, no stdio; nothing waits. Uses no other room. One exception, where
 * it is stated: process.h calls init.c through a table.
 *
 * Its parts, each declared in a header of its own:
 *   atomic.h       the memory orders, all of them
 *   sys.h          system calls, and the two functions that map and unmap
 *   mappings.h     which mappings are the library's own
 *   table.h        a lock-free table;  arena.h: numbered items
 *   elf.h          symbols of loaded objects;  libc.h: the C library's functions behind ours
 *   options.h      the VRAMTRACE_* variables, and a line on stderr
 *   process.h      arming, forks, and whether exit() is under way
 *   array_bytes.h  the size of a CUDA array
 */
#ifndef VT_PRELOAD_BASE_H
#define VT_PRELOAD_BASE_H

#include "preload.h"

#include "arena.h"
#include "array_bytes.h"
#include "atomic.h"
#include "elf.h"
#include "libc.h"
#include "mappings.h"
#include "options.h"
#include "process.h"
#include "sys.h"
#include "table.h"

#endif
