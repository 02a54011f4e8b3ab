/* SPDX-License-Identifier: MIT */
/*
 * What a report says of the process, of what is held if there is no leak, and of what to do next (see
 * words.h).
 */
#include "fmt_text.h"
#include "words.h"

#include "vramtrace/log_format.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

char *vt_words_ended(const struct vt_process *p) {
    char *ending = vt_words_ending(p->ending, VT_ENDING_PHRASE);
    char *ended = vt_formatted("%s, %s", VT_DURATION(p->duration), ending);
    free(ending);
    return ended;
}

char *vt_words_date(uint64_t realtime) {
    char date[32] = "";
    time_t started = (time_t)(realtime / 1000000000);
    struct tm tm;
    if (realtime && localtime_r(&started, &tm))
        strftime(date, sizeof date, "%Y-%m-%d %H:%M", &tm);
    return vt_strdup(date);
}

static char *where(const struct vt_process *p, const char *job) {
    struct vt_string s = {0};
    char *date = vt_words_date(p->started_at);
    vt_string_add(&s, p->host ? p->host : "");
    if (job)
        vt_string_format(&s, "  job %s", job);
    if (p->rank >= 0)
        vt_string_format(&s, "  rank %d", p->rank);
    if (p->rank >= 0 && p->world_size)
        vt_string_format(&s, " of %u", p->world_size);
    if (p->restart)
        vt_string_format(&s, ", restart %u", p->restart);
    vt_string_format(&s, "  pid %u  %s", p->pid, date);
    free(date);
    return vt_printable(s.text);
}

char *vt_words_where(const struct vt_process *p, unsigned width) {
    enum {
        TOLD_APART = 8 /* this much of a UUID tells jobs apart */
    };
    char *whole = where(p, p->job);
    unsigned columns = vt_frame_text_columns(whole);
    if (!width || columns <= width || !p->job)
        return whole;
    unsigned job = vt_frame_text_columns(p->job), over = columns - width;
    char *cut = vt_text_cut(p->job, job > over + TOLD_APART ? job - over : TOLD_APART);
    free(whole);
    whole = where(p, cut);
    free(cut);
    return whole;
}

char *vt_words_log(const struct vt_process *p) {
    const char *how = !p->complete ? "INCOMPLETE" : p->dropped_events ? "WITH GAPS" : "complete";
    return vt_formatted("%s, %s events, %s dropped", how, VT_NUMBER(p->events),
                        VT_NUMBER(p->dropped_events));
}

/* --- what is held --- */

bool vt_words_usual(const struct vt_text *t) {
    const struct vt_process *p = t->process;
    return !t->options->top && p->python && p->complete && p->window_until == VT_UNKNOWN &&
           vt_ended_well(p->ending);
}

/* "held ...; all of it allocated at train.py:5 in main". Free it. */
static char *say_most(const struct vt_text *t, const struct vt_rows *rows, const char *when) {
    const struct vt_row *first = &rows->rows[0];
    const struct vt_frame *outer = vt_rows_caller_elsewhere(first->site->stack);
    char *node = vt_stack_text_node(first->site->stack);
    char *frame_text = vt_stack_text(t->process, first->site->stack, t->width - 2, false);
    char *caller = outer ? vt_frame_text(t->process, outer, t->width - 2) : NULL;
    char *line = vt_formatted("%s; %s of it allocated%s %s%s%s", when,
                              first->bytes == rows->bytes       ? "all"
                              : first->bytes >= rows->bytes / 2 ? "most"
                                                                : VT_BYTES(first->bytes),
                              node ? "" : " at", frame_text, caller ? ", called by " : "",
                              caller ? caller : "");
    free(node);
    free(frame_text);
    free(caller);
    return line;
}

bool vt_words_late(const struct vt_text *t, struct vt_words *words) {
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
    bool worth =
        first && rows.bytes >= peak / 4 && (p->python ? rows.blocks > 1 : first->blocks >= MANY);
    if (worth) {
        words->headline = vt_formatted(
            "%s in %s block%s%s", VT_BYTES(rows.bytes), VT_NUMBER(rows.blocks),
            vt_plural(rows.blocks), p->went_bytes ? ", partly when its context was destroyed" : "");
        words->remark = say_most(t, &rows, "held until the process's last allocation");
    }
    vt_rows_free(&rows);
    return worth;
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

void vt_words_held(const struct vt_text *t, struct vt_words_held *held) {
    const struct vt_process *p = t->process;
    struct vt_rows rows;
    struct vt_string rest = {0};
    vt_rows_make(&rows, t, VT_ROWS_HELD, 0);
    bool windowed = p->window_until != VT_UNKNOWN, ended = !windowed && p->complete;
    *held = (struct vt_words_held){0};
    if (!rows.count) {
        say_freed(p, &rest);
        if (!ended)
            vt_string_add(&rest, windowed ? " in this window" : ", as far as the log goes");
        held->heading = ended ? "NOTHING HELD AT THE END" : "NOTHING HELD";
        /* well only if the log is complete */
        held->bad = ended && !p->dropped_events && !p->went_bytes ? -1 : 0;
        held->freed = ended;
    } else {
        vt_string_format(&rest, "%s in %s allocation%s, by %u %s%s", VT_BYTES(rows.bytes),
                         VT_NUMBER(rows.blocks), vt_plural(rows.blocks), rows.count,
                         vt_rows_noun(t), vt_plural(rows.count));
        held->listed = !vt_words_usual(t);
        held->bad = held->listed;
        held->heading = !held->listed ? "HELD UNTIL PYTHON ENDED"
                        : ended       ? "STILL HELD AT THE END"
                        : windowed    ? "HELD AT THE WINDOW'S END"
                                      : "HELD WHERE THE LOG ENDS";
        if (!held->listed)
            held->remark = say_most(
                t, &rows,
                "no leak was found; a script keeps its variables to its end (--top 10 lists them)");
    }
    held->headline = rest.text;
    vt_rows_free(&rows);
}

void vt_words_held_free(struct vt_words_held *held) {
    free(held->headline);
    free(held->remark);
    *held = (struct vt_words_held){0};
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

void vt_words_next(const struct vt_text *t, struct vt_words *words) {
    const struct vt_process *p = t->process;
    const char *log = t->options->found ? "" : p->log, *gap = t->options->found ? "" : " ";
    const struct vt_site *site = shown_site(t);
    const struct vt_snapshot *owners = vt_process_snapshot_shown(p);
    if (site)
        vt_words_add(
            words, VT_WORDS_TEXT, "its stack and numbers",
            vt_formatted("vramtrace report --site %.*s%s%s", (int)t->digits, site->name, gap, log));
    if (owners && owners->owner_count && !t->options->owners)
        vt_words_add(words, VT_WORDS_TEXT, "what keeps it",
                     vt_formatted("vramtrace report --by owner%s%s", gap, log));
    if (t->options->pictures)
        vt_words_add(words, VT_WORDS_TEXT, "the same as pictures",
                     vt_formatted("vramtrace report --format html -o v.html%s%s", gap, log));
    vt_words_add(words, VT_WORDS_TEXT, "the same for programs",
                 vt_formatted("vramtrace report --format json%s%s", gap, log));
    if (p->leak_count)
        vt_words_add(words, VT_WORDS_TEXT, "did the fix work?",
                     vt_strdup("vramtrace diff BEFORE AFTER"));
}
