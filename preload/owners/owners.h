/* SPDX-License-Identifier: MIT */
/*
 * Public header of owners/: which named path holds each live allocation? The walk over all objects of the
 * process, from its roots, and the answer as records of the log.
 *
 *   walk.c    the graph: breadth first from the roots, by named edges
 *   read.c    reads memory that may not be what it should be
 *   places.c  what was reached, by its address
 *   paths.c   steps of paths, each kept once
 *   hops.c    what stands around the words by which a variable leads to memory
 *   class.c   classes of C++ objects
 *
 * Those who know objects are in rooms of their own (pyobjects/, torch/, native/), which snapshot/ gives
 * to the walk as a table; reader.h is what they use of it.
 *
 * Invariants: it runs in a child process that has a copy of the memory, or in place, within the program. So:
 * no malloc, no lock, no stdio, no CUDA, and nothing of the program is called. An owner is named only
 * if every step of the path to it is certain.
 */
#ifndef VT_PRELOAD_OWNERS_H
#define VT_PRELOAD_OWNERS_H

#include "class.h"
#include "places.h"
#include "reader.h"
#include "walk.h"

#endif
