/* SPDX-License-Identifier: MIT */
/*
 * Error messages (see exit_status.h). Every command uses them.
 */
#define _GNU_SOURCE
#include "exit_status.h"

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

static void print_message(const char *format, va_list args) __attribute__((format(printf, 1, 0)));
static void print_message(const char *format, va_list args) {
    fflush(stdout);
    vt_progress_end();
    VT_SCOPED char *line = NULL;
    if (vasprintf(&line, format, args) < 0)
        line = NULL;
    /* names in logs and files may contain any bytes */
    fprintf(stderr, "%s%s\n", vt_wants_colour(2) ? "\033[1;31mvramtrace:\033[0m " : "vramtrace: ",
            line ? vt_printable(line) : "no memory");
}

void vt_error(const char *format, ...) {
    va_list args;
    va_start(args, format);
    print_message(format, args);
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
    print_message(format, args);
    va_end(args);
    fprintf(stderr, "try 'vramtrace %s --help'\n", command);
    return VT_STATUS_USAGE;
}

/* Whether at most `slips` typing slips turn `a` into `b`. */
static bool is_near(const char *a, const char *b, unsigned slips) {
    while (*a && *a == *b)
        a++, b++;
    if (!*a && !*b)
        return true;
    if (!slips--)
        return false;
    return (*a && is_near(a + 1, b, slips)) || (*b && is_near(a, b + 1, slips)) ||
           (*a && *b &&
            (is_near(a + 1, b + 1, slips) ||
             (a[1] && a[1] == b[0] && a[0] == b[1] && is_near(a + 2, b + 2, slips))));
}

unsigned vt_slips(const char *word, const char *name) {
    for (unsigned slips = 1; slips < VT_SLIPS_MANY && slips * 2 < strlen(word); slips++)
        if (is_near(word, name, slips))
            return slips;
    return VT_SLIPS_MANY;
}
