/* SPDX-License-Identifier: MIT */
/*
 * Public header of symbols/: names addresses, stacks and paths to memory as their author would.
 *
 * Invariants: no name is better than a wrong name. Names live as long as the object that returned them. Uses base,
 * logfile and model.
 *
 *     symbolize.h    turns addresses into functions, lines, variables, and properties from their types
 *     stacks.h       a log's stacks as the model shows them
 *     classes.h      the owner of driver memory: a caching allocator, a CUDA library, or the program
 *     owner_names.h  the paths to memory, as an author would write them
 *     roles.h        the purpose of memory, and the classes that authors call memory
 *     all_names.h    every question that a report can ask, for `vramtrace pack`
 *     appends.h      operations that extend an object by replacing it
 */
#ifndef VRAMTRACE_ANALYZER_SYMBOLS_H
#define VRAMTRACE_ANALYZER_SYMBOLS_H

#include "all_names.h"
#include "appends.h"
#include "classes.h"
#include "owner_names.h"
#include "roles.h"
#include "stacks.h"
#include "symbols/symbolize.h"

#endif
