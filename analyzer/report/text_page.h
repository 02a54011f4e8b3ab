/* SPDX-License-Identifier: MIT */
/*
 * Text output for people: its width, colours, wrapped text, headings. For the text formats of
 * the report and the gate, and for cmd_diff.c. Write errors stay in `out`.
 */
#ifndef VRAMTRACE_ANALYZER_TEXT_PAGE_H
#define VRAMTRACE_ANALYZER_TEXT_PAGE_H

#include "formats.h"

#define VT_TEXT_WIDTH  80u /* columns of a page, where nobody asks for more */
#define VT_TEXT_WIDEST 160u

#define VT_STYLE_NONE "\033[0m"
#define VT_STYLE_HEAD "\033[1m"
#define VT_STYLE_BAD  "\033[1;31m"
#define VT_STYLE_GOOD "\033[1;32m"
#define VT_STYLE_WARN "\033[1;33m"
#define VT_STYLE_DIM  "\033[2m"

/* The process to write. */
struct vt_text {
    const struct vt_model *model;
    const struct vt_process *process;
    const struct vt_format_options *options;
    FILE *out;
    unsigned digits; /* to show of a site's id */
    unsigned width;  /* columns of the page */
};

/* Returns `escape`, or "" without colour. */
const char *vt_text_style(const struct vt_text *t, const char *escape);

/* Writes an empty line, the heading, then `rest` (NULL: nothing) on the same line, wrapped. */
void vt_text_heading(const struct vt_text *t, const char *style, const char *heading,
                     const char *rest);

/* The text, or its first columns and "..." if it is wider. Free it. */
char *vt_text_cut(const char *text, unsigned width);

/* Writes text wrapped at blanks, each line after `indent` columns; the first after the label
 * (NULL: it is written already, up to `indent`). */
void vt_text_wrap(const struct vt_text *t, const char *label, unsigned indent, const char *text);

#endif
