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

#include "vramtrace/log_format.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* --- the head --- */

enum { COMMAND_COLUMNS = 2 * VT_TEXT_WIDTH };

void vt_text_command(const struct vt_process *p, unsigned width, struct vt_string *s) {
    for (uint32_t i = 0; i < p->command_count; i++) {
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
    if (!p->command_count)
        vt_string_add(s, p->exe ? p->exe : "(command unknown)");
    if (s->text)
        s->length = strlen(vt_printable(s->text));
    /* the JSON has the whole command */
    size_t end = 0;
    if (vt_frame_text_columns(s->text) <= width)
        return;
    for (unsigned columns = 0; columns + 3 < width; columns++) {
        unsigned bytes = vt_utf8_length(s->text + end, s->length - end);
        end += bytes ? bytes : 1;
    }
    if (end < s->length) {
        s->text[end] = 0;
        s->length = end;
        vt_string_add(s, "...");
    }
}

static void exit_text(const struct vt_process *p, char *out, size_t room) {
    if (!strcmp(p->exit_kind, "exited"))
        snprintf(out, room, "exit status %d", p->exit_status);
    else if (!strcmp(p->exit_kind, "signaled"))
        snprintf(out, room, "killed by signal %d (%s)", p->exit_status, strsignal(p->exit_status));
    else if (!strcmp(p->exit_kind, "exec"))
        snprintf(out, room, "replaced itself by exec");
    else if (!strcmp(p->exit_kind, "running"))
        snprintf(out, room, "still running");
    else
        snprintf(out, room, "end not recorded");
}

/* The left and right parts of a line, on two lines if they do not fit on one. */
static void two_sided(const struct vt_text *t, const char *left, const char *right) {
    unsigned l = vt_frame_text_columns(left), r = vt_frame_text_columns(right);
    if (l + 3 + r <= VT_TEXT_WIDTH)
        fprintf(t->out, "%s%*s%s\n", left, (int)(VT_TEXT_WIDTH - l - r), "", right);
    else
        fprintf(t->out, "%s\n%*s%s\n", left, r < VT_TEXT_WIDTH ? (int)(VT_TEXT_WIDTH - r) : 0, "",
                right);
}

static void head(const struct vt_text *t) {
    const struct vt_process *p = t->process;
    struct vt_string command = {0}, right = {0}, left = {0};
    char date[32] = "", ended[96];
    time_t started = (time_t)(p->started_at / 1000000000);
    struct tm tm;
    if (p->started_at && localtime_r(&started, &tm))
        strftime(date, sizeof date, "%Y-%m-%d %H:%M", &tm);
    vt_text_command(p, COMMAND_COLUMNS, &command);
    vt_string_add(&right, p->host ? p->host : "");
    if (p->job)
        vt_string_format(&right, "  job %s", p->job);
    if (p->rank >= 0)
        vt_string_format(&right, "  rank %d", p->rank);
    vt_string_format(&right, "  pid %u  %s", p->pid, date);
    two_sided(t, command.text, vt_printable(right.text));
    exit_text(p, ended, sizeof ended);
    vt_string_format(&left, "%s %s, %s", p->complete ? "ran" : "log up to",
                     VT_DURATION(p->duration), ended);
    right.length = 0;
    vt_string_format(&right, "log %s, %s events, %s dropped",
                     p->complete ? "complete" : "INCOMPLETE", VT_NUMBER(p->events),
                     VT_NUMBER(p->dropped_events));
    two_sided(t, left.text, right.text);
    if (p->simulated)
        fprintf(t->out, "%sSIMULATED GPU%s: memory behaves as on a device, kernels did not run.\n",
                vt_text_style(t, VT_STYLE_WARN), vt_text_style(t, VT_STYLE_NONE));
    if (p->window_since != VT_UNKNOWN || p->window_until != VT_UNKNOWN) {
        fprintf(t->out, "showing only %s to %s of the run\n",
                p->window_since == VT_UNKNOWN ? "the start" : VT_DURATION(p->window_since),
                p->window_until == VT_UNKNOWN ? "the end" : VT_DURATION(p->window_until));
    }
    vt_string_free(&command);
    vt_string_free(&right);
    vt_string_free(&left);
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

bool vt_text_is_usual(const struct vt_text *t) {
    const struct vt_process *p = t->process;
    return !t->options->top && p->python && p->complete && p->window_until == VT_UNKNOWN &&
           !strcmp(p->exit_kind, "exited") && p->exit_status == 0;
}

/* "NAME: all of it allocated at train.py:5 in main". */
static void say_most(const struct vt_text *t, const struct vt_rows *rows, const char *when) {
    const struct vt_row *first = &rows->rows[0];
    const struct vt_frame *outer = vt_rows_caller_elsewhere(first->site->stack);
    char *frame_text =
        vt_frame_text(t->process, vt_stack_main_frame(first->site->stack), VT_TEXT_WIDTH - 2);
    char *caller = outer ? vt_frame_text(t->process, outer, VT_TEXT_WIDTH - 2) : NULL;
    char *line = vt_formatted("%s; %s of it allocated at %s%s%s", when,
                              first->bytes == rows->bytes       ? "all"
                              : first->bytes >= rows->bytes / 2 ? "most"
                                                                : VT_BYTES(first->bytes),
                              frame_text, caller ? ", called from " : "", caller ? caller : "");
    vt_text_wrap(t, "  ", 2, line);
    free(line);
    free(frame_text);
    free(caller);
}

/* Memory that was held at the process's last allocation and freed after it. */
static void held_late(const struct vt_text *t) {
    enum {
        MANY = 8
    }; /* blocks of one call site that accumulated until a program freed them at
                          exit */
    const struct vt_process *p = t->process;
    struct vt_rows rows;
    uint64_t peak = 0;
    vt_rows_make(&rows, t, VT_ROWS_LATE, 0);
    for (uint32_t i = 0; i < p->device_count; i++)
        peak += p->devices[i].peak_bytes;
    const struct vt_row *first = rows.count ? &rows.rows[0] : NULL;
    if (first && rows.bytes >= peak / 4 && (p->python ? rows.blocks > 1 : first->blocks >= MANY)) {
        char *rest = vt_formatted("%s in %s block%s%s", VT_BYTES(rows.bytes),
                                  VT_NUMBER(rows.blocks), vt_plural(rows.blocks),
                                  p->went_bytes ? ", partly when its context was destroyed" : "");
        vt_text_heading(t, VT_STYLE_HEAD, "FREED ONLY AT EXIT", rest);
        say_most(t, &rows, "held until the process's last allocation");
        free(rest);
    }
    vt_rows_free(&rows);
}

/* Says what else may be held if no call site holds device memory: caches and other memory. */
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
    if (p->went_bytes)
        vt_string_format(rest, ", %s of it only when its context was destroyed",
                         VT_BYTES(p->went_bytes));
    if (kept)
        vt_string_add(rest, ", except what caches and CUDA's libraries keep");
    if (apart)
        vt_string_format(rest, "; %s memory was not",
                         !p->managed.live_count  ? "pinned host"
                         : !p->pinned.live_count ? "managed"
                                                 : "pinned host and managed");
}

static void held(const struct vt_text *t) {
    const struct vt_process *p = t->process;
    struct vt_rows rows;
    struct vt_string rest = {0};
    vt_rows_make(&rows, t, VT_ROWS_HELD, 0);
    bool windowed = p->window_until != VT_UNKNOWN, ended = !windowed && p->complete;
    if (!rows.count) {
        say_freed(p, &rest);
        if (!ended)
            vt_string_add(&rest, windowed ? " in this window" : ", as far as the log goes");
        /* green only if the log is complete */
        vt_text_heading(
            t, ended && !p->dropped_events && !p->went_bytes ? VT_STYLE_GOOD : VT_STYLE_HEAD,
            ended ? "NOTHING HELD AT THE END" : "NOTHING HELD", rest.text);
        if (ended)
            held_late(t);
    } else {
        vt_string_format(&rest, "%s in %s allocation%s, by %u %s%s", VT_BYTES(rows.bytes),
                         VT_NUMBER(rows.blocks), vt_plural(rows.blocks), rows.count,
                         vt_rows_noun(t), vt_plural(rows.count));
        if (vt_text_is_usual(t)) {
            vt_text_heading(t, VT_STYLE_HEAD, "HELD UNTIL PYTHON ENDED", rest.text);
            say_most(
                t, &rows,
                "no leak was found; a script keeps its variables to its end (--top 10 lists them)");
            goto out;
        }
        vt_text_heading(t, VT_STYLE_BAD,
                        ended      ? "STILL HELD AT THE END"
                        : windowed ? "HELD AT THE WINDOW'S END"
                                   : "HELD WHERE THE LOG ENDS",
                        rest.text);
        vt_rows_print(&rows, t);
    }
out:
    vt_string_free(&rest);
    vt_rows_free(&rows);
}

/* Memory of no device. */
static void apart(const struct vt_text *t, const char *heading, const struct vt_apart *books,
                  enum vt_rows_what what) {
    struct vt_rows rows;
    if (!books->alloc_count && !books->peak_bytes && !books->failed_count)
        return;
    char *rest = vt_formatted("%s held in %s allocation%s; peak %s", VT_BYTES(books->live_bytes),
                              VT_NUMBER(books->live_count), vt_plural(books->live_count),
                              VT_BYTES(books->peak_bytes));
    vt_text_heading(t, VT_STYLE_HEAD, heading, rest);
    vt_rows_make(&rows, t, what, 0);
    if (rows.count)
        vt_rows_print(&rows, t);
    vt_rows_free(&rows);
    free(rest);
}

/* --- what to do next --- */

/* The site of the report's largest row: of a leak, else of the fullest device's peak, else of other
 * memory. NULL: it shows none. */
static const struct vt_site *shown_site(const struct vt_text *t) {
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

static void next(const struct vt_text *t) {
    enum { LINES = 4 };
    static const char *const what[LINES] = {"its stack and numbers", "what keeps it",
                                            "the same for programs", "did the fix work?"};
    const struct vt_process *p = t->process;
    const char *log = t->options->found ? "" : p->log, *gap = t->options->found ? "" : " ";
    const struct vt_site *site = shown_site(t);
    const struct vt_snapshot *owners = vt_process_snapshot_shown(p);
    char *lines[LINES] = {0};
    if (site)
        lines[0] = vt_printable(
            vt_formatted("vramtrace report --site %.*s%s%s", (int)t->digits, site->name, gap, log));
    if (owners && owners->owner_count && !t->options->owners)
        lines[1] = vt_printable(vt_formatted("vramtrace report --by owner%s%s", gap, log));
    lines[2] = vt_printable(vt_formatted("vramtrace report --format json%s%s", gap, log));
    if (p->leak_count)
        lines[3] = vt_strdup("vramtrace diff BEFORE AFTER");
    fputc('\n', t->out);
    bool first = true;
    for (int i = 0; i < LINES; i++) {
        if (!lines[i])
            continue;
        unsigned columns = vt_frame_text_columns(lines[i]);
        unsigned gap_columns = columns < 47 ? 47 - columns : 2;
        bool fits = 6 + columns + gap_columns + strlen(what[i]) <= VT_TEXT_WIDTH;
        fprintf(t->out, "%s%s%s  %s", vt_text_style(t, VT_STYLE_HEAD), first ? "NEXT" : "    ",
                vt_text_style(t, VT_STYLE_NONE), lines[i]);
        if (fits)
            fprintf(t->out, "%*s%s%s%s", (int)gap_columns, "", vt_text_style(t, VT_STYLE_DIM),
                    what[i], vt_text_style(t, VT_STYLE_NONE));
        fputc('\n', t->out);
        first = false;
        free(lines[i]);
    }
}

static void process(const struct vt_text *t) {
    const struct vt_process *p = t->process;
    head(t);
    if (t->options->site) {
        for (uint32_t i = 0; i < p->site_count; i++)
            if (vt_site_wanted(&p->sites[i], t->options->site))
                vt_text_site(t, &p->sites[i]);
        return;
    }
    notes(t);
    bool oom_first = vt_text_oom_matters_most(p);
    if (oom_first)
        vt_text_ooms(t);
    vt_text_leaks(t);
    if (!oom_first)
        vt_text_ooms(t);
    if (t->options->owners)
        vt_text_owners(t);
    else if (!p->leak_count)
        held(t);
    for (uint32_t i = 0; i < p->device_count; i++)
        vt_text_device(t, &p->devices[i]);
    apart(t, "MANAGED MEMORY", &p->managed, VT_ROWS_MANAGED);
    apart(t, "PINNED HOST MEMORY", &p->pinned, VT_ROWS_PINNED);
    vt_text_phases(t);
    next(t);
}

int vt_fmt_text_write(const struct vt_model *model, const struct vt_format_options *options,
                      FILE *to) {
    struct vt_page page;
    FILE *out = vt_page_open(&page);
    struct vt_processes processes;
    struct vt_format_options lines = *options;
    struct vt_text t = {.model = model, .options = &lines, .out = out, .digits = model->id_digits};
    if (options->by ==
        VT_BY_OWNER) { /* what was live at the peak, or before the end, has no owner */
        lines.by = VT_BY_LINE;
        lines.owners = true;
    }
    if (options->heading)
        fprintf(out, "%s\n\n", options->heading);
    vt_processes_choose(&processes, model, options);
    if (!options->site)
        vt_processes_list(&processes, &t);
    for (uint32_t i = 0; i < processes.count; i++) {
        t.process = processes.list[i];
        if (i) {
            fputc('\n', out);
            for (unsigned j = 0; j < VT_TEXT_WIDTH; j++)
                fputc('=', out);
            fputs("\n\n", out);
        }
        process(&t);
    }
    if (processes.count == 1 && !options->site && processes.empty) {
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
                        .process = model->processes};
    head(&t);
    vt_text_owners(&t);
    vt_page_close(&page, options->colour, to);
    return 0;
}
