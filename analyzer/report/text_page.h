/* SPDX-License-Identifier: MIT */
/*
 * Text output for people: its width, colours, wrapped text, headings. For the text formats of
 * the report and the gate, and for cmd_diff.c. Write errors stay in `out`.
 */
#ifndef VRAMTRACE_ANALYZER_TEXT_PAGE_H
#define VRAMTRACE_ANALYZER_TEXT_PAGE_H

#include "formats.h"

#define VT_TEXT_WIDEST 160u

/* Where text goes, and how it looks there. */
struct vt_text {
    FILE *out;
    unsigned width; /* columns of the page */
    bool colour;
    bool blocks; /* the reader's terminal shows UTF-8's block characters */
};

/* Returns `escape`, or "" without colour. */
const char *vt_text_style(const struct vt_text *t, const char *escape);

/* Writes an empty line, the heading, then `rest` (NULL: nothing) on the same line, wrapped. */
void vt_text_heading(const struct vt_text *t, const char *style, const char *heading,
                     const char *rest);

/* Writes text wrapped at blanks, each line after `indent` columns; the first after the label
 * (NULL: it is written already, up to `indent`). */
void vt_text_wrap(const struct vt_text *t, const char *label, unsigned indent, const char *text);

/* --- doc_text.c --- */

/* Writes it as text to `t->out`, for `t->width`; with styles if `t->colour`. */
void vt_doc_print(const struct vt_doc *doc, const struct vt_text *t);

/* Writes it to a terminal or a file, of the usual width, with nothing in it that a terminal obeys. */
void vt_doc_show(const struct vt_doc *doc, bool colour, FILE *to);

/* The bar alone, of so many columns: each part that is not 0 has at least one. `t` NULL: without styles. Free
 * it. */
char *vt_doc_bar(const struct vt_doc_parts *parts, unsigned columns, const struct vt_text *t);

/* --- text_line.c --- */

/* A device's live memory over the run: a character for each of equal parts of the time, as high as the
 * most that is known of it, of the peak; and below it the axis, with the times and a mark for the
 * peak. */
struct vt_text_line {
    char *line, *axis;
};

/* `blocks`: of Unicode's block characters, else of ASCII. False: nothing to draw. */
bool vt_text_line_make(const struct vt_device *device, unsigned columns, bool blocks,
                       struct vt_text_line *line);
void vt_text_line_free(struct vt_text_line *line);

/* The line alone, of one level for each column; `peak` is as high as a character. Free it. */
char *vt_text_line_draw(const uint64_t *levels, unsigned columns, uint64_t peak, bool blocks);

#endif
