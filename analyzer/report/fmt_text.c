/* SPDX-License-Identifier: MIT */
/*
 * The report for people: 80 columns, the most important first. It begins with what is still held,
 * by call site, the largest first; then comes each device at its peak, with its parts; then what to
 * do next: the document that words_process.c builds, for each process.
 */
#include "fmt_text.h"
#include "words.h"

static void print_process(const struct vt_text *t) {
    const struct vt_process *p = t->process;
    struct vt_doc doc = {0};
    if (t->options->site)
        vt_words_add_head(t, &doc);
    else
        vt_words_add_process(t, &doc);
    for (uint32_t i = 0; t->options->site && i < p->site_count; i++)
        if (vt_site_wanted(&p->sites[i], t->options->site))
            vt_words_add_site(t, &p->sites[i], &doc);
    vt_doc_print(&doc, t);
    vt_doc_free(&doc);
}

int vt_fmt_text_write(const struct vt_model *model, const struct vt_format_options *options,
                      FILE *to) {
    struct vt_page page;
    FILE *out = vt_page_open(&page);
    struct vt_processes processes;
    struct vt_format_options lines = *options;
    struct vt_text t = {.model = model,
                        .options = &lines,
                        .out = out,
                        .digits = model->id_digits,
                        .width = options->width ? options->width : VT_TEXT_WIDTH};
    if (options->by ==
        VT_BY_OWNER) { /* what was live at the peak, or before the end, has no owner */
        lines.by = VT_BY_LINE;
        lines.owners = true;
    }
    if (options->heading)
        fprintf(out, "%s\n\n", options->heading);
    vt_processes_choose(&processes, model, options, false);
    if (processes.many)
        vt_text_ranks(&t);
    for (uint32_t i = 0; i < processes.count; i++) {
        t.process = processes.list[i];
        if (i || processes.many) {
            fputc('\n', out);
            for (unsigned j = 0; j < t.width; j++)
                fputc('=', out);
            fputs("\n\n", out);
        }
        if (processes.many)
            vt_text_stands_for(&t, processes.in_job[i]);
        print_process(&t);
    }
    if (processes.count == 1 && !processes.many && !options->site && processes.empty) {
        fputc('\n', out);
        vt_processes_empty(&processes, &t);
    }
    vt_processes_free(&processes);
    vt_page_close(&page, options->colour, to);
    return 0;
}

int vt_fmt_text_owners(const struct vt_model *model, const struct vt_format_options *options,
                       FILE *to) {
    struct vt_page page;
    struct vt_text t = {.model = model,
                        .options = options,
                        .out = vt_page_open(&page),
                        .digits = model->id_digits,
                        .width = options->width ? options->width : VT_TEXT_WIDTH,
                        .process = model->processes};
    struct vt_doc doc = {0};
    vt_words_add_head(&t, &doc);
    vt_words_add_owners(&t, &doc);
    vt_doc_print(&doc, &t);
    vt_doc_free(&doc);
    vt_page_close(&page, options->colour, to);
    return 0;
}
