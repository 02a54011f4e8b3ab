/* SPDX-License-Identifier: MIT */
/*
 * The width and the character set of the reader's terminal.
 */
#ifndef VRAMTRACE_ANALYZER_TERMINAL_H
#define VRAMTRACE_ANALYZER_TERMINAL_H

#include <stdbool.h>

/* Columns for output to `fd`: from the variable COLUMNS, else the terminal's, limited to `least` and `most`. `least`
 * if `fd` is not a terminal. */
unsigned vt_terminal_columns(int fd, unsigned least, unsigned most);

/* Whether the locale uses UTF-8. */
bool vt_terminal_utf8(void);

#endif
