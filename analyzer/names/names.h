/* SPDX-License-Identifier: MIT */
/*
 * The door of names/: addresses -> functions, files and lines; stacks -> who allocates.
 *
 * Law: no name is better than a wrong one: a file that changed since the run gives none. Names live
 * as long as the object that returned them. Uses base, log and model.
 *
 *     symbolize.h    an address in a module -> functions, files and lines
 *     stacks.h       a log's stacks as the model shows them
 *     classes.h      who owns driver memory: a caching allocator, a CUDA library, or the program
 *     owner_names.h  the ways by which memory is held, as an author would write them
 *     native_root.h  variables and frames by their addresses
 *     roles.h        what memory is for, and which objects are memory
 *     appends.h      which operations append to what they replace
 */
#ifndef VRAMTRACE_ANALYZER_NAMES_H
#define VRAMTRACE_ANALYZER_NAMES_H

#include "appends.h"
#include "classes.h"
#include "native_root.h"
#include "owner_names.h"
#include "roles.h"
#include "stacks.h"
#include "symbolize.h"

#endif
