/* SPDX-License-Identifier: MIT */
/*
 * Exit statuses, which scripts rely on, and error messages on stderr.
 */
#ifndef VRAMTRACE_ANALYZER_EXIT_STATUS_H
#define VRAMTRACE_ANALYZER_EXIT_STATUS_H

#include <stdbool.h>

/* Exit statuses of `vramtrace`. `run` also passes on the traced command's own status. */
enum vt_status {
    VT_STATUS_OK = 0,
    VT_STATUS_INTERNAL = 1, /* a bug in vramtrace, or out of memory */
    VT_STATUS_USAGE = 2,    /* a bad option, or a log that cannot be read */
    VT_STATUS_GATE = 23,    /* the leak gate failed: LeakSanitizer's number */
    VT_STATUS_CANNOT_TRACE = 125,
    VT_STATUS_NOT_EXECUTABLE = 126,
    VT_STATUS_NOT_FOUND = 127,
};

/* Prints "vramtrace: ", the message and a newline on stderr, in colour if stderr allows it. */
void vt_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Whether text on this descriptor may be coloured: it is a terminal, and NO_COLOR is not set. */
bool vt_wants_colour(int fd);

/* After a step that fills `message` on failure: if `error` is set, prints and frees the message, and returns
 * VT_STATUS_USAGE; else returns 0. */
struct vt_string;
int vt_error_status(int error, struct vt_string *message);

/* vt_error, then "try 'vramtrace COMMAND --help'". Returns VT_STATUS_USAGE, so that a command can
 * return it. */
int vt_usage(const char *command, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* How many letters of `word` must be inserted, removed, changed or swapped with the next to give
 * `name`. VT_SLIPS_MANY: more than a typing slip in a word of its length. */
enum { VT_SLIPS_MANY = 3 };
unsigned vt_slips(const char *word, const char *name);

#endif
