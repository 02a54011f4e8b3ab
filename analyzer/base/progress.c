/* SPDX-License-Identifier: MIT */
/*
 * Progress on stderr (see progress.h).
 */
#include "progress.h"
#include "util.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NAME_BYTES = 48 };

static bool allowed, shown;
static uint64_t next; /* when the line is shown next; 0: no progress yet */
static uint64_t delay = 1000000000, rest = 100000000;
static uint64_t number_of, files_of; /* vt_progress_of */

void vt_progress_allow(void) {
    const char *terminal = getenv("TERM"), *test = getenv("VRAMTRACE_TEST_PROGRESS");
    allowed = isatty(STDERR_FILENO) && !(terminal && !strcmp(terminal, "dumb"));
    if (test && test[0]) /* every step, at once */
        delay = rest = 0;
}

/* The end of a path, short enough for one line of any terminal. Free it. */
static char *short_name(const char *path) {
    char *name = vt_printable(vt_strdup(vt_basename(path)));
    size_t length = strlen(name), end = 0;
    while (end < length && end < NAME_BYTES) {
        unsigned bytes = vt_utf8_length(name + end, length - end);
        end += bytes ? bytes : 1;
    }
    name[end] = 0;
    return name;
}

void vt_progress_at(const char *what, const char *path, uint64_t done, uint64_t whole) {
    if (!allowed || !whole)
        return;
    uint64_t now = vt_now_ns();
    if (!next)
        next = now + delay;
    if (now < next)
        return;
    VT_SCOPED char *name = short_name(path);
    fprintf(stderr, "\r%s ", what);
    if (files_of > 1)
        fprintf(stderr, "%s of %s, ", VT_NUMBER(number_of), VT_NUMBER(files_of));
    fprintf(stderr, "%s  %u %%\033[K", name,
            (unsigned)((double)(done < whole ? done : whole) / (double)whole * 100));
    fflush(stderr);
    shown = true;
    next = now + rest;
}

void vt_progress_of(uint64_t number, uint64_t files) {
    number_of = number;
    files_of = files;
}

void vt_progress_end(void) {
    files_of = 0;
    if (shown) {
        fputs("\r\033[K", stderr);
        fflush(stderr);
    }
    shown = false;
}
