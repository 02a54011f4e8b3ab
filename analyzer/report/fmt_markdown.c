/* SPDX-License-Identifier: MIT */
/*
 * The report's first screen as GitHub-flavoured Markdown, for a ticket, a chat or an assistant: the
 * document of the text report (doc.h), its lists as tables, memory over time as a line of characters. At most
 * LINES lines: a section that does not fit is left out, and the last line says so.
 */
#include "fmt_text.h"
#include "markdown.h"

#include <stdlib.h>
#include <string.h>

enum { LINES = 100, ENDING = 10, ROWS = 5, LEAKS = 3, PROCESSES = 8, COLUMNS = 76, WIDTH = 160 };

/* A report that grows by whole sections. */
struct page {
    const struct vt_subject *t;
    struct vt_string text, section;
    unsigned lines;
    unsigned left_out; /* sections */
};

static unsigned count_lines(const char *text) {
    unsigned lines = 0;
    for (; text && *text; text++)
        lines += *text == '\n';
    return lines;
}

/* Takes the section over, if there is room for it. The next one begins with an empty line. */
static void end_section(struct page *page) {
    struct vt_string *s = &page->section;
    while (s->length > 1 && !memcmp(s->text + s->length - 2, "\n\n", 2))
        s->text[--s->length] = 0;
    unsigned lines = count_lines(s->text);
    if (!page->section.length)
        return;
    if (page->lines + lines + ENDING <= LINES) {
        vt_string_add(&page->text, page->section.text);
        page->lines += lines;
    } else {
        page->left_out++;
    }
    vt_string_free(&page->section);
}

/* An empty line, where none is yet. */
static void empty_line(struct vt_string *s) {
    if (s->length < 2 || memcmp(s->text + s->length - 2, "\n\n", 2) != 0)
        vt_string_add(s, "\n");
}

static void heading(struct page *page, const char *title, const char *rest) {
    empty_line(&page->section);
    vt_string_add(&page->section, "## ");
    vt_markdown_text(&page->section, title);
    if (rest && *rest) {
        vt_string_add(&page->section, ": ");
        vt_markdown_text(&page->section, rest);
    }
    vt_string_add(&page->section, "\n\n");
}

/* --- the document --- */

static void put_sentence(struct vt_string *s, const char *before, const char *text) {
    vt_string_add(s, before);
    vt_markdown_text(s, text);
    vt_string_add(s, "\n");
}

/* `first`: nothing is above that it could belong to. */
static void put_row(struct page *page, const struct vt_doc_item *row, bool first) {
    struct vt_string *s = &page->section;
    bool code = row->kind == VT_DOC_PLACE || row->kind == VT_DOC_SOURCE ||
                row->kind == VT_DOC_CALLER || row->site;
    vt_string_add(s, row->label[0] || row->kind == VT_DOC_HOLDER || first ? "- " : "  - ");
    if (row->label[0])
        vt_string_format(s, "**%s** ", row->label + strspn(row->label, " "));
    if (row->kind == VT_DOC_CALLER)
        vt_string_add(s, "called by ");
    if (row->bytes != VT_UNKNOWN)
        vt_string_format(s, "%s ", VT_BYTES(row->bytes));
    if (code)
        vt_markdown_code(s, row->text, false);
    else
        vt_markdown_text(s, row->text);
    if (row->id)
        vt_string_format(s, " (site `%s`)", row->id);
    if (row->source) {
        vt_string_add(s, "\n  - ");
        vt_markdown_code(s, row->source, false);
    }
    vt_string_add(s, "\n");
}

static void put_titles(struct vt_string *s, const struct vt_doc_item *table) {
    empty_line(s);
    for (unsigned c = 0; c < table->count; c++)
        vt_string_format(s, "%s%s%s", c ? " |" : "|", table->columns[c].title[0] ? " " : "",
                         table->columns[c].title);
    for (unsigned c = 0; c < table->count; c++)
        vt_string_format(s, "%s%s", c ? " | " : " |\n| ", table->columns[c].right ? "---:" : "---");
    vt_string_add(s, " |\n");
}

