/* SPDX-License-Identifier: MIT */
/*
 * Text as GitHub-flavoured Markdown, for fmt_markdown.c. Text from a log is always shown literally: no markup, no
 * HTML, no link, no mention of a user.
 */
#ifndef VRAMTRACE_ANALYZER_MARKDOWN_H
#define VRAMTRACE_ANALYZER_MARKDOWN_H

#include "base/base.h"

#define VT_MARKDOWN_WIDEST 400u /* columns of a text; longer ones are cut */

/* Adds a sentence. A word that would become a link or a mention is shown as code. */
void vt_markdown_text(struct vt_string *out, const char *text);

/* Adds a name, a frame, a line of code. `in_table`: as a table cell, or a part of one. */
void vt_markdown_code(struct vt_string *out, const char *text, bool in_table);

/* Adds lines, each ending with a newline, as a code block. */
void vt_markdown_block(struct vt_string *out, const char *lines);

#endif
