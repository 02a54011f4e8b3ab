/* SPDX-License-Identifier: MIT */
/*
 * The report's first screen as GitHub-flavoured Markdown, for a ticket, a chat or an assistant: the document of the
 * text report (doc.h), with lists as tables and memory over time as a line of characters. At most LINES lines:
 * sections that do not fit are left out, which the last line states.
 */
#include "fmt_text.h"
#include "doc_markdown.h"
#include "markdown.h"

#include <stdlib.h>
#include <string.h>

enum { LINES = 100, ENDING = 10, ROWS = 5, LEAKS = 3, PROCESSES = 8, COLUMNS = 76 };

struct page {
    const struct vt_subject *t;
    struct vt_doc_markdown md;
};

/* Commands to run next, and the number of sections left out. ENDING lines at most. */
static void put_ending(struct page *page, const struct vt_doc *doc, uint32_t more_processes) {
    struct vt_string *s = &page->md.text;
    if (page->md.left_out || more_processes)
        vt_string_format(s, "\nLeft out here: %s%s%s.\n",
                         page->md.left_out ? "parts of this report" : "",
                         page->md.left_out && more_processes ? " and " : "",
                         more_processes ? "the other processes" : "");
    vt_string_add(s, "\n**NEXT**\n\n");
    for (uint32_t i = 0; i < doc->count; i++) {
        if (doc->items[i].kind != VT_DOC_COMMAND)
            continue;
        vt_string_add(s, "- ");
        vt_markdown_code(s, doc->items[i].text, false);
        vt_string_format(s, " %s\n", doc->items[i].label);
    }
}

/* --- many processes --- */

static void ranks_head(struct page *page, const struct vt_ranks *r, const struct vt_job *f) {
    struct vt_string *s = &page->md.section;
    char *many = vt_ranks_many(r), *ended = vt_ranks_all_ended(r, f), *date = vt_date_text(r->from);
    const char *job = r->count ? f->processes[r->list[0]].job : NULL;
    struct vt_doc notes = {0};
    vt_string_format(s, "# vramtrace: %s\n\n", many);
    if (job) {
        vt_string_add(s, "job ");
        vt_markdown_text(s, job);
        vt_string_add(s, ", ");
    }
    vt_string_format(s, "%s, ran %s: %s.\n", date, VT_DURATION(r->to - r->from), ended);
    vt_ranks_notes(r, f, &notes);
    vt_doc_markdown_add(&page->md, &notes);
    vt_doc_free(&notes);
    free(many);
    free(ended);
    free(date);
    vt_doc_markdown_end(&page->md);
}

static void ranks_table(struct page *page, const struct vt_ranks *r, const struct vt_job *f) {
    struct vt_string *s = &page->md.section;
    VT_SCOPED uint32_t *list = vt_alloc(r->count, sizeof *list);
    uint32_t most = page->t->options->top ? page->t->options->top : PROCESSES;
    uint32_t count = vt_ranks_rows(r, f, most, list);
    bool hosts = r->hosts > 1, commands = r->groups > 1;
    VT_SCOPED char *totals = vt_ranks_totals(r);
    vt_doc_markdown_heading(&page->md, vt_ranks_list_heading(r), totals);
    vt_string_format(s, "| | rank | pid |%s peak | at end | leaks | end |%s\n",
                     hosts ? " host |" : "", commands ? " command |" : "");
    vt_string_format(s, "| --- | ---: | ---: |%s ---: | ---: | ---: | --- |%s\n",
                     hosts ? " --- |" : "", commands ? " --- |" : "");
    for (uint32_t i = 0; i < count; i++) {
        const struct vt_job_process *p = &f->processes[list[i]];
        char rank[16] = "", *command = vt_text_cut(p->command ? p->command : "", COLUMNS);
        VT_SCOPED char *end = vt_ending_text(p->ending, VT_ENDING_COLUMN);
        if (p->rank >= 0)
            snprintf(rank, sizeof rank, "%d", p->rank);
        vt_string_format(s, "| %s | %s | %u | ", r->differs[list[i]] ? "differs" : "", rank,
                         p->pid);
        if (hosts) {
            vt_markdown_code(s, f->hosts[p->host].name ? f->hosts[p->host].name : "", true);
            vt_string_add(s, " | ");
        }
        vt_string_format(s, "%s | %s | %s | %s", VT_BYTES(p->peak_bytes), VT_BYTES(p->live_bytes),
                         p->leak_count ? VT_BYTES(p->leaked_bytes) : "none", end);
        if (p->restart)
            vt_string_format(s, ", start %u", p->restart + 1);
        vt_string_add(s, " |");
        if (commands) {
            vt_string_add(s, " ");
            vt_markdown_code(s, command, true);
            vt_string_add(s, " |");
        }
        vt_string_add(s, "\n");
        free(command);
    }
    if (r->count > count)
        vt_string_format(s, "\nand %s more\n", VT_NUMBER(r->count - count));
    if (r->empty)
        vt_string_format(s, "\n%s more process%s allocated nothing.\n", VT_NUMBER(r->empty),
                         r->empty == 1 ? "" : "es");
    vt_doc_markdown_end(&page->md);
}