static void put_cells(struct vt_string *s, const struct vt_doc_item *table,
                      const struct vt_doc_item *row) {
    vt_string_add(s, "|");
    for (unsigned c = 0; c < table->count; c++) {
        const struct vt_doc_column *column = &table->columns[c];
        vt_string_add(s, row->cells[c][0] || column->words ? " " : "");
        if (column->code && !row->sentence)
            vt_markdown_code(s, row->cells[c], true);
        else if (column->code || column->words)
            vt_markdown_text(s, row->cells[c]);
        else
            vt_string_add(s, row->cells[c]);
        vt_string_add(s, " |");
    }
    vt_string_add(s, "\n");
}

/* The text stands in the last column but one. */
static void put_rest(struct vt_string *s, const struct vt_doc_item *table,
                     const struct vt_doc_item *rest) {
    vt_string_format(s, "| %s", VT_BYTES(rest->bytes));
    for (unsigned c = 1; c < table->count - 2; c++)
        vt_string_add(s, " |");
    vt_string_format(s, " | %s | |\n", rest->text);
}

/* The bar of the text report, and memory over time below it. */
static void put_bar(struct page *page, const struct vt_doc_item *item) {
    VT_SCOPED_STRING lines = {0};
    VT_SCOPED char *bar = vt_doc_bar(item->parts, COLUMNS, NULL);
    struct vt_text_line line;
    vt_string_format(&lines, "%s\n", bar);
    if (vt_text_line_make(item->device, COLUMNS, true, &line)) {
        vt_string_format(&lines, " %s\n %s\n", line.line, line.axis);
        vt_text_line_free(&line);
    }
    vt_markdown_block(&page->section, lines.text);
}

/* What a process is, in one paragraph below the title. */
static void put_side(struct page *page, const struct vt_doc_item *item, bool title) {
    struct vt_string *s = &page->section;
    if (title) {
        vt_string_add(s, "# vramtrace: ");
        vt_markdown_code(s, item->label, false);
        vt_string_add(s, "\n\n");
        vt_markdown_text(s, item->text);
    } else {
        vt_string_format(s, "; %s; %s.\n", item->label, item->text);
    }
}

static void put_line(struct page *page, const struct vt_doc_item *item) {
    struct vt_string *s = &page->section;
    if (item->label[0])
        vt_string_format(s, "\n**%s**%s\n", item->label, item->text);
    else if (item->text[0])
        put_sentence(s, "\n", item->text);
}

/* Adds the document; its commands are the ending's. */
static void put_doc(struct page *page, const struct vt_doc *doc) {
    struct vt_string *s = &page->section;
    const struct vt_doc_item *table = NULL;
    bool first = true;
    for (uint32_t i = 0; i < doc->count; i++) {
        const struct vt_doc_item *item = &doc->items[i];
        switch (item->kind) {
        case VT_DOC_SIDES:
            put_side(page, item, !i);
            break;
        case VT_DOC_HEADING:
            heading(page, item->label, item->text);
            first = true;
            break;
        case VT_DOC_END:
            end_section(page);
            break;
        case VT_DOC_LINE:
            put_line(page, item);
            break;
        case VT_DOC_NOTE:
            put_sentence(s, "\n> **NOTE** ", item->text);
            break;
        case VT_DOC_SENTENCE:
            put_sentence(s, "", item->text);
            break;
        case VT_DOC_REMARK:
            put_sentence(s, "\n", item->text);
            break;
        case VT_DOC_TABLE:
            table = item;
            put_titles(s, table);
            break;
        case VT_DOC_CELLS:
            put_cells(s, table, item);
            break;
        case VT_DOC_REST:
            put_rest(s, table, item);
            break;
        case VT_DOC_BAR:
            put_bar(page, item);
            break;
        case VT_DOC_COMMAND:
        case VT_DOC_SECTION:
            break;
        default:
            if (table)
                empty_line(s);
            put_row(page, item, first);
            first = false;
        }
        if (item->kind != VT_DOC_CELLS && item->kind != VT_DOC_REST && item->kind != VT_DOC_TABLE)
            table = NULL;
    }
}

