/* SPDX-License-Identifier: MIT */
/*
 * Drawing on a terminal with ncurses. All text passes through vt_screen_put, which replaces control characters by
 * '?'. For view.c and live.c.
 */
#ifndef VRAMTRACE_ANALYZER_SCREEN_H
#define VRAMTRACE_ANALYZER_SCREEN_H

#include "strips.h"

enum vt_screen_style {
    VT_SCREEN_NORMAL,
    VT_SCREEN_STRIP, /* + enum vt_strip: the colours of a bar */
    VT_SCREEN_HEAD = VT_SCREEN_STRIP + VT_STRIPS,
    VT_SCREEN_DIM,
    VT_SCREEN_TITLE,
    VT_SCREEN_TABLE, /* the head of a table */
    VT_SCREEN_SELECTED,
    VT_SCREEN_BAD,
    VT_SCREEN_WARN,
    VT_SCREEN_GOOD,
    VT_SCREEN_STYLES
};

/* Returns 0, or -1 for an unknown terminal type. The screen is closed however the process ends. */
int vt_screen_open(bool colour);
void vt_screen_close(void);

void vt_screen_size(int *rows, int *columns);
void vt_screen_clear(void);
void vt_screen_show(void);

/* Writes UTF-8 text, cut to `width` columns. Returns the columns used. */
int vt_screen_put(int y, int x, int width, enum vt_screen_style style, const char *text);
int vt_screen_format(int y, int x, int width, enum vt_screen_style style, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* Fills columns with blanks, or with the character of a part of a bar. */
void vt_screen_blank(int y, int x, int width, enum vt_screen_style style);
void vt_screen_strip(int y, int x, int width, enum vt_strip part);

/* Draws a cell of a course, filled to `eighths` (0 to 8), for memory in use or cached memory. */
void vt_screen_level(int y, int x, unsigned eighths, bool in_use);

/* Whether the terminal shows more than ASCII. */
bool vt_screen_is_wide(void);

/* The next key, as an ncurses code; -1: none. */
int vt_screen_key(void);

#endif
