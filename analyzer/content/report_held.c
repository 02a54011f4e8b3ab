/* SPDX-License-Identifier: MIT */
/*
 * The memory held when the program's own code ended, when it was killed, or where its log ends. It stands on the first
 * screen whenever anything was held: by owner, as far as a snapshot of that moment knows, else by line.
 */
#include "report_doc.h"

#include "vramtrace/log_format.h"

#include <stdlib.h>

enum { OWNERS_SHOWN = 5 };

/* The snapshot of owners at the end: the one of that moment, or one that saw nearly all of what a process held that did
 * not end by itself. NULL: there is none, or nothing was held then. */
static const struct vt_snapshot *snapshot_of_end(const struct vt_process *p) {
    const struct vt_snapshot *s = vt_process_snapshot(p);
    uint64_t live = 0, seen = s ? vt_snapshot_live_bytes(s) : 0;
    if (!s || p->window_until != VT_UNKNOWN || !s->owner_count || !seen)
        return NULL;
    if (s->why == VT_SNAPSHOT_END)
        return s;
    for (uint32_t i = 0; i < p->site_count; i++)
        if (p->sites[i].class == VT_CLASS_PROGRAM &&
            (p->sites[i].layer == VT_LAYER_DRIVER || p->sites[i].layer == VT_LAYER_FRAMEWORK))
            live += p->sites[i].live_bytes;
    return !vt_process_ended_itself(p) && seen >= live / 10 * 9 && live >= seen / 10 * 9 ? s : NULL;
}

/* "when it was killed": the end of the log. */
static const char *end_text(const struct vt_process *p) {
    static const char *const texts[] = {
        [VT_END_UNKNOWN] = "where the log ends",    [VT_END_EXITED] = "when it ended",
        [VT_END_SIGNALED] = "when it was killed",   [VT_END_EXEC] = "when it replaced itself",
        [VT_END_RUNNING] = "when the log was read",
    };
    return p->window_until != VT_UNKNOWN ? "when the window ends"
           : p->quality.gaps             ? "where the log ends"
                                         : texts[p->ending.how];
}

/* Adds the lines that hold memory, or held it at the process's last allocation. */
static void add_lines(const struct vt_subject *t, struct vt_rows *rows, const char *when,
                      struct vt_doc *doc) {
    vt_doc_heading(doc, VT_STYLE_HEAD, "HELD", "%s in %s block%s %s, by %u %s%s",
                   VT_BYTES(rows->bytes), VT_NUMBER(rows->blocks), vt_plural(rows->blocks), when,
                   rows->count, vt_rows_noun(t), vt_plural(rows->count))
        ->about = "held";
    vt_rows_add(rows, t, doc);
}

/* What else may be held if no call site holds device memory: caches and other memory. */
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

static void add_nothing(const struct vt_process *p, struct vt_doc *doc) {
    bool windowed = p->window_until != VT_UNKNOWN, ended = !windowed && p->quality.complete;
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

/* Whether memory that was held at the process's last allocation and freed after it is worth telling: an interpreter
 * freed it, or the program gathered it and freed it at its end. */
static bool late_counts(const struct vt_process *p, const struct vt_rows *late) {
    enum { MANY = 8 }; /* blocks of one call site */
    uint64_t peak = 0;
    for (uint32_t i = 0; i < p->device_count; i++)
        peak += p->devices[i].peak_bytes;
    return late->count && late->bytes >= peak / 4 &&
           (p->python ? late->blocks > 1 : late->rows[0].blocks >= MANY);
}

/* Whether the leaks above are all that is held, so that their lines would stand here again. */
static bool is_all_leaked(const struct vt_process *p, const struct vt_rows *held) {
    return p->leak_count && vt_amount_leaked(p) >= held->bytes;
}

/* The list that the section has. */
enum list { OWNERS, LATE, LINES, ABOVE, NOTHING };

static enum list choose(const struct vt_process *p, const struct vt_rows *held,
                        const struct vt_rows *late) {
    if (snapshot_of_end(p))
        return OWNERS;
    if (late_counts(p, late) && late->bytes / 2 > held->bytes && p->window_until == VT_UNKNOWN &&
        vt_process_ended_itself(p))
        return LATE;
    return !held->count ? NOTHING : is_all_leaked(p, held) ? ABOVE : LINES;
}

void vt_report_add_held(const struct vt_subject *t, struct vt_doc *doc) {
    const struct vt_process *p = t->process;
    struct vt_rows held, late;
    vt_rows_make(&held, t, VT_ROWS_HELD, 0);
    vt_rows_make(&late, t, VT_ROWS_LATE, 0);
    switch (choose(p, &held, &late)) {
    case OWNERS:
        vt_report_add_owners_of(t, snapshot_of_end(p), "HELD",
                                t->options->top ? t->options->top : OWNERS_SHOWN, doc);
        break;
    case LATE:
        add_lines(t, &late, "until the last allocation; freed at the end", doc);
        break;
    case LINES:
        add_lines(t, &held, end_text(p), doc);
        break;
    case NOTHING:
        add_nothing(p, doc);
        break;
    case ABOVE:
        break;
    }
    vt_rows_free(&held);
    vt_rows_free(&late);
    vt_doc_add(doc, VT_DOC_END, NULL);
}

bool vt_report_lists_held(const struct vt_subject *t) {
    struct vt_rows held, late;
    vt_rows_make(&held, t, VT_ROWS_HELD, 0);
    vt_rows_make(&late, t, VT_ROWS_LATE, 0);
    bool lines = choose(t->process, &held, &late) == LINES;
    vt_rows_free(&held);
    vt_rows_free(&late);
    return lines && !t->options->owners;
}
