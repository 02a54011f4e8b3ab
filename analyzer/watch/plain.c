/* SPDX-License-Identifier: MIT */
/*
 * A frame as a document, for --once: what the screen shows.
 */
#include "writers.h"

#include "report/report.h"
#include "strips.h"
#include "watch_words.h"

#include <limits.h>
#include <stdlib.h>

enum { COLUMN = 17 };

/* Adds a row, and takes the text over. */
static void add_row(struct vt_doc *doc, const char *label, char *text) {
    if (text)
        vt_doc_row(doc, label, "%s", vt_doc_keep(doc, text));
}

static void add_device(const struct vt_watch_device *s, struct vt_doc *doc) {
    const struct vt_device *d = s->device;
    bool sized = d->total_bytes != VT_UNKNOWN, known = d->peak_at_ns != VT_UNKNOWN;
    VT_SCOPED char *rate = vt_watch_words_rate(s->rate);
    vt_doc_heading(doc, "", vt_doc_text(doc, "%s", VT_GPU(d->ordinal)), "%s%s%s",
                   d->name ? d->name : "", d->name && sized ? "   " : "",
                   sized ? VT_BYTES(d->total_bytes) : "");
    vt_doc_row(doc, "live", "%s%s%s%s; peak %s%s%s", VT_BYTES(d->live_bytes), rate[0] ? ", " : "",
               rate, rate[0] ? "/s" : "", VT_BYTES(d->peak_bytes), known ? " at " : "",
               known ? VT_DURATION(d->peak_at_ns) : "");
}

static void add_bar(const struct vt_watch_device *s, struct vt_doc *doc) {
    struct vt_doc_parts *parts = vt_doc_own(doc, vt_alloc(1, sizeof *parts));
    VT_SCOPED_STRING legend = {0};
    for (unsigned i = 0; i < VT_STRIPS; i++) {
        uint64_t bytes = vt_strip_bytes(s, i);
        if (!bytes)
            continue;
        const struct vt_strip_look *look = &vt_strip_looks[i];
        parts->parts[parts->count++] = (struct vt_doc_part){
            .letter = look->letter, .name = look->name, .style = "", .bytes = bytes, .text = ""};
        parts->whole += bytes;
        vt_string_format(&legend, "  %c %s %s", look->letter, look->name, VT_BYTES(bytes));
    }
    vt_doc_add(doc, VT_DOC_BAR, NULL)->parts = parts;
    if (parts->count)
        vt_doc_line(doc, "%s", legend.text);
}

static void add_course(const struct vt_watch_process *w, const struct vt_watch_device *s,
                       struct vt_doc *doc) {
    enum { PARTS = 48 };
    struct vt_strip_course course;
    struct vt_levels *levels = vt_doc_own(doc, vt_alloc(1, sizeof *levels));
    VT_SCOPED struct vt_strip_level *parts = vt_strips_course(s, w->now, PARTS, &course);
    levels->bytes = vt_doc_own(doc, vt_alloc(PARTS, sizeof *levels->bytes));
    levels->count = PARTS;
    for (unsigned i = 0; i < PARTS; i++)
        levels->bytes[i] = parts[i].in_use;
    struct vt_doc_item *item = vt_doc_add(doc, VT_DOC_COURSE, NULL);
    item->label = vt_doc_text(doc, "last %s", VT_DURATION(course.span));
    item->levels = levels;
    item->bytes = item->scale = course.highest;
}

static void add_lines(const struct vt_watch_process *w, uint32_t top, struct vt_doc *doc) {
    static const struct vt_doc_column columns[] = {
        {"held", 0, 10, .right = true},       {"share", 2, 5, .right = true},
        {"blocks", 1, 9, .right = true},      {"per second", 1, 13, .right = true},
        {"allocated at", 2, 0, .code = true},
    };
    uint64_t left = 0;
    if (!w->line_count)
        return;
    vt_doc_line(doc, "%s", "");
    vt_doc_table(doc, columns, sizeof columns / sizeof *columns);
    for (uint32_t i = 0; i < w->line_count; i++) {
        const struct vt_watch_line *line = &w->lines[i];
        if (i >= top) {
            left += line->bytes;
            continue;
        }
        VT_SCOPED char *rate = vt_watch_words_rate(line->rate);
        VT_SCOPED char *place = vt_stack_text(w->process, line->site->stack, UINT_MAX, false);
        VT_SCOPED char *share = vt_watch_words_share(line);
        char *hint = vt_doc_keep(doc, vt_watch_words_hint(w, line));
        vt_doc_cells(doc, VT_BYTES(line->bytes), share, VT_NUMBER(line->blocks), rate, place);
        if (line->site->caller)
            vt_doc_add(doc, VT_DOC_CALLER,
                       vt_doc_keep(doc, vt_frame_text(w->process, line->site->caller, UINT_MAX)));
        if (hint)
            vt_doc_add(doc, VT_DOC_MORE, hint);
    }
    if (w->line_count > top)
        vt_doc_rest(doc, left, "in %u more lines", w->line_count - top);
}

