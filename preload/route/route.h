/* SPDX-License-Identifier: MIT */
/*
 * The door of route/: the four ways in which a program finds CUDA, and which wrapper it gets.
 *
 * Law: the real look-up runs first. A failure is passed on unchanged, and a result is replaced only
 * by the wrapper of that very function. Uses all rooms before it. No room uses it: the program
 * enters it through exported symbols (lookup.c lists the ways).
 */
#ifndef VT_PRELOAD_ROUTE_H
#define VT_PRELOAD_ROUTE_H

#endif
