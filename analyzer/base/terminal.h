/* SPDX-License-Identifier: MIT */
/*
 * What the reader's terminal can show: its width, its characters.
 */
#ifndef VRAMTRACE_ANALYZER_TERMINAL_H
#define VRAMTRACE_ANALYZER_TERMINAL_H

#include <stdbool.h>

/* Columns for what is written to `fd`: by the variable COLUMNS, else the terminal's; within `least` and
 * `most`. `least` where it is no terminal. */
unsigned vt_terminal_columns(int fd, unsigned least, unsigned most);

/* Whether the locale's characters are UTF-8. */
bool vt_terminal_utf8(void);

#endif
