/* SPDX-License-Identifier: MIT */
/*
 * The report as GitHub-flavoured Markdown, for a ticket, a chat or an assistant: the document of the text report. At
 * most LINES lines: a section that does not fit is left out, and the last line says so.
 */
#include "doc_markdown.h"
#include "markdown.h"
#include "text_page.h"

enum { LINES = 100, ENDING = 10 };

/* What to do next with the first process, and that something was left out. ENDING lines at most. */
static void put_ending(struct vt_doc_markdown *page, const struct vt_doc *doc) {
    struct vt_string *s = &page->text;
    uint32_t at = 0;
    if (page->left_out)
        vt_string_add(s, "\nThe rest of the report is left out here.\n");
    while (at < doc->count && doc->items[at].kind != VT_DOC_COMMAND)
        at++;
    if (at < doc->count)
        vt_string_add(s, "\n**NEXT**\n\n");
    for (; at < doc->count && doc->items[at].kind == VT_DOC_COMMAND; at++) {
        vt_string_add(s, "- ");
        vt_markdown_code(s, doc->items[at].text, false);
        vt_string_format(s, " %s\n", doc->items[at].label);
    }
}

int vt_fmt_markdown_write(const struct vt_model *model, const struct vt_format_options *options,
                          FILE *to) {
    struct vt_page out;
    struct vt_doc doc = {0};
    struct vt_doc_markdown page = {.most = LINES - ENDING};
    FILE *stream = vt_page_open(&out);
    vt_report_document(model, options, &doc);
    vt_doc_markdown_add(&page, &doc);
    vt_doc_markdown_end(&page);
    put_ending(&page, &doc);
    fputs(page.text.text ? page.text.text : "", stream);
    vt_doc_free(&doc);
    vt_string_free(&page.text);
    vt_page_close(&out, false, to);
    return 0;
}
