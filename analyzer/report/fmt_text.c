/* SPDX-License-Identifier: MIT */
/*
 * The report as text, 80 columns wide unless the reader's terminal is wider: the document of content/report_choose.c.
 */
#include "text_page.h"

static int print_page(struct vt_doc *doc, const struct vt_format_options *options, FILE *to) {
    struct vt_page page;
    struct vt_text t = {.out = vt_page_open(&page),
                        .width = options->width ? options->width : VT_TEXT_WIDTH,
                        .colour = options->colour,
                        .blocks = options->blocks};
    vt_doc_print(doc, &t);
    vt_doc_free(doc);
    vt_page_close(&page, options->colour, to);
    return 0;
}

int vt_fmt_text_write(const struct vt_model *model, const struct vt_format_options *options,
                      FILE *to) {
    struct vt_doc doc = {0};
    vt_report_document(model, options, &doc);
    return print_page(&doc, options, to);
}

int vt_fmt_text_owners(const struct vt_model *model, const struct vt_format_options *options,
                       FILE *to) {
    struct vt_doc doc = {.digits = model->id_digits};
    struct vt_subject t = {.model = model,
                           .process = model->processes,
                           .options = options,
                           .digits = model->id_digits};
    vt_report_add_head(&t, &doc);
    vt_report_add_owners(&t, &doc);
    return print_page(&doc, options, to);
}
