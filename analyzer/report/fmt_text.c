/* SPDX-License-Identifier: MIT */
/*
 * The report for people: 80 columns, the most important first: memory still held, by call site, the largest first;
 * each device at its peak, with its parts; commands to run next. content/report_process.c builds this document for
 * each process.
 */
#include "fmt_text.h"

static struct vt_subject subject_of(const struct vt_model *model,
                                    const struct vt_format_options *options) {
    return (struct vt_subject){.model = model, .options = options, .digits = model->id_digits};
}

static struct vt_text text_of(const struct vt_subject *of, FILE *out) {
    return (struct vt_text){.out = out,
                            .width = of->options->width ? of->options->width : VT_TEXT_WIDTH,
                            .colour = of->options->colour,
                            .blocks = of->options->blocks};
}

static void print_process(const struct vt_subject *of, const struct vt_text *t) {
    const struct vt_process *p = of->process;
    struct vt_doc doc = {.digits = of->digits};
    if (of->options->site)
        vt_report_add_head(of, &doc);
    else
        vt_report_add_process(of, &doc);
    for (uint32_t i = 0; of->options->site && i < p->site_count; i++)
        if (vt_site_wanted(&p->sites[i], of->options->site))
            vt_report_add_site(of, &p->sites[i], &doc);
    vt_doc_print(&doc, t);
    vt_doc_free(&doc);
}

int vt_fmt_text_write(const struct vt_model *model, const struct vt_format_options *options,
                      FILE *to) {
    struct vt_page page;
    FILE *out = vt_page_open(&page);
    struct vt_processes processes;
    struct vt_format_options lines = *options;
    struct vt_subject of = subject_of(model, &lines);
    struct vt_text t = text_of(&of, out);
    if (options->by ==
        VT_BY_OWNER) { /* owners are not known for the peak, or for memory live before the end */
        lines.by = VT_BY_LINE;
        lines.owners = true;
    }
    if (options->heading)
        fprintf(out, "%s\n\n", options->heading);
    vt_processes_choose(&processes, model, options, false);
    if (processes.many)
        vt_text_ranks(&of, &t);
    for (uint32_t i = 0; i < processes.count; i++) {
        of.process = processes.list[i];
        if (i || processes.many) {
            fputc('\n', out);
            for (unsigned j = 0; j < t.width; j++)
                fputc('=', out);
            fputs("\n\n", out);
        }
        if (processes.many)
            vt_text_stands_for(&of, &t, processes.in_job[i]);
        print_process(&of, &t);
    }
    if (processes.count == 1 && !processes.many && !options->site && processes.empty) {
        VT_SCOPED uint32_t *pids = vt_alloc(processes.empty, sizeof *pids);
        for (uint32_t i = 0; i < processes.empty; i++)
            pids[i] = processes.list[processes.count + i]->pid;
        VT_SCOPED char *empty = vt_report_empty(pids, processes.empty);
        fputc('\n', out);
        vt_text_wrap(&t, "", 0, empty);
    }
    vt_processes_free(&processes);
    vt_page_close(&page, options->colour, to);
    return 0;
}

int vt_fmt_text_owners(const struct vt_model *model, const struct vt_format_options *options,
                       FILE *to) {
    struct vt_page page;
    struct vt_subject of = subject_of(model, options);
    struct vt_text t = text_of(&of, vt_page_open(&page));
    struct vt_doc doc = {.digits = of.digits};
    of.process = model->processes;
    vt_report_add_head(&of, &doc);
    vt_report_add_owners(&of, &doc);
    vt_doc_print(&doc, &t);
    vt_doc_free(&doc);
    vt_page_close(&page, options->colour, to);
    return 0;
}
