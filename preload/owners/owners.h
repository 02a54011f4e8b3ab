/* SPDX-License-Identifier: MIT */
/*
 * Public header of owners/: which named path holds each live allocation? The walk over all objects of the process,
 * from its roots, and the answer as records of the log.
 *
 *   walk.c           the graph: breadth first from the roots, by named edges
 *   read.c           reads memory whose contents may be wrong
 *   address_table.c  the objects that were reached, by address
 *   paths.c          the steps of paths, each stored once
 *   references.c     the bytes around the words on a path from a variable
 *   class.c          classes of C++ objects
 *
 * The readers of objects are in modules of their own (pyobjects/, torch/, native/), which include reader.h. snapshot/
 * passes their functions to the walk as a table, and itself uses nodes.h.
 *
 * Invariants: the walk runs in a child process that has a copy of the memory, or in the program itself. So it uses only
 * system calls and memory of its own: malloc, locks, stdio, CUDA and the program's code are off limits. An owner is
 * named only if every step of the path to it is certain.
 */
#ifndef VT_PRELOAD_OWNERS_H
#define VT_PRELOAD_OWNERS_H

#include "class.h"
#include "address_table.h"
#include "reader.h"
#include "nodes.h"

#endif
