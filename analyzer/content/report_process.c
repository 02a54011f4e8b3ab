/* SPDX-License-Identifier: MIT */
/*
 * The report on the process, on held memory if there is no leak, and on commands to run next (see report_doc.h).
 */
#include "report_doc.h"

#include "vramtrace/log_format.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

char *vt_ended_text(const struct vt_process *p) {
    VT_SCOPED char *ending = vt_ending_text(p->ending, VT_ENDING_PHRASE);
    return vt_formatted("%s, %s", VT_DURATION(p->duration), ending);
}

char *vt_date_text(uint64_t realtime) {
    char date[32] = "";
    time_t started = (time_t)(realtime / 1000000000);
    struct tm tm;
    if (realtime && localtime_r(&started, &tm))
        strftime(date, sizeof date, "%Y-%m-%d %H:%M", &tm);
    return vt_strdup(date);
}

/* "gpu17  job 991204  rank 0  pid 48213  2026-11-21 09:14". Free it. */
static char *where(const struct vt_process *p) {
    struct vt_string s = {0};
    VT_SCOPED char *date = vt_date_text(p->started_at);
    vt_string_add(&s, p->host ? p->host : "");
    if (p->job)
        vt_string_format(&s, "  job %s", p->job);
    if (p->rank >= 0)
        vt_string_format(&s, "  rank %d", p->rank);
    if (p->rank >= 0 && p->world_size)
        vt_string_format(&s, " of %u", p->world_size);
    if (p->restart)
        vt_string_format(&s, ", restart %u", p->restart);
    vt_string_format(&s, "  pid %u  %s", p->pid, date);
    return vt_printable(s.text);
}

/* Adds memory of no device. */
static void say_apart(const struct vt_subject *t, const char *title, const struct vt_apart *books,
                      enum vt_rows_what what, struct vt_doc *doc) {
    struct vt_rows rows;
    if (!books->alloc_count && !books->peak_bytes && !books->failed_count)
        return;
    vt_doc_heading(doc, VT_STYLE_HEAD, title, "%s held in %s allocation%s; peak %s",
                   VT_BYTES(books->live_bytes), VT_NUMBER(books->live_count),
                   vt_plural(books->live_count), VT_BYTES(books->peak_bytes));
    vt_rows_make(&rows, t, what, 0);
    if (rows.count)
        vt_rows_add(&rows, t, doc);
    vt_rows_free(&rows);
    vt_doc_add(doc, VT_DOC_END, NULL);
}

/* --- commands to run next --- */

/* The site of the report's largest row: a leak's, else at the fullest device's peak, else other memory's. NULL:
 * there is none. */
static const struct vt_site *shown_site(const struct vt_subject *t) {
    static const enum vt_rows_what whats[] = {VT_ROWS_PEAK, VT_ROWS_MANAGED, VT_ROWS_PINNED};
    const struct vt_process *p = t->process;
    const struct vt_site *site = NULL;
    const struct vt_device *fullest = p->device_count ? &p->devices[0] : NULL;
    if (p->leak_count && p->leaks[0].site_count)
        return &p->sites[p->leaks[0].sites[0]];
    for (uint32_t i = 1; i < p->device_count; i++)
        if (p->devices[i].peak_bytes > fullest->peak_bytes)
            fullest = &p->devices[i];
    for (size_t i = 0; i < sizeof whats / sizeof *whats && !site; i++) {
        struct vt_rows rows;
        vt_rows_make(&rows, t, whats[i], fullest ? fullest->ordinal : 0);
        for (uint32_t row = 0; row < rows.count && !site; row++)
            site = rows.rows[row].site->before ? NULL : rows.rows[row].site;
        vt_rows_free(&rows);
    }
    return site;
}

/* A command about the log, with a description. */
static void say_command(const struct vt_subject *t, const char *shows, const char *command,
                        struct vt_doc *doc) {
    const char *log = t->options->found ? "" : t->process->log;
    const char *text =
        vt_doc_text(doc, "vramtrace report %s%s%s", command, t->options->found ? "" : " ", log);
    vt_doc_add(doc, VT_DOC_COMMAND, text)->label = shows;
}

