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

/* --- held memory --- */

bool vt_report_usual(const struct vt_subject *t) {
    const struct vt_process *p = t->process;
    return !t->options->top && p->python && p->quality.complete && p->window_until == VT_UNKNOWN &&
           vt_ended_well(p->ending);
}

/* "held ...; all of it allocated at train.py:5 in main". Free it. */
static char *say_most(const struct vt_subject *t, const struct vt_rows *rows, const char *when) {
    const struct vt_row *first = &rows->rows[0];
    const struct vt_frame *outer = vt_rows_caller_elsewhere(first->site->stack);
    VT_SCOPED char *node = vt_stack_text_node(first->site->stack);
    VT_SCOPED char *at = vt_stack_text(t->process, first->site->stack, UINT_MAX, false);
    VT_SCOPED char *caller = outer ? vt_frame_text(t->process, outer, UINT_MAX) : NULL;
    return vt_formatted("%s; %s of it allocated%s %s%s%s", when,
                        first->bytes == rows->bytes       ? "all"
                        : first->bytes >= rows->bytes / 2 ? "most"
                                                          : VT_BYTES(first->bytes),
                        node ? "" : " at", at, caller ? ", called by " : "", caller ? caller : "");
}

/* Adds other memory that may be held if no call site holds device memory: caches and the like. */
static void say_freed(const struct vt_process *p, struct vt_string *rest) {
    uint64_t kept = 0;
    bool apart = p->pinned.live_count || p->managed.live_count;
    for (uint32_t i = 0; i < p->device_count; i++)
        kept += p->devices[i].live_count;
    if (!p->site_count) {
        vt_string_add(rest, "nothing was allocated");
        return;
    }
    vt_string_add(rest, apart ? "all GPU memory was freed" : "everything allocated was freed");
    if (p->context_freed_bytes)
        vt_string_format(rest, ", %s of it only when its context was destroyed",
                         VT_BYTES(p->context_freed_bytes));
    if (kept)
        vt_string_add(rest, ", except what caches and CUDA's libraries keep");
    if (apart)
        vt_string_format(rest, "; %s memory was not",
                         !p->managed.live_count  ? "pinned host"
                         : !p->pinned.live_count ? "managed"
                                                 : "pinned host and managed");
}

/* Adds memory that was held at the process's last allocation and freed after it. */
static void say_late(const struct vt_subject *t, struct vt_doc *doc) {
    enum { MANY = 8 }; /* blocks of one call site that a program collected and freed at the end */
    const struct vt_process *p = t->process;
    struct vt_rows rows;
    uint64_t peak = 0;
    vt_rows_make(&rows, t, VT_ROWS_LATE, 0);
    for (uint32_t i = 0; i < p->device_count; i++)
        peak += p->devices[i].peak_bytes;
    const struct vt_row *first = rows.count ? &rows.rows[0] : NULL;
    if (first && rows.bytes >= peak / 4 && (p->python ? rows.blocks > 1 : first->blocks >= MANY)) {
        bool at_exit = false;
        for (uint32_t i = 0; i < p->site_count; i++)
            at_exit |= p->sites[i].at_exit && p->sites[i].held_count;
        vt_doc_heading(doc, VT_STYLE_HEAD, at_exit ? "FREED ONLY AT EXIT" : "FREED AT THE END",
                       "%s in %s block%s%s", VT_BYTES(rows.bytes), VT_NUMBER(rows.blocks),
                       vt_plural(rows.blocks),
                       p->context_freed_bytes ? ", partly when its context was destroyed" : "")
            ->about = "held";
        vt_doc_add(
            doc, VT_DOC_REMARK,
            vt_doc_keep(doc, say_most(t, &rows, "held until the process's last allocation")));
    }
    vt_rows_free(&rows);
}

/* Memory held although there is no leak. */
static void say_held(const struct vt_subject *t, struct vt_doc *doc) {
    const struct vt_process *p = t->process;
    bool windowed = p->window_until != VT_UNKNOWN, ended = !windowed && p->quality.complete;
    bool listed = !vt_report_usual(t);
    const char *title = !listed    ? "HELD UNTIL PYTHON ENDED"
                        : ended    ? "STILL HELD AT THE END"
                        : windowed ? "HELD AT THE WINDOW'S END"
                                   : "HELD WHERE THE LOG ENDS";
    struct vt_rows rows;
    vt_rows_make(&rows, t, VT_ROWS_HELD, 0);
    if (rows.count) {
        vt_doc_heading(doc, listed ? VT_STYLE_BAD : VT_STYLE_HEAD, title,
                       "%s in %s allocation%s, by %u %s%s", VT_BYTES(rows.bytes),
                       VT_NUMBER(rows.blocks), vt_plural(rows.blocks), rows.count, vt_rows_noun(t),
                       vt_plural(rows.count))
            ->about = "held";
    } else {
        struct vt_string rest = {0};
        say_freed(p, &rest);
        if (!ended)
            vt_string_add(&rest, windowed ? " in this window" : ", as far as the log goes");
        /* well only if the log is complete */
        bool well = ended && vt_log_is_whole(&p->quality) && !p->context_freed_bytes;
        vt_doc_heading(doc, well ? VT_STYLE_GOOD : VT_STYLE_HEAD,
                       ended ? "NOTHING HELD AT THE END" : "NOTHING HELD", "%s",
                       vt_doc_keep(doc, rest.text))
            ->about = "held";
    }
    if (rows.count && !listed)
        vt_doc_add(
            doc, VT_DOC_SENTENCE,
            vt_doc_keep(doc, say_most(t, &rows,
                                      "no leak was found; a script keeps its variables until "
                                      "it ends (--top 10 lists them)")));
    else if (rows.count)
        vt_rows_add(&rows, t, doc);
    else if (!rows.count && ended)
        say_late(t, doc);
    vt_rows_free(&rows);
    vt_doc_add(doc, VT_DOC_END, NULL);
}

/* Adds memory outside devices. */
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
    else if (!p->leak_count && !p->nothing_allocated)
        say_held(t, doc);
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
