/* SPDX-License-Identifier: MIT */
/*
 * The door of names/: addresses -> names, and who allocates under them.
 *
 * Law: a name that is not certain is not given: a file that changed since the run has none. Names
 * live as long as what they were asked of. Uses base, log and model.
 *
 *     symbolize.h    an address in a module -> functions, files, lines
 *     stacks.h       a log's stacks as the model shows them
 *     classes.h      caches of frameworks, memory of CUDA libraries, memory of the program
 */
#ifndef VRAMTRACE_ANALYZER_NAMES_H
#define VRAMTRACE_ANALYZER_NAMES_H

#include "classes.h"
#include "stacks.h"
#include "symbolize.h"

#endif
