/* SPDX-License-Identifier: MIT */
/*
 * Documents as GitHub-flavoured Markdown, section by section: a section that does not fit is left out and counted.
 */
#ifndef VRAMTRACE_ANALYZER_DOC_MARKDOWN_H
#define VRAMTRACE_ANALYZER_DOC_MARKDOWN_H

#include "content/content.h"

/* Initialize as {.most = lines}; 0: no limit. Free both strings. */
struct vt_doc_markdown {
    unsigned most, lines;
    unsigned left_out; /* sections */
    struct vt_string text, section;
};

/* Adds the document, without its commands. */
void vt_doc_markdown_add(struct vt_doc_markdown *page, const struct vt_doc *doc);

/* "## TITLE: rest". */
void vt_doc_markdown_heading(struct vt_doc_markdown *page, const char *title, const char *rest);

/* Ends the section: it is appended to the text if it fits. */
void vt_doc_markdown_end(struct vt_doc_markdown *page);

#endif
