/* SPDX-License-Identifier: MIT */
/*
 * A check for builds with -DVT_CHECK_WALKS (tests/walks.py): libunwind unwinds each stack, too.
 * At its end a process adds a line to the file $VT_CHECKED_WALKS: how many it compared, how many it
 * could not, because libunwind may fault in code without tables, and how many libunwind did alone.
 * Included by preload/stack/stack.c alone.
 */
#ifndef TESTS_UNWIND_CHECK_H
#define TESTS_UNWIND_CHECK_H

#include "stack/unwind_walk.h"

#include <fcntl.h>
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

static unsigned long vt_checked_walks[3]; /* atomic; as in that line */

__attribute__((destructor)) static void vt_check_count(void) {
    char text[128];
    const char *path = getenv("VT_CHECKED_WALKS");
    int fd = path ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666) : -1;
    int bytes = snprintf(text, sizeof text, "%lu %lu %lu\n", vt_checked_walks[0],
                         vt_checked_walks[1], vt_checked_walks[2]);
    if (fd >= 0 && (write(fd, text, (size_t)bytes) != bytes || close(fd) != 0))
        abort();
}

static bool is_signal_frame(uintptr_t address);

/* On AArch64, libunwind 1.6's backtrace ends at a function that a signal interrupted before its first instruction; its
 * steps do not. */
static bool ends_too_soon(const uintptr_t *address, size_t n) {
    return !VT_RETURN_AT_CFA && n > 1 && is_signal_frame(address[n - 2]);
}

/* Ends the process if libunwind's frames are others than those of the walk (NULL: it did not know a
 * frame), from `caller` outwards. `most`: that were asked for. */
static void vt_check_walk(const struct vt_walk *w, size_t most, uintptr_t caller) {
    uintptr_t address[VT_DEPTH_MAX + 64];
    vt_add(&vt_checked_walks[!w ? 2 : w->guessed], 1);
    if (!w || w->guessed)
        return;
    size_t n = vt_stack_raw((void **)address, most);
    size_t i = 0, j = 0;
    while (i < w->n && w->address[i] != caller)
        i++;
    while (j < n && address[j] != caller)
        j++;
    size_t left = w->n - i, right = n - j, both = left < right ? left : right;
    bool same = both && (left == right || w->cut || n == most ||
                         (right < left && ends_too_soon(address, n)));
    for (size_t k = 0; same && k < both; k++)
        same = w->address[i + k] == address[j + k];
    if (same)
        return;
    vt_check_say("walked", w->address, w->n);
    vt_check_say("unwound", address, n);
    abort();
}

#endif
