/* SPDX-License-Identifier: MIT */
/*
 * The door of route/: the four ways by which a program finds CUDA, and which wrapper it is given.
 *
 * Law: the real look-up runs first; what it refused is passed on untouched, and what it found is
 * replaced only by the wrapper of that very function. Uses all rooms before it. No room uses it: it
 * is entered by the program, through exported symbols (lookup.c lists the ways).
 */
#ifndef VT_PRELOAD_ROUTE_H
#define VT_PRELOAD_ROUTE_H

#endif
