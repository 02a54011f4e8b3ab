/* SPDX-License-Identifier: MIT */
/*
 * Drawing on a terminal (see screen.h). ncurses has one screen per process, and so has this file.
 */
#define _GNU_SOURCE
#define NCURSES_WIDECHAR 1
#include "screen.h"

#include <langinfo.h>
#include <locale.h>
#include <ncurses.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

static SCREEN *screen;
static bool is_open, is_wide, has_colours;

enum { ESCAPE_WAITS = 50 }; /* ms to wait for the rest of an arrow key's sequence */

static const struct look {
    short colour; /* -1: the terminal's default */
    attr_t attributes, without_colour;
} looks[VT_SCREEN_STYLES] = {
    [VT_SCREEN_NORMAL] = {-1, 0, 0},
    [VT_SCREEN_STRIP + VT_STRIP_IN_USE] = {COLOR_GREEN, 0, 0},
    [VT_SCREEN_STRIP + VT_STRIP_CACHED] = {COLOR_YELLOW, 0, 0},
    [VT_SCREEN_STRIP + VT_STRIP_UNTRACKED] = {COLOR_MAGENTA, 0, 0},
    [VT_SCREEN_STRIP + VT_STRIP_OTHERS] = {COLOR_BLUE, 0, 0},
    [VT_SCREEN_STRIP + VT_STRIP_FREE] = {-1, A_DIM, A_DIM},
    [VT_SCREEN_HEAD] = {-1, A_BOLD, A_BOLD},
    [VT_SCREEN_DIM] = {-1, A_DIM, A_DIM},
    [VT_SCREEN_TITLE] = {COLOR_CYAN, A_REVERSE, A_REVERSE},
    [VT_SCREEN_TABLE] = {COLOR_GREEN, A_REVERSE, A_REVERSE},
    [VT_SCREEN_SELECTED] = {-1, A_REVERSE, A_REVERSE},
    [VT_SCREEN_BAD] = {COLOR_RED, A_BOLD, A_BOLD},
    [VT_SCREEN_WARN] = {COLOR_YELLOW, A_BOLD, A_BOLD},
    [VT_SCREEN_GOOD] = {COLOR_GREEN, A_BOLD, A_BOLD},
};

void vt_screen_close(void) {
    if (is_open)
        endwin();
    is_open = false;
}

int vt_screen_open(bool colour) {
    setlocale(LC_CTYPE, "");
    is_wide = !strcmp(nl_langinfo(CODESET), "UTF-8");
    screen = newterm(NULL, stdout, stdin);
    if (!screen)
        return -1;
    if (!tigetstr("cup")) { /* TERM=dumb: the cursor cannot be positioned */
        endwin();
        return -1;
    }
    is_open = true;
    atexit(vt_screen_close);
    set_escdelay(ESCAPE_WAITS);
    cbreak();
    noecho();
    nonl();
    keypad(stdscr, TRUE);
    nodelay(stdscr, TRUE);
    curs_set(0);
    has_colours = colour && has_colors() && start_color() == OK && use_default_colors() == OK;
    for (short i = 1; has_colours && i < VT_SCREEN_STYLES; i++)
        init_pair(i, looks[i].colour, -1);
    return 0;
}

static attr_t attributes(enum vt_screen_style style) {
    if (!has_colours)
        return looks[style].without_colour;
    return looks[style].attributes | (attr_t)COLOR_PAIR(style);
}

void vt_screen_size(int *rows, int *columns) {
    getmaxyx(stdscr, *rows, *columns);
}

void vt_screen_clear(void) {
    erase();
}

void vt_screen_show(void) {
    refresh();
}

bool vt_screen_is_wide(void) {
    return is_wide;
}

int vt_screen_key(void) {
    int key = getch();
    return key == ERR ? -1 : key;
}

/* The character to draw, and its columns. Characters without a column, such as combining ones and changes of the
 * writing direction, are not drawn. */
static wchar_t shown_character(const char *text, unsigned bytes, int *columns) {
    wchar_t wide = L'?';
    *columns = 1;
    if (bytes == 1)
        return (wchar_t)(unsigned char)*text;
    if (!bytes || !is_wide)
        return wide;
    mbstate_t state = {0};
    if (mbrtowc(&wide, text, bytes, &state) != bytes)
        return L'?';
    *columns = wcwidth(wide);
    if (*columns < 0) {
        *columns = 1;
        return L'?';
    }
    return wide;
}

int vt_screen_put(int y, int x, int width, enum vt_screen_style style, const char *text) {
    int rows, columns, used = 0;
    size_t left = strlen(text);
    vt_screen_size(&rows, &columns);
    if (y < 0 || y >= rows || x < 0 || x >= columns)
        return 0;
    if (width > columns - x)
        width = columns - x;
    attrset((int)attributes(style));
    move(y, x);
    while (left && used < width) {
        int wide_columns = 1; /* of a tab */
        unsigned bytes = vt_shown_length(text, left), skip = vt_utf8_length(text, left);
        wchar_t wide[2] = {*text == '\t' ? L' ' : shown_character(text, bytes, &wide_columns), 0};
        if (used + wide_columns > width)
            break;
        if (wide_columns)
            addwstr(wide);
        used += wide_columns;
        skip = skip ? skip : 1;
        text += skip;
        left -= skip;
    }
    attrset(A_NORMAL);
    return used;
}

int vt_screen_format(int y, int x, int width, enum vt_screen_style style, const char *format, ...) {
    va_list arguments;
    char *text;
    va_start(arguments, format);
    int length = vasprintf(&text, format, arguments);
    va_end(arguments);
    if (length < 0)
        return 0;
    int used = vt_screen_put(y, x, width, style, text);
    free(text);
    return used;
}

/* Draws the same character in each column. */
static void draw_repeated(int y, int x, int width, enum vt_screen_style style,
                          const wchar_t *sign) {
    int rows, columns;
    vt_screen_size(&rows, &columns);
    if (y < 0 || y >= rows)
        return;
    attrset((int)attributes(style));
    for (int i = 0; i < width && x + i < columns; i++)
        mvaddwstr(y, x + i, sign);
    attrset(A_NORMAL);
}

void vt_screen_blank(int y, int x, int width, enum vt_screen_style style) {
    draw_repeated(y, x, width, style, L" ");
}

void vt_screen_strip(int y, int x, int width, enum vt_strip part) {
    static const wchar_t *const signs[VT_STRIPS] = {L"█", L"▓", L"▒", L"░", L"·"};
    wchar_t letter[2] = {(wchar_t)vt_strip_looks[part].letter, 0};
    draw_repeated(y, x, width, (enum vt_screen_style)(VT_SCREEN_STRIP + part),
                  is_wide ? signs[part] : letter);
}

void vt_screen_level(int y, int x, unsigned eighths, bool in_use) {
    static const wchar_t *const signs[] = {L" ", L"▁", L"▂", L"▃", L"▄", L"▅", L"▆", L"▇", L"█"};
    static const wchar_t *const letters[] = {L" ", L".", L".", L":", L":", L"+", L"+", L"#", L"#"};
    const wchar_t *sign = (is_wide ? signs : letters)[eighths];
    if (!in_use && eighths == 8)
        sign = is_wide ? L"▓" : L"=";
    draw_repeated(y, x, 1, VT_SCREEN_STRIP + (in_use ? VT_STRIP_IN_USE : VT_STRIP_CACHED), sign);
}
