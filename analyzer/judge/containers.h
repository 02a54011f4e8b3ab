/* SPDX-License-Identifier: MIT */
/*
 * In which function a Python program makes its rounds, by its source. growth_append.c asks.
 */
#ifndef VRAMTRACE_ANALYZER_CONTAINERS_H
#define VRAMTRACE_ANALYZER_CONTAINERS_H

#include "pysource.h"

/* Whether a program's outermost function calls what a stack allocates in a loop, and nothing else on
 * the stack does, so that what is kept from round to round is kept in that function. False where the
 * source leaves doubt. */
bool vt_containers_main_loops(struct vt_pyfiles *files, const struct vt_stack *stack);

#endif