/* What to do next, and what was left out. ENDING lines at most. */
static void put_ending(struct page *page, const struct vt_doc *doc, uint32_t more_processes) {
    struct vt_string *s = &page->text;
    if (page->left_out || more_processes)
        vt_string_format(s, "\nLeft out here: %s%s%s.\n",
                         page->left_out ? "parts of this report" : "",
                         page->left_out && more_processes ? " and " : "",
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
    struct vt_string *s = &page->section;
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
    put_doc(page, &notes);
    vt_doc_free(&notes);
    free(many);
    free(ended);
    free(date);
    end_section(page);
}

static void ranks_table(struct page *page, const struct vt_ranks *r, const struct vt_job *f) {
    struct vt_string *s = &page->section;
    VT_SCOPED uint32_t *list = vt_alloc(r->count, sizeof *list);
    uint32_t most = page->t->options->top ? page->t->options->top : PROCESSES;
    uint32_t count = vt_ranks_rows(r, f, most, list);
    bool hosts = r->hosts > 1, commands = r->groups > 1;
    VT_SCOPED char *totals = vt_ranks_totals(r);
    heading(page, vt_ranks_list_heading(r), totals);
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
    end_section(page);
}

static void ranks_sums(struct page *page, const char *title, const char *headline,
                       struct vt_ranks_sums *sums) {
    struct vt_string *s = &page->section;
    if (sums->count)
        heading(page, title, headline);
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
    end_section(page);
}

/* What several processes have in common; the page of the most telling one follows. */
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
        put_doc(page, &doc);
        vt_doc_free(&doc);
        end_section(page);
    }
    vt_ranks_sums(&r, f, VT_SUMS_OF_LEAKS, ROWS, &sums);
    ranks_sums(page, "LEAKS", "in all processes", &sums);
    vt_ranks_sums(&r, f, VT_SUMS_OF_OOMS, ROWS, &sums);
    ranks_sums(page, "OUT OF MEMORY", sums.headline, &sums);
    ranks_table(page, &r, f);
    if (list->count) {
        VT_SCOPED char *stands = vt_ranks_stands_for(&r, f, list->in_job[0]);
        if (stands)
            vt_string_format(&page->section, "\n---\n\n%s\n", stands);
        vt_string_add(&page->section, "\n");
    }
    vt_ranks_free(&r);
}

/* A page of the text report, as it is: that of a site, or of the owners. */
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
    vt_markdown_block(&page->text, shown);
    free(shown);
    free(text);
}

int vt_fmt_markdown_write(const struct vt_model *model, const struct vt_format_options *options,
                          FILE *to) {
    struct vt_page out;
    struct vt_processes list;
    struct vt_subject t = {
        .model = model, .options = options, .digits = model->id_digits, .width = WIDTH};
    struct page page = {.t = &t};
    FILE *stream = vt_page_open(&out);
    vt_processes_choose(&list, model, options, false);
    if (options->site || options->by == VT_BY_OWNER) {
        as_text(&page, model, options);
    } else if (list.count) {
        struct vt_doc doc = {.look = VT_DOC_MARKDOWN, .digits = t.digits};
        t.process = list.list[0];
        many_processes(&page, &list);
        vt_report_add_process(&t, &doc);
        put_doc(&page, &doc);
        put_ending(&page, &doc, list.count - 1);
        vt_doc_free(&doc);
    } else if (list.many) {
        many_processes(&page, &list);
        end_section(&page);
    }
    fputs(page.text.text ? page.text.text : "", stream);
    vt_processes_free(&list);
    vt_string_free(&page.text);
    vt_page_close(&out, false, to);
    return 0;
}
