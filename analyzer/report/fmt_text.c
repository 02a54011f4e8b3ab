/* SPDX-License-Identifier: MIT */
/*
 * The report for people: 80 columns, the most important first. It begins with what is still held,
 * by call site, the largest first; then comes each device at its peak, with its parts; then what to
 * do next.
 *
 * The lists of call sites are in text_rows.c, a device in text_device.c, the page of one site in
 * text_site.c.
 */
#include "fmt_text.h"
#include "words.h"

#include <stdlib.h>
#include <string.h>

/* --- the head --- */

void vt_text_command(const struct vt_process *p, unsigned width, struct vt_string *s) {
    if (p->task)
        vt_string_format(s, "%s (child of pid %u)", p->task, p->ppid);
    for (uint32_t i = 0; i < p->command_count && !p->task; i++) {
        const char *word = p->command[i];
        bool plain = word[0] && !strpbrk(word, " \t\n'\"\\$&|;<>()*?[]#~`!{}");
        vt_string_format(s, i ? " " : "");
        if (plain) {
            vt_string_add(s, word);
            continue;
        }
        vt_string_add(s, "'");
        for (; *word; word++)
            if (*word == '\'')
                vt_string_add(s, "'\\''");
            else
                vt_string_add_bytes(s, word, 1);
        vt_string_add(s, "'");
    }
    if (!p->command_count && !p->task)
        vt_string_add(s, p->exe ? p->exe : "(command unknown)");
    if (s->text)
        s->length = strlen(vt_printable(s->text));
    /* the JSON has the whole command */
    char *cut = vt_text_cut(s->text, width);
    s->length = 0;
    vt_string_add(s, cut);
    free(cut);
}

void vt_text_two_sided(const struct vt_text *t, const char *left, const char *right) {
    unsigned l = vt_frame_text_columns(left), r = vt_frame_text_columns(right);
    if (l + 3 + r <= t->width)
        fprintf(t->out, "%s%*s%s\n", left, (int)(t->width - l - r), "", right);
    else
        fprintf(t->out, "%s\n%*s%s\n", left, r < t->width ? (int)(t->width - r) : 0, "", right);
}

static void head(const struct vt_text *t) {
    const struct vt_process *p = t->process;
    struct vt_string command = {0};
    char *where = vt_words_where(p, t->width), *ended = vt_words_ended(p), *log = vt_words_log(p);
    char *ran = vt_formatted("%s %s", p->complete ? "ran" : "log up to", ended);
    char *about = vt_formatted("log %s", log);
    vt_text_command(p, 2 * t->width, &command);
    vt_text_two_sided(t, command.text, where);
    vt_text_two_sided(t, ran, about);
    if (p->simulated)
        fprintf(t->out, "%sSIMULATED GPU%s: %s\n", vt_text_style(t, VT_STYLE_WARN),
                vt_text_style(t, VT_STYLE_NONE), VT_WORDS_SIMULATED);
    if (p->window_since != VT_UNKNOWN || p->window_until != VT_UNKNOWN) {
        fprintf(t->out, "showing only %s to %s of the run\n",
                p->window_since == VT_UNKNOWN ? "the start" : VT_DURATION(p->window_since),
                p->window_until == VT_UNKNOWN ? "the end" : VT_DURATION(p->window_until));
    }
    vt_string_free(&command);
    free(where);
    free(ended);
    free(log);
    free(ran);
    free(about);
}

static void notes(const struct vt_text *t) {
    const struct vt_process *p = t->process;
    for (uint32_t i = 0; i < p->note_count; i++) {
        char *note = vt_printable(vt_strdup(p->notes[i]));
        if (!i)
            fputc('\n', t->out);
        vt_text_wrap(t, "NOTE", 6, note);
        free(note);
    }
}

/* --- what is held --- */

/* Writes what was added. */
static void flush(struct vt_doc *doc, const struct vt_text *t) {
    vt_doc_print(doc, t);
    vt_doc_free(doc);
}

