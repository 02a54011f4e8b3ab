/* SPDX-License-Identifier: MIT */
/*
 * The gate's result as text: the headline, then the document of gate_doc.c.
 */
#include "gate_formats.h"
#include "gate_words.h"

#include "report/report.h"

void vt_gate_text_write(const struct vt_gate_page *page) {
    const struct vt_gate *gate = page->gate;
    struct vt_text t = {.out = page->out, .width = VT_TEXT_WIDTH, .colour = page->how->colour};
    struct vt_doc doc = {0};
    struct vt_doc_item *title = vt_doc_line(&doc, "%s", "");
    title->label = vt_doc_text(&doc, "leak check %s", page->headline);
    title->style = gate->failed || gate->open ? VT_STYLE_BAD : VT_STYLE_GOOD;
    vt_gate_document(page, &doc);
    vt_doc_print(&doc, &t);
    vt_doc_free(&doc);
}
