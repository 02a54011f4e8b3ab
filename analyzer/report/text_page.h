/* SPDX-License-Identifier: MIT */
/*
 * The page that people read: its width, its colours, wrapped text, headings, bars. For every file
 * that writes text: the report's, the gate's, cmd_diff.c. Which formats there are it does not know.
 */
#ifndef VRAMTRACE_ANALYZER_TEXT_PAGE_H
#define VRAMTRACE_ANALYZER_TEXT_PAGE_H

#include "formats.h"

#define VT_TEXT_WIDTH 80u

#define VT_STYLE_NONE "\033[0m"
#define VT_STYLE_HEAD "\033[1m"
#define VT_STYLE_BAD  "\033[1;31m"
#define VT_STYLE_GOOD "\033[1;32m"
#define VT_STYLE_WARN "\033[1;33m"
#define VT_STYLE_DIM  "\033[2m"

/* One process being written. */
struct vt_text {
    const struct vt_model *model;
    const struct vt_process *process;
    const struct vt_format_options *options;
    FILE *out;
    unsigned digits; /* of a site's id that are shown */
};

/* The escape, or nothing where colour is off. */
const char *vt_text_style(const struct vt_text *t, const char *escape);

/* An empty line, the heading, then `rest` (NULL: nothing) on the same line; what is too long for it
 * goes on below. */
void vt_text_heading(const struct vt_text *t, const char *style, const char *heading,
                     const char *rest);

/* Text broken at blanks, each line `indent` columns in; before the first stands the label. */
void vt_text_wrap(const struct vt_text *t, const char *label, unsigned indent, const char *text);

/* A part of a bar. */
struct vt_text_part {
    char letter;
    const char *name;
    uint64_t bytes;
    uint32_t sites;
    const char *style;
};

/* A bar in which each part has its share of the columns; a part that is there at all gets one, so
 * that nothing is hidden. */
void vt_text_bar(const struct vt_text *t, const struct vt_text_part *parts, unsigned count,
                 uint64_t whole);

#endif