static void held(const struct vt_text *t) {
    struct vt_words_held held;
    vt_words_held(t, &held);
    vt_text_heading(t,
                    held.bad > 0   ? VT_STYLE_BAD
                    : held.bad < 0 ? VT_STYLE_GOOD
                                   : VT_STYLE_HEAD,
                    held.heading, held.headline);
    if (held.remark)
        vt_text_wrap(t, "  ", 2, held.remark);
    if (held.listed) {
        struct vt_rows rows;
        struct vt_doc doc = {0};
        vt_rows_make(&rows, t, VT_ROWS_HELD, 0);
        vt_rows_add(&rows, t, &doc);
        flush(&doc, t);
        vt_rows_free(&rows);
    }
    struct vt_words late = {0};
    if (held.freed && vt_words_late(t, &late)) {
        vt_text_heading(t, VT_STYLE_HEAD, "FREED ONLY AT EXIT", late.headline);
        vt_text_wrap(t, "  ", 2, late.remark);
    }
    vt_words_free(&late);
    vt_words_held_free(&held);
}

/* Memory of no device. */
static void add_apart(const struct vt_text *t, const char *heading, const struct vt_apart *books,
                      enum vt_rows_what what, struct vt_doc *doc) {
    struct vt_rows rows;
    if (!books->alloc_count && !books->peak_bytes && !books->failed_count)
        return;
    vt_doc_heading(doc, VT_STYLE_HEAD, heading, "%s held in %s allocation%s; peak %s",
                   VT_BYTES(books->live_bytes), VT_NUMBER(books->live_count),
                   vt_plural(books->live_count), VT_BYTES(books->peak_bytes));
    vt_rows_make(&rows, t, what, 0);
    if (rows.count)
        vt_rows_add(&rows, t, doc);
    vt_rows_free(&rows);
}

/* --- what to do next --- */

/* Whether a hint fits beside a command that ends at this column. */
static bool fits_beside(const struct vt_text *t, unsigned column, const struct vt_words_row *row) {
    return 6 + column + 2 + strlen(row->label) <= t->width;
}

static void next(const struct vt_text *t) {
    struct vt_words words = {0};
    unsigned column = 45; /* where the hints stand */
    vt_words_next(t, &words);
    for (uint32_t i = 0; i < words.count; i++) {
        unsigned columns = vt_frame_text_columns(words.rows[i].text);
        if (columns > column && fits_beside(t, columns, &words.rows[i]))
            column = columns;
    }
    fputc('\n', t->out);
    for (uint32_t i = 0; i < words.count; i++) {
        const struct vt_words_row *row = &words.rows[i];
        unsigned columns = vt_frame_text_columns(row->text);
        fprintf(t->out, "%s%s%s  %s", vt_text_style(t, VT_STYLE_HEAD), i ? "    " : "NEXT",
                vt_text_style(t, VT_STYLE_NONE), row->text);
        if (columns <= column && fits_beside(t, column, row))
            fprintf(t->out, "%*s%s%s%s", (int)(column - columns + 2), "",
                    vt_text_style(t, VT_STYLE_DIM), row->label, vt_text_style(t, VT_STYLE_NONE));
        fputc('\n', t->out);
    }
    vt_words_free(&words);
}

static void process(const struct vt_text *t) {
    const struct vt_process *p = t->process;
    struct vt_doc doc = {0};
    head(t);
    if (t->options->site) {
        for (uint32_t i = 0; i < p->site_count; i++)
            if (vt_site_wanted(&p->sites[i], t->options->site))
                vt_text_site(t, &p->sites[i], &doc);
        flush(&doc, t);
        return;
    }
    notes(t);
    bool oom_first = vt_words_oom_first(p);
    if (oom_first)
        vt_text_ooms(t);
    vt_text_leaks(t);
    if (!oom_first)
        vt_text_ooms(t);
    if (t->options->owners)
        vt_text_owners(t, &doc);
    flush(&doc, t);
    if (!t->options->owners && !p->leak_count)
        held(t);
    vt_text_devices(t);
    add_apart(t, "MANAGED MEMORY", &p->managed, VT_ROWS_MANAGED, &doc);
    add_apart(t, "PINNED HOST MEMORY", &p->pinned, VT_ROWS_PINNED, &doc);
    vt_text_phases(t, &doc);
    flush(&doc, t);
    next(t);
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
            vt_text_stands_for(&t, processes.in_fleet[i]);
        process(&t);
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
    head(&t);
    vt_text_owners(&t, &doc);
    flush(&doc, &t);
    vt_page_close(&page, options->colour, to);
    return 0;
}
