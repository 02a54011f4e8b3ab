/* SPDX-License-Identifier: MIT */
/*
 * Error messages (see errors.h). Every command uses them.
 */
#define _GNU_SOURCE
#include "errors.h"

#include "util.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void say(const char *format, va_list args) __attribute__((format(printf, 1, 0)));
static void say(const char *format, va_list args) {
    const char *no_color = getenv("NO_COLOR");
    int colour = isatty(2) && !(no_color && no_color[0]);
    fflush(stdout);
    char *line = NULL;
    if (vasprintf(&line, format, args) < 0)
        line = NULL;
    /* names in logs and files may hold anything */
    fprintf(stderr, "%s%s\n", colour ? "\033[1;31mvramtrace:\033[0m " : "vramtrace: ",
            line ? vt_printable(line) : "no memory");
    free(line);
}

void vt_error(const char *format, ...) {
    va_list args;
    va_start(args, format);
    say(format, args);
    va_end(args);
}

int vt_usage(const char *command, const char *format, ...) {
    va_list args;
    va_start(args, format);
    say(format, args);
    va_end(args);
    fprintf(stderr, "try 'vramtrace %s --help'\n", command);
    return VT_STATUS_USAGE;
}
