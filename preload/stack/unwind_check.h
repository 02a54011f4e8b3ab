/* SPDX-License-Identifier: MIT */
/*
 * A check for builds with -DVT_CHECK_WALKS (tests/cases/412-walks): libunwind unwinds each stack, too.
 * Included by stack.c alone.
 */
#ifndef VT_PRELOAD_UNWIND_CHECK_H
#define VT_PRELOAD_UNWIND_CHECK_H

#include "unwind_walk.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void vt_check_say(const char *what, const uintptr_t *address, size_t n) {
    char text[64];
    for (size_t i = 0; i < n; i++) {
        int bytes = snprintf(text, sizeof text, "%s %zu: %#lx\n", what, i, address[i]);
        if (write(2, text, (size_t)bytes) != bytes)
            return;
    }
}

/* Ends the process if libunwind's frames (`n`, of at most `most`) are others, from `caller` outwards. */
static void vt_check_walk(const struct vt_walk *w, const uintptr_t *address, size_t n, size_t most,
                          uintptr_t caller) {
    size_t i = 0, j = 0;
    while (i < w->n && w->address[i] != caller)
        i++;
    while (j < n && address[j] != caller)
        j++;
    size_t left = w->n - i, right = n - j, both = left < right ? left : right;
    bool same = both && (left == right || w->n == most || n == most);
    for (size_t k = 0; same && k < both; k++)
        same = w->address[i + k] == address[j + k];
    if (same)
        return;
    vt_check_say("walked", w->address, w->n);
    vt_check_say("unwound", address, n);
    abort();
}

#endif