static void say_next(const struct vt_subject *t, struct vt_doc *doc) {
    const struct vt_process *p = t->process;
    const struct vt_site *site = shown_site(t);
    const struct vt_snapshot *owners = vt_process_snapshot_shown(p);
    struct vt_doc_item *section = vt_doc_add(doc, VT_DOC_SECTION, NULL);
    section->label = "NEXT";
    section->about = "next";
    if (site)
        say_command(t, "its stack and numbers",
                    vt_doc_text(doc, "--site %.*s", (int)t->digits, site->name), doc);
    if (owners && owners->owner_count && !t->options->owners)
        say_command(t, "what keeps it", "--by owner", doc);
    if (t->options->pictures)
        say_command(t, "the same as pictures", "--format html -o v.html", doc);
    say_command(t, "the same for programs", "--format json", doc);
    if (p->leak_count)
        vt_doc_add(doc, VT_DOC_COMMAND, "vramtrace diff BEFORE AFTER")->label = "did the fix work?";
}

/* --- the document --- */

void vt_report_add_simulated(struct vt_doc *doc) {
    struct vt_doc_item *item =
        vt_doc_line(doc, ": memory behaves as on a device, kernels did not run.");
    item->label = "SIMULATED GPU";
    item->style = VT_STYLE_WARN;
}

void vt_report_add_head(const struct vt_subject *t, struct vt_doc *doc) {
    const struct vt_process *p = t->process;
    VT_SCOPED char *ended = vt_ended_text(p);
    vt_doc_add(doc, VT_DOC_SIDES, vt_doc_keep(doc, where(p)))->label =
        vt_doc_keep(doc, vt_command_text(p));
    vt_doc_add(doc, VT_DOC_SIDES,
               vt_doc_text(doc, "log %s, %s events, %s dropped",
                           !p->quality.complete ? "INCOMPLETE"
                           : p->quality.missing ? "WITH GAPS"
                                                : "complete",
                           VT_NUMBER(p->events), VT_NUMBER(p->quality.missing)))
        ->label = vt_doc_text(doc, "%s %s", p->quality.complete ? "ran" : "log up to", ended);
    if (p->simulated)
        vt_report_add_simulated(doc);
    if (p->window_since != VT_UNKNOWN || p->window_until != VT_UNKNOWN)
        vt_doc_line(doc, "showing only %s to %s of the run",
                    p->window_since == VT_UNKNOWN ? "the start" : VT_DURATION(p->window_since),
                    p->window_until == VT_UNKNOWN ? "the end" : VT_DURATION(p->window_until));
}

static void say_notes(const struct vt_process *p, struct vt_doc *doc) {
    for (uint32_t i = 0; i < p->note_count; i++) {
        if (!i)
            vt_doc_add(doc, VT_DOC_LINE, NULL);
        struct vt_doc_item *item =
            vt_doc_add(doc, VT_DOC_NOTE, vt_doc_text(doc, "%s", p->notes[i]));
        item->label = "NOTE";
        item->column = 6;
    }
}

void vt_report_add_process(const struct vt_subject *t, struct vt_doc *doc) {
    const struct vt_process *p = t->process;
    bool oom_first = vt_report_oom_first(p);
    vt_report_add_head(t, doc);
    say_notes(p, doc);
    vt_doc_add(doc, VT_DOC_END, NULL);
    if (oom_first)
        vt_report_add_ooms(t, doc);
    vt_report_add_leaks(t, doc);
    if (!oom_first)
        vt_report_add_ooms(t, doc);
    if (t->options->owners)
        vt_report_add_owners(t, doc);
    else if (!p->nothing_allocated)
        vt_report_add_held(t, doc);
    if (t->brief)
        return;
    vt_report_add_devices(t, doc);
    say_apart(t, "MANAGED MEMORY", &p->managed, VT_ROWS_MANAGED, doc);
    say_apart(t, "PINNED HOST MEMORY", &p->pinned, VT_ROWS_PINNED, doc);
    vt_report_add_phases(t, doc);
    say_next(t, doc);
}

/* Quoted where a shell would not take it as one word. */
static void add_word(struct vt_string *s, const char *word) {
    if (word[0] && !strpbrk(word, " \t\n'\"\\$&|;<>()*?[]#~`!{}")) {
        vt_string_add(s, word);
        return;
    }
    vt_string_add(s, "'");
    for (; *word; word++)
        if (*word == '\'')
            vt_string_add(s, "'\\''");
        else
            vt_string_add_bytes(s, word, 1);
    vt_string_add(s, "'");
}

char *vt_command_text(const struct vt_process *p) {
    struct vt_string s = {0};
    if (p->task)
        return vt_printable(vt_formatted("%s (child of pid %u)", p->task, p->ppid));
    for (uint32_t i = 0; i < p->command_count; i++) {
        vt_string_add(&s, i ? " " : "");
        add_word(&s, p->command[i]);
    }
    if (!p->command_count)
        vt_string_add(&s, p->exe ? p->exe : "(command unknown)");
    return vt_printable(s.text);
}
