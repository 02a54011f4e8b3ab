/* SPDX-License-Identifier: MIT */
/*
 * Text as GitHub-flavoured Markdown shows it, for fmt_markdown.c. What comes from a log is shown as it
 * is, never obeyed: no markup, no HTML, no link, no mention of a user.
 */
#ifndef VRAMTRACE_ANALYZER_MARKDOWN_H
#define VRAMTRACE_ANALYZER_MARKDOWN_H

#include "base/base.h"

#define VT_MARKDOWN_WIDEST 400u /* columns of a text; what is longer loses its end */

/* Adds a sentence. A word that would become a link or a mention is shown as code. */
void vt_markdown_text(struct vt_string *out, const char *text);

/* Adds a name, a frame, a line of code. `in_table`: as a cell of a table, or part of one. */
void vt_markdown_code(struct vt_string *out, const char *text, bool in_table);

/* Adds lines as they are, which end with a newline, in a block of code. */
void vt_markdown_block(struct vt_string *out, const char *lines);

#endif
