/* SPDX-License-Identifier: MIT */
/*
 * Text output for people: width, colours, wrapped text, headings. For the text formats of the report and the gate,
 * and for cmd_diff.c. The caller checks ferror(out).
 */
#ifndef VRAMTRACE_ANALYZER_TEXT_PAGE_H
#define VRAMTRACE_ANALYZER_TEXT_PAGE_H

#include "formats.h"

#define VT_TEXT_WIDEST 160u

/* The destination and style of text. */
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

/* Writes text wrapped at blanks, each line after `indent` columns; the first after the label (NULL: already written,
 * up to `indent`). */
void vt_text_wrap(const struct vt_text *t, const char *label, unsigned indent, const char *text);

/* --- doc_text.c --- */

/* Writes it as text to `t->out`, for `t->width`; with styles if `t->colour`. */
void vt_doc_print(const struct vt_doc *doc, const struct vt_text *t);

/* Writes it to a terminal or a file, with the usual width, and without control characters. */
void vt_doc_show(const struct vt_doc *doc, bool colour, FILE *to);

/* The bar alone, with this many columns: each part above 0 has at least one. `t` NULL: without styles. Free it. */
char *vt_doc_bar(const struct vt_doc_parts *parts, unsigned columns, const struct vt_text *t);

/* A curve with its name and its peak, or the axis below several, in so many columns. Free it. */
char *vt_doc_course(const struct vt_doc_item *item, unsigned columns, bool blocks);

/* --- text_line.c --- */

/* A device's live memory over the run: one character per equal part of the time, its height the known maximum
 * relative to the peak; below it the axis, with the times and a mark for the peak. */
struct vt_text_line {
    char *line, *axis;
};

/* `blocks`: with Unicode's block characters, else ASCII. False: no memory to draw. */
bool vt_text_line_make(const struct vt_device *device, unsigned columns, bool blocks,
                       struct vt_text_line *line);
void vt_text_line_free(struct vt_text_line *line);

/* Levels as a line; `scale` is as high as a character. Free it. */
char *vt_text_line_draw(const struct vt_levels *levels, unsigned columns, uint64_t scale,
                        bool blocks);

#endif