static void add_owners(const struct vt_watch_process *w, uint32_t top, struct vt_doc *doc) {
    const struct vt_snapshot *shot = w->snapshot;
    if (!shot)
        return;
    VT_SCOPED char *moment = vt_snapshot_moment(shot);
    const struct vt_doc_column columns[] = {
        {"held", 0, 10, .right = true},
        {"blocks", 2, 9, .right = true},
        {vt_doc_text(doc, "kept by, %s", moment), 2, 0, .words = true},
    };
    vt_doc_line(doc, "%s", "");
    vt_doc_table(doc, columns, sizeof columns / sizeof *columns);
    for (uint32_t i = 0; i < w->owner_count && i < top; i++) {
        VT_SCOPED char *text = vt_owner_text(w->process, &w->owners[i].owner, 0);
        vt_doc_cells(doc, VT_BYTES(w->owners[i].bytes), VT_NUMBER(w->owners[i].count), text);
    }
    if (shot->unowned_count > shot->runtime_count)
        vt_doc_cells(doc, VT_BYTES(shot->unowned_bytes - shot->runtime_bytes),
                     VT_NUMBER(shot->unowned_count - shot->runtime_count), "no owner found");
}

static void add_process(const struct vt_watch_process *w, uint32_t top, struct vt_doc *doc) {
    const struct vt_process *p = w->process;
    VT_SCOPED char *state = vt_watch_words_state(w), *who = vt_watch_words_who(w);
    char *where = vt_doc_text(doc, "%s%s%s", who, who[0] ? ", " : "", state);
    vt_doc_add(doc, VT_DOC_SIDES, where)->label =
        vt_doc_keep(doc, vt_watch_words_command(w, UINT_MAX));
    if (w->message)
        vt_doc_row(doc, "", "%s", w->message);
    if (!p)
        return;
    for (uint32_t i = 0; i < p->device_count; i++)
        if (vt_frame_shows(w, i)) {
            add_device(&w->devices[i], doc);
            add_bar(&w->devices[i], doc);
            add_course(w, &w->devices[i], doc);
        }
    if (!p->device_count)
        vt_doc_line(doc, "no device memory has been allocated yet");
    if (p->pinned.live_bytes)
        vt_doc_row(doc, "pinned", "%s of host memory", VT_BYTES(p->pinned.live_bytes));
    if (p->managed.live_bytes)
        vt_doc_row(doc, "managed", "%s", VT_BYTES(p->managed.live_bytes));
    add_row(doc, "phases", vt_watch_words_phases(w));
    add_row(doc, "dropped", vt_watch_words_dropped(w));
    for (uint32_t i = 0; i < p->oom_count && i < 3; i++)
        add_row(doc, "out of memory", vt_watch_words_oom(&p->ooms[p->oom_count - 1 - i]));
    for (uint32_t i = 0; i < p->leak_count && i < top; i++)
        if (vt_frame_shows_leak(p, &p->leaks[i]))
            add_row(doc, i ? "" : "leaks", vt_watch_words_leak(w, &p->leaks[i], UINT_MAX));
    add_lines(w, top, doc);
    add_owners(w, top, doc);
}

void vt_plain_write(const struct vt_watch_frame *frame, uint32_t top, FILE *to) {
    struct vt_doc doc = {.column = COLUMN};
    for (uint32_t i = 0; i < frame->count; i++) {
        if (i)
            vt_doc_line(&doc, "%s", "");
        add_process(frame->processes[i], top, &doc);
    }
    vt_doc_show(&doc, false, to);
    vt_doc_free(&doc);
}
