/* SPDX-License-Identifier: MIT */
/*
 * The report's first screen as GitHub-flavoured Markdown, for a ticket, a chat or an assistant: the
 * sentences of the text report, its lists as tables, memory over time as a line of characters. At most
 * LINES lines: a section that does not fit is left out, and the last line says so.
 */
#include "fmt_text.h"
#include "markdown.h"
#include "ranks.h"
#include "words.h"

#include "vramtrace/log_format.h"

#include <stdlib.h>
#include <string.h>

enum { LINES = 100, ENDING = 10, ROWS = 5, LEAKS = 3, PROCESSES = 8, COLUMNS = 76, WIDTH = 160 };

/* A report that grows by whole sections. */
struct page {
    const struct vt_text *t;
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

/* --- rows of words --- */

static void add_id(struct page *page, const struct vt_site *site) {
    vt_string_format(&page->section, " (site `%.*s`)", (int)page->t->digits, site->name);
}

/* `first`: nothing is above that it could belong to. */
static void row(struct page *page, const struct vt_words_row *row, bool first) {
    struct vt_string *s = &page->section;
    vt_string_add(s, row->label[0] || row->kind == VT_WORDS_HOLDER || first ? "- " : "  - ");
    if (row->label[0])
        vt_string_format(s, "**%s** ", row->label + strspn(row->label, " "));
    if (row->kind == VT_WORDS_CALLER)
        vt_string_add(s, "called by ");
    if (row->bytes != VT_UNKNOWN)
        vt_string_format(s, "%s ", VT_BYTES(row->bytes));
    if (row->kind == VT_WORDS_PLACE || row->kind == VT_WORDS_SOURCE ||
        row->kind == VT_WORDS_CALLER || row->site)
        vt_markdown_code(s, row->text, false);
    else
        vt_markdown_text(s, row->text);
    if (row->site)
        add_id(page, row->site);
    if (row->source) {
        vt_string_add(s, "\n  - ");
        vt_markdown_code(s, row->source, false);
    }
    vt_string_add(s, "\n");
}

static void rows_alone(struct page *page, const struct vt_words *words) {
    for (uint32_t i = 0; i < words->count; i++)
        if (words->rows[i].kind != VT_WORDS_PEAK)
            row(page, &words->rows[i], !i);
}

static void remark(struct page *page, const struct vt_words *words) {
    if (!words->remark)
        return;
    vt_string_add(&page->section, "\n");
    vt_markdown_text(&page->section, words->remark);
    vt_string_add(&page->section, "\n");
}

static void rows(struct page *page, const struct vt_words *words) {
    rows_alone(page, words);
    remark(page, words);
}

/* --- tables --- */

static void table_of_rows(struct page *page, struct vt_rows *list,
                          const struct vt_words_device *d) {
    struct vt_string *s = &page->section;
    const struct vt_text *t = page->t;
    uint32_t most = t->options->top ? t->options->top : ROWS;
    bool peak = list->what == VT_ROWS_PEAK;
    uint64_t left = list->bytes;
    empty_line(s);
    vt_string_format(s, "| held | %s | allocated at | site |\n| ---: | ---: | --- | --- |\n",
                     peak ? "share" : "blocks");
    for (uint32_t i = 0; i < list->count && i < most; i++) {
        const struct vt_row *row = &list->rows[i];
        char share[64];
        if (peak)
            vt_text_share(row->bytes, list->whole, share);
        else
            snprintf(share, sizeof share, "%s", VT_NUMBER(row->blocks));
        char *at = row->site->before ? vt_strdup("(allocated before --since)")
                   : t->options->by > VT_BY_SITE /* of a function's row, callers are many */
                       ? vt_stack_text(t->process, row->site->stack, WIDTH, false)
                       : vt_site_text(t->process, row->site, 2 * WIDTH);
        vt_string_format(s, "| %s | %s | ", VT_BYTES(row->bytes), share);
        vt_markdown_code(s, at, true);
        vt_string_format(s, " | `%.*s` |\n", (int)t->digits, row->site->name);
        left -= row->bytes;
        free(at);
    }
    if (list->count > most)
        vt_string_format(s, "| %s | | in %u more %s%s | |\n", VT_BYTES(left), list->count - most,
                         vt_rows_noun(t), vt_plural(list->count - most));
    for (unsigned i = 0; d && i < d->part_count; i++) {
        char share[64];
        if (!d->parts[i].apart)
            continue;
        vt_text_share(d->parts[i].bytes, list->whole, share);
        vt_string_format(s, "| %s | %s | ", VT_BYTES(d->parts[i].bytes), share);
        vt_markdown_text(s, d->parts[i].text);
        vt_string_add(s, " | |\n");
    }
}

/* The call sites of a leak, the largest; one is a row among the others. */
static void table_of_sites(struct page *page, const struct vt_leak *leak) {
    struct vt_string *s = &page->section;
    const struct vt_process *p = page->t->process;
    uint64_t left = 0;
    if (leak->site_count < 2) {
        vt_string_format(s, "- **site** `%.*s`\n", (int)page->t->digits,
                         p->sites[leak->sites[0]].name);
        return;
    }
    vt_string_add(s, "\n| held | allocated at | site |\n| ---: | --- | --- |\n");
    for (uint32_t i = 0; i < leak->site_count; i++) {
        const struct vt_site *site = &p->sites[leak->sites[i]];
        uint64_t bytes = vt_amount_of_site(site, leak).bytes;
        if (i >= ROWS) {
            left += bytes;
            continue;
        }
        char *at = vt_stack_text(p, site->stack, WIDTH, false);
        vt_string_format(s, "| %s | ", VT_BYTES(bytes));
        vt_markdown_code(s, at, true);
        vt_string_format(s, " | `%.*s` |\n", (int)page->t->digits, site->name);
        free(at);
    }
    if (leak->site_count > ROWS)
        vt_string_format(s, "| %s | in %u more call sites | |\n", VT_BYTES(left),
                         leak->site_count - ROWS);
}

static void table_of_parts(struct page *page, const struct vt_words_device *d) {
    struct vt_string *s = &page->section;
    vt_string_add(s, "\n| part | held | share | |\n| --- | ---: | ---: | --- |\n");
    for (unsigned i = 0; i < d->part_count; i++) {
        const struct vt_words_part *part = &d->parts[i];
        char share[64];
        vt_text_share(part->bytes, d->whole, share);
        vt_string_format(s, "| %s | %s | %s | ", part->name, VT_BYTES(part->bytes), share);
        vt_markdown_text(s, part->text);
        if (part->purposes) {
            vt_string_add(s, part->text[0] ? ": " : "");
            vt_markdown_text(s, part->purposes);
        }
        vt_string_add(s, " |\n");
    }
}

/* --- sections --- */

static void head(struct page *page) {
    const struct vt_process *p = page->t->process;
    struct vt_string *s = &page->section, command = {0};
    char *where = vt_words_where(p, 0), *ended = vt_words_ended(p), *log = vt_words_log(p);
    vt_text_command(p, WIDTH, &command);
    vt_string_add(s, "# vramtrace: ");
    vt_markdown_code(s, command.text, false);
    vt_string_add(s, "\n\n");
    vt_markdown_text(s, where);
    vt_string_format(s, "; %s %s; log %s.\n", p->complete ? "ran" : "log up to", ended, log);
    if (p->simulated)
        vt_string_add(s, "\n**SIMULATED GPU**: " VT_WORDS_SIMULATED "\n");
    if (p->window_since != VT_UNKNOWN || p->window_until != VT_UNKNOWN)
        vt_string_format(s, "\nOnly %s to %s of the run.\n",
                         p->window_since == VT_UNKNOWN ? "the start" : VT_DURATION(p->window_since),
                         p->window_until == VT_UNKNOWN ? "the end" : VT_DURATION(p->window_until));
    for (uint32_t i = 0; i < p->note_count && i < ROWS; i++) {
        vt_string_add(s, "\n> **NOTE** ");
        vt_markdown_text(s, p->notes[i]);
        vt_string_add(s, "\n");
    }
    vt_string_free(&command);
    free(where);
    free(ended);
    free(log);
    end_section(page);
}

static void leaks(struct page *page) {
    const struct vt_process *p = page->t->process;
    for (uint32_t i = 0; i < p->leak_count && i < LEAKS; i++) {
        struct vt_words words = {0};
        vt_words_leak(page->t, &p->leaks[i], &words);
        heading(page, "LEAK", words.headline);
        rows_alone(page, &words);
        table_of_sites(page, &p->leaks[i]);
        remark(page, &words);
        vt_words_free(&words);
        end_section(page);
    }
    if (p->leak_count > LEAKS)
        vt_string_format(&page->section, "\n%u more leak%s, %s.\n", p->leak_count - LEAKS,
                         vt_plural(p->leak_count - LEAKS), VT_BYTES(vt_amount_leaked(p, LEAKS)));
    end_section(page);
}

static void ooms(struct page *page) {
    const struct vt_process *p = page->t->process;
    const struct vt_oom *last = vt_process_oom(p);
    struct vt_words words = {0}, others = {0};
    if (last) {
        vt_words_oom(page->t, last, &words);
        heading(page, "OUT OF MEMORY", words.headline);
        rows(page, &words);
    }
    vt_words_oom_others(p, &others);
    for (uint32_t i = 0; i < others.count; i++) {
        vt_string_add(&page->section, "\n");
        vt_markdown_text(&page->section, others.rows[i].text);
        vt_string_add(&page->section, "\n");
    }
    vt_words_free(&words);
    vt_words_free(&others);
    end_section(page);
}

static void held(struct page *page) {
    struct vt_words_held held;
    struct vt_words late = {0};
    vt_words_held(page->t, &held);
    heading(page, held.heading, held.headline);
    if (held.remark)
        vt_markdown_text(&page->section, held.remark);
    vt_string_add(&page->section, held.remark ? "\n" : "");
    if (held.listed) {
        struct vt_rows list;
        vt_rows_make(&list, page->t, VT_ROWS_HELD, 0);
        table_of_rows(page, &list, NULL);
        vt_rows_free(&list);
    }
    if (held.freed && vt_words_late(page->t, &late)) {
        heading(page, "FREED ONLY AT EXIT", late.headline);
        rows(page, &late);
    }
    vt_words_free(&late);
    vt_words_held_free(&held);
    end_section(page);
}

/* The bar of the text report, and memory over time below it. */
static void picture(struct page *page, const struct vt_device *device,
                    const struct vt_words_device *d) {
    struct vt_string lines = {0};
    struct vt_text_line line;
    vt_text_bar(d, COLUMNS, NULL, &lines);
    vt_string_add(&lines, "\n");
    if (vt_text_line_make(device, COLUMNS, true, &line)) {
        vt_string_format(&lines, " %s\n %s\n", line.line, line.axis);
        vt_text_line_free(&line);
    }
    vt_markdown_block(&page->section, lines.text);
    vt_string_free(&lines);
}

static void device(struct page *page, const struct vt_device *device) {
    struct vt_words_device words = {0};
    vt_words_device(page->t, device, &words);
    heading(page, words.title, words.words.headline);
    if (words.part_count) {
        struct vt_rows list;
        vt_rows_make(&list, page->t, VT_ROWS_PEAK, device->ordinal);
        list.whole = device->peak_bytes > list.bytes ? device->peak_bytes : list.bytes;
        picture(page, device, &words);
        table_of_parts(page, &words);
        vt_string_format(&page->section, "\nThe peak, %s:\n", VT_BYTES(device->peak_bytes));
        table_of_rows(page, &list, &words);
        vt_string_add(&page->section, "\n");
        vt_rows_free(&list);
    }
    rows(page, &words.words);
    vt_words_device_free(&words);
    end_section(page);
}

static void devices(struct page *page) {
    const struct vt_process *p = page->t->process;
    struct vt_words_device unused = {0};
    bool apart = vt_words_devices_unused(p, &unused);
    for (uint32_t i = 0; i < p->device_count; i++)
        if (!apart || vt_words_device_used(&p->devices[i]))
            device(page, &p->devices[i]);
    if (apart) {
        heading(page, unused.title, unused.words.headline);
        end_section(page);
    }
    vt_words_device_free(&unused);
}

static void phases(struct page *page) {
    struct vt_string *s = &page->section;
    uint32_t count, moved, still;
    uint32_t most = page->t->options->top ? page->t->options->top : ROWS;
    struct vt_phase_group *groups =
        vt_phase_groups_make(page->t->process, most, &count, &moved, &still);
    if (count) {
        heading(page, "PHASES", "device memory before and after, all GPUs");
        vt_string_add(s, "| name | times | before | after | peak |\n"
                         "| --- | ---: | ---: | ---: | ---: |\n");
    }
    for (uint32_t i = 0; i < count; i++) {
        const struct vt_phase_group *g = &groups[i];
        vt_string_add(s, "| ");
        vt_markdown_code(s, g->name, true);
        vt_string_format(
            s, " | %s | %s | %s | %s |\n", VT_NUMBER(g->count), VT_BYTES(g->first->live_at_start),
            g->last->live_at_end == VT_UNKNOWN ? "open" : VT_BYTES(g->last->live_at_end),
            VT_BYTES(g->peak_bytes));
    }
    vt_phase_groups_free(groups, count);
    end_section(page);
}

/* What to do next, and what was left out. ENDING lines at most. */
static void ending(struct page *page, uint32_t more_processes) {
    struct vt_words words = {0};
    vt_words_next(page->t, &words);
    if (page->left_out || more_processes)
        vt_string_format(&page->text, "\nLeft out here: %s%s%s.\n",
                         page->left_out ? "parts of this report" : "",
                         page->left_out && more_processes ? " and " : "",
                         more_processes ? "the other processes" : "");
    vt_string_add(&page->text, "\n**NEXT**\n\n");
    for (uint32_t i = 0; i < words.count; i++) {
        vt_string_add(&page->text, "- ");
        vt_markdown_code(&page->text, words.rows[i].text, false);
        vt_string_format(&page->text, " %s\n", words.rows[i].label);
    }
    vt_words_free(&words);
}

/* --- many processes --- */

static void ranks_head(struct page *page, const struct vt_ranks *r, const struct vt_fleet *f) {
    struct vt_string *s = &page->section;
    char *many = vt_words_many(r), *ended = vt_words_all_ended(r, f),
         *date = vt_words_date(r->from);
    const char *job = r->count ? f->processes[r->list[0]].job : NULL;
    struct vt_words notes = {0};
    vt_string_format(s, "# vramtrace: %s\n\n", many);
    if (job) {
        vt_string_add(s, "job ");
        vt_markdown_text(s, job);
        vt_string_add(s, ", ");
    }
    vt_string_format(s, "%s, ran %s: %s.\n", date, VT_DURATION(r->to - r->from), ended);
    vt_words_ranks_notes(r, f, &notes);
    for (uint32_t i = 0; i < notes.count; i++) {
        vt_string_add(s, "\n> **NOTE** ");
        vt_markdown_text(s, notes.rows[i].text);
        vt_string_add(s, "\n");
    }
    vt_words_free(&notes);
    free(many);
    free(ended);
    free(date);
    end_section(page);
}

static void ranks_table(struct page *page, const struct vt_ranks *r, const struct vt_fleet *f) {
    struct vt_string *s = &page->section;
    uint32_t *list = vt_alloc(r->count, sizeof *list);
    uint32_t most = page->t->options->top ? page->t->options->top : PROCESSES;
    uint32_t count = vt_ranks_rows(r, f, most, list);
    bool hosts = r->hosts > 1, commands = r->groups > 1;
    char *totals = vt_words_totals(r);
    heading(page, vt_words_list_heading(r), totals);
    free(totals);
    vt_string_format(s, "| | rank | pid |%s peak | at end | leaks | end |%s\n",
                     hosts ? " host |" : "", commands ? " command |" : "");
    vt_string_format(s, "| --- | ---: | ---: |%s ---: | ---: | ---: | --- |%s\n",
                     hosts ? " --- |" : "", commands ? " --- |" : "");
    for (uint32_t i = 0; i < count; i++) {
        const struct vt_fleet_process *p = &f->processes[list[i]];
        char rank[16] = "", *command = vt_text_cut(p->command ? p->command : "", COLUMNS);
        char *end = vt_words_ending(p->ending, VT_ENDING_COLUMN);
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
        free(end);
    }
    if (r->count > count)
        vt_string_format(s, "\nand %s more\n", VT_NUMBER(r->count - count));
    if (r->empty)
        vt_string_format(s, "\n%s more process%s allocated nothing.\n", VT_NUMBER(r->empty),
                         r->empty == 1 ? "" : "es");
    free(list);
    end_section(page);
}

static void ranks_sums(struct page *page, const char *title, const char *headline,
                       struct vt_words_sums *sums) {
    struct vt_string *s = &page->section;
    if (sums->count)
        heading(page, title, headline);
    for (uint32_t i = 0; i < sums->words.count; i++) {
        const struct vt_words_row *row = &sums->words.rows[i];
        vt_string_format(s, "- %s ", VT_BYTES(row->bytes));
        vt_markdown_code(s, row->text, false);
        vt_string_format(s, ", %s%s", row->label, row->label[0] ? ", " : "");
        vt_markdown_text(s, row->source);
        vt_string_add(s, "\n");
    }
    if (sums->left)
        vt_string_format(s, "- and %u more lines\n", sums->left);
    vt_words_free(&sums->words);
    end_section(page);
}

/* What several processes have in common; the page of the most telling one follows. */
static void many_processes(struct page *page, const struct vt_processes *list) {
    const struct vt_fleet *f = page->t->model->fleet;
    struct vt_ranks r;
    struct vt_words_sums sums;
    if (!list->many)
        return;
    vt_ranks_make(&r, f);
    ranks_head(page, &r, f);
    for (uint32_t i = 0; i < f->outlier_count && i < LEAKS; i++) {
        struct vt_words words = {0};
        vt_words_outlier(f, &f->outliers[i], LEAKS, &words);
        heading(page, "DIFFERS", words.headline);
        rows(page, &words);
        vt_words_free(&words);
        end_section(page);
    }
    vt_words_sums(&r, f, VT_SUMS_OF_LEAKS, ROWS, &sums);
    ranks_sums(page, "LEAKS", "in all processes", &sums);
    vt_words_sums(&r, f, VT_SUMS_OF_OOMS, ROWS, &sums);
    ranks_sums(page, "OUT OF MEMORY", sums.words.headline, &sums);
    ranks_table(page, &r, f);
    if (list->count) {
        char *stands = vt_words_stands_for(&r, f, list->in_fleet[0]);
        if (stands)
            vt_string_format(&page->section, "\n---\n\n%s\n", stands);
        vt_string_add(&page->section, "\n");
        free(stands);
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
    struct vt_text t = {
        .model = model, .options = options, .digits = model->id_digits, .width = WIDTH};
    struct page page = {.t = &t};
    FILE *stream = vt_page_open(&out);
    vt_processes_choose(&list, model, options, false);
    if (options->site || options->by == VT_BY_OWNER) {
        as_text(&page, model, options);
    } else if (list.count) {
        const struct vt_process *p = t.process = list.list[0];
        bool oom_first = vt_words_oom_first(p);
        many_processes(&page, &list);
        head(&page);
        if (oom_first)
            ooms(&page);
        leaks(&page);
        if (!oom_first)
            ooms(&page);
        if (!p->leak_count)
            held(&page);
        devices(&page);
        phases(&page);
        ending(&page, list.count - 1);
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
