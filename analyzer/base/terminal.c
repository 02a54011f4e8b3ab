/* SPDX-License-Identifier: MIT */
/*
 * The reader's terminal (see terminal.h).
 */
#define _GNU_SOURCE
#include "terminal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

unsigned vt_terminal_columns(int fd, unsigned least, unsigned most) {
    const char *said = getenv("COLUMNS");
    unsigned long columns = said && said[0] >= '0' && said[0] <= '9' ? strtoul(said, NULL, 10) : 0;
    struct winsize size;
    if (!columns && isatty(fd) && !ioctl(fd, TIOCGWINSZ, &size))
        columns = size.ws_col;
    return columns < least ? least : columns > most ? most : (unsigned)columns;
}

bool vt_terminal_utf8(void) {
    /* in setlocale's order, without its other effects */
    static const char *const variables[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        const char *locale = getenv(variables[i]);
        if (locale && locale[0])
            return strcasestr(locale, "UTF-8") || strcasestr(locale, "UTF8");
    }
    return false;
}
