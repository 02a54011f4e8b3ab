/* SPDX-License-Identifier: MIT */
/*
 * Public header of interpose/: how a program's calls reach us: look-ups (lookup.c lists the four ways in which a program
 * finds CUDA), the real functions, and one wrapper per hook of hooks.def.
 *
 * Invariants: the real look-up runs first. A failure is passed on unchanged, and a result is replaced only by the wrapper
 * of that very function. Uses all modules before it. The program enters it through exported symbols.
 *
 *     real.h          the real functions behind our wrappers
 *     wrap.h          the start of every driver wrapper
 *     wrap_runtime.h  the same for runtime functions, which only label
 */
#ifndef VT_PRELOAD_INTERPOSE_H
#define VT_PRELOAD_INTERPOSE_H

#include "real.h"
#include "wrap.h"
#include "wrap_runtime.h"

#endif
