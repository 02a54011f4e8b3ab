/* SPDX-License-Identifier: MIT */
/*
 * Error messages (see errors.h). Every command uses them.
 */
#define _GNU_SOURCE
#include "errors.h"

#include "progress.h"
#include "util.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool vt_wants_colour(int fd) {
    const char *no_color = getenv("NO_COLOR");
    return isatty(fd) && !(no_color && no_color[0]);
}

static void say(const char *format, va_list args) __attribute__((format(printf, 1, 0)));
static void say(const char *format, va_list args) {
    fflush(stdout);
    vt_progress_end();
    char *line = NULL;
    if (vasprintf(&line, format, args) < 0)
        line = NULL;
    /* names in logs and files may hold anything */
    fprintf(stderr, "%s%s\n", vt_wants_colour(2) ? "\033[1;31mvramtrace:\033[0m " : "vramtrace: ",
            line ? vt_printable(line) : "no memory");
    free(line);
}

void vt_error(const char *format, ...) {
    va_list args;
    va_start(args, format);
    say(format, args);
    va_end(args);
}

int vt_error_status(int error, struct vt_string *message) {
    if (error)
        vt_error("%s", message->text);
    vt_string_free(message);
    return error ? VT_STATUS_USAGE : 0;
}

int vt_usage(const char *command, const char *format, ...) {
    va_list args;
    va_start(args, format);
    say(format, args);
    va_end(args);
    fprintf(stderr, "try 'vramtrace %s --help'\n", command);
    return VT_STATUS_USAGE;
}

int vt_usage_output(const char *command, const char *option, const char *value) {
    if (strncmp(value, "--", 2) != 0)
        return 0;
    return vt_usage(command, "%s: expected a file, found '%s'; one of that name is ./%s", option,
                    value, value);
}