static void ranks_sums(struct page *page, const char *title, const char *headline,
                       struct vt_ranks_sums *sums) {
    struct vt_string *s = &page->md.section;
    if (sums->count)
        vt_doc_markdown_heading(&page->md, title, headline);
    for (uint32_t i = 0; i < sums->doc.count; i++) {
        const struct vt_doc_item *row = &sums->doc.items[i];
        vt_string_format(s, "- %s ", VT_BYTES(row->bytes));
        vt_markdown_code(s, row->text, false);
        vt_string_format(s, ", %s%s", row->label, row->label[0] ? ", " : "");
        vt_markdown_text(s, row->source);
        vt_string_add(s, "\n");
    }
    if (sums->left)
        vt_string_format(s, "- and %u more lines\n", sums->left);
    vt_doc_free(&sums->doc);
    vt_doc_markdown_end(&page->md);
}

/* The common part for several processes; the page of the most informative one follows. */
static void many_processes(struct page *page, const struct vt_processes *list) {
    const struct vt_job *f = page->t->model->job;
    struct vt_ranks r;
    struct vt_ranks_sums sums;
    if (!list->many)
        return;
    vt_ranks_make(&r, f);
    ranks_head(page, &r, f);
    for (uint32_t i = 0; i < f->outlier_count && i < LEAKS; i++) {
        struct vt_doc doc = {0};
        vt_ranks_outlier(f, &f->outliers[i], LEAKS, &doc);
        vt_doc_markdown_add(&page->md, &doc);
        vt_doc_free(&doc);
        vt_doc_markdown_end(&page->md);
    }
    vt_ranks_sums(&r, f, VT_SUMS_OF_LEAKS, ROWS, &sums);
    ranks_sums(page, "LEAKS", "in all processes", &sums);
    vt_ranks_sums(&r, f, VT_SUMS_OF_OOMS, ROWS, &sums);
    ranks_sums(page, "OUT OF MEMORY", sums.headline, &sums);
    ranks_table(page, &r, f);
    if (list->count) {
        VT_SCOPED char *stands = vt_ranks_stands_for(&r, f, list->in_job[0]);
        if (stands)
            vt_string_format(&page->md.section, "\n---\n\n%s\n", stands);
        vt_string_add(&page->md.section, "\n");
    }
    vt_ranks_free(&r);
}

/* A page of the text report in a code block: a site's, or the owners'. */
static void as_text(struct page *page, const struct vt_model *model,
                    const struct vt_format_options *options) {
    struct vt_format_options plain = *options;
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    plain.colour = false;
    plain.width = 0;
    plain.blocks = true;
    if (!out)
        return;
    vt_fmt_text_write(model, &plain, out);
    fclose(out);
    bool cut = false;
    unsigned lines = 0;
    for (char *at = text; *at && !cut; at++) {
        lines += *at == '\n';
        cut = lines == LINES - 3 && at[1];
        if (cut)
            at[1] = 0;
    }
    char *shown = vt_formatted("%s%s", text, cut ? "...\n" : "");
    vt_markdown_block(&page->md.text, shown);
    free(shown);
    free(text);
}

int vt_fmt_markdown_write(const struct vt_model *model, const struct vt_format_options *options,
                          FILE *to) {
    struct vt_page out;
    struct vt_processes list;
    struct vt_subject t = {.model = model, .options = options, .digits = model->id_digits};
    struct page page = {.t = &t, .md = {.most = LINES - ENDING}};
    FILE *stream = vt_page_open(&out);
    vt_processes_choose(&list, model, options, false);
    if (options->site || options->by == VT_BY_OWNER) {
        as_text(&page, model, options);
    } else if (list.count) {
        struct vt_doc doc = {.digits = t.digits};
        t.process = list.list[0];
        many_processes(&page, &list);
        vt_report_add_process(&t, &doc);
        vt_doc_markdown_add(&page.md, &doc);
        put_ending(&page, &doc, list.count - 1);
        vt_doc_free(&doc);
    } else if (list.many) {
        many_processes(&page, &list);
        vt_doc_markdown_end(&page.md);
    }
    fputs(page.md.text.text ? page.md.text.text : "", stream);
    vt_processes_free(&list);
    vt_string_free(&page.md.text);
    vt_page_close(&out, false, to);
    return 0;
}
