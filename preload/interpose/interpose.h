/* SPDX-License-Identifier: MIT */
/*
 * Public header of interpose/: redirects a program's CUDA calls to our wrappers. The module has the look-ups (lookup.c
 * lists the four ways in which a program finds CUDA), the real functions, and one wrapper per hook of hooks.def.
 *
 * Invariants: the real look-up runs first. A failure is returned unchanged, and a result is replaced only by the
 * wrapper of that very function. Uses all modules before it. Programs enter through the exported symbols.
 *
 *     real.h          the real functions behind our wrappers
 *     wrap.h          the start of every driver wrapper
 *     wrap_runtime.h  the same for runtime wrappers, which only label the driver calls inside
 */
#ifndef VT_PRELOAD_INTERPOSE_H
#define VT_PRELOAD_INTERPOSE_H

#include "real.h"
#include "wrap.h"
#include "wrap_runtime.h"

#endif
