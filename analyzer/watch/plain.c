/* SPDX-License-Identifier: MIT */
/*
 * A frame as plain text, for --once: what the screen shows, 80 columns wide and in ASCII.
 */
#include "writers.h"

#include "report/report.h"
#include "strips.h"
#include "watch_words.h"

#include <stdlib.h>

enum { WIDTH = VT_TEXT_WIDTH, BAR = WIDTH - 4, PLACE = WIDTH - 46 };

/* Writes a row of the page and frees the text. */
static void put_row(const char *label, char *text, FILE *out) {
    if (text)
        fprintf(out, "  %-10s %s\n", label, vt_printable(text));
    free(text);
}

static void put_device(const struct vt_watch_process *w, const struct vt_watch_device *s,
                       FILE *out) {
    unsigned widths[VT_STRIPS];
    const struct vt_device *d = s->device;
    VT_SCOPED char *rate = vt_watch_words_rate(s->rate), *name = vt_strdup(d->name ? d->name : "");
    struct vt_strip_course course;
    static const char levels[] = " .:-=+*#%@";
    fprintf(out, "%s  %s%s%s live", VT_GPU(d->ordinal), vt_printable(name), name[0] ? "  " : "",
            VT_BYTES(d->live_bytes));
    if (d->total_bytes != VT_UNKNOWN)
        fprintf(out, " of %s", VT_BYTES(d->total_bytes));
    fprintf(out, "; peak %s", VT_BYTES(d->peak_bytes));
    if (d->peak_at_ns != VT_UNKNOWN)
        fprintf(out, " at %s", VT_DURATION(d->peak_at_ns));
    fprintf(out, "%s%s%s\n  [", rate[0] ? "; " : "", rate, rate[0] ? "/s" : "");
    vt_strips_bar(s, BAR, widths);
    for (unsigned i = 0; i < VT_STRIPS; i++)
        for (unsigned k = 0; k < widths[i]; k++)
            fputc(vt_strip_looks[i].letter, out);
    fputs("]", out);
    const char *before = "\n  ";
    for (unsigned i = 0; i < VT_STRIPS; i++)
        if (vt_strip_bytes(s, i))
            fprintf(out, "%s%c %s %s", before, vt_strip_looks[i].letter, vt_strip_looks[i].name,
                    VT_BYTES(vt_strip_bytes(s, i))),
                before = "   ";
    VT_SCOPED struct vt_strip_level *columns = vt_strips_course(s, w->now, BAR, &course);
    fputs("\n  [", out);
    for (unsigned i = 0; i < BAR; i++)
        fputc(levels[course.highest ? (columns[i].in_use * 9 + course.highest - 1) / course.highest
                                    : 0],
              out);
    fprintf(out, "]\n  in use, the last %s; the top is %s\n", VT_DURATION(course.span),
            VT_BYTES(course.highest));
}

static void put_lines(const struct vt_watch_process *w, uint32_t top, FILE *out) {
    if (w->line_count)
        fprintf(out, "\n%10s  %5s %9s %13s  %s\n", "held", "share", "blocks", "per second",
                "allocated at");
    for (uint32_t i = 0; i < w->line_count && i < top; i++) {
        const struct vt_watch_line *line = &w->lines[i];
        VT_SCOPED char *rate = vt_watch_words_rate(line->rate),
                       *hint = vt_watch_words_hint(w, line);
        VT_SCOPED char *place = vt_site_text(w->process, line->site, PLACE);
        VT_SCOPED char *share = vt_watch_words_share(line);
        fprintf(out, "%10s  %5s %9s %13s  %s\n", VT_BYTES(line->bytes), share,
                VT_NUMBER(line->blocks), rate, vt_printable(place));
        if (hint)
            fprintf(out, "%12s%s\n", "", vt_printable(hint));
    }
    if (w->line_count > top)
        fprintf(out, "%10s  in %u more lines\n", "", w->line_count - top);
}

static void put_owners(const struct vt_watch_process *w, uint32_t top, FILE *out) {
    const struct vt_snapshot *shot = w->snapshot;
    if (!shot)
        return;
    VT_SCOPED char *moment = vt_snapshot_moment(shot);
    fprintf(out, "\n%10s  %9s  kept by, %s\n", "held", "blocks", vt_printable(moment));
    for (uint32_t i = 0; i < w->owner_count && i < top; i++) {
        VT_SCOPED char *text = vt_owner_text(w->process, &w->owners[i].owner, 0);
        fprintf(out, "%10s  %9s  %s\n", VT_BYTES(w->owners[i].bytes), VT_NUMBER(w->owners[i].count),
                vt_printable(text));
    }
    if (shot->unowned_count > shot->runtime_count)
        fprintf(out, "%10s  %9s  no owner found\n",
                VT_BYTES(shot->unowned_bytes - shot->runtime_bytes),
                VT_NUMBER(shot->unowned_count - shot->runtime_count));
}

static void put_process(const struct vt_watch_process *w, uint32_t top, FILE *out) {
    const struct vt_process *p = w->process;
    VT_SCOPED char *state = vt_watch_words_state(w), *who = vt_watch_words_who(w);
    VT_SCOPED char *command = vt_watch_words_command(w, WIDTH);
    fprintf(out, "%s\n%s%s%s\n", vt_printable(command), who, who[0] ? ", " : "",
            vt_printable(state));
    if (w->message)
        put_row("", vt_strdup(w->message), out);
    if (!p)
        return;
    for (uint32_t i = 0; i < p->device_count; i++)
        if (vt_frame_shows(w, i))
            put_device(w, &w->devices[i], out);
    if (!p->device_count)
        fputs("no device memory has been allocated yet\n", out);
    if (p->pinned.live_bytes)
        put_row("pinned", vt_formatted("%s of host memory", VT_BYTES(p->pinned.live_bytes)), out);
    if (p->managed.live_bytes)
        put_row("managed", vt_strdup(VT_BYTES(p->managed.live_bytes)), out);
    put_row("phases", vt_watch_words_phases(w), out);
    put_row("dropped", vt_watch_words_dropped(w), out);
    for (uint32_t i = 0; i < p->oom_count && i < 3; i++)
        put_row("out of memory", vt_watch_words_oom(&p->ooms[p->oom_count - 1 - i]), out);
    for (uint32_t i = 0; i < p->leak_count && i < top; i++)
        if (vt_frame_shows_leak(p, &p->leaks[i]))
            put_row(i ? "" : "leaks", vt_watch_words_leak(w, &p->leaks[i], WIDTH - 40), out);
    put_lines(w, top, out);
    put_owners(w, top, out);
}

void vt_plain_write(const struct vt_watch_frame *frame, uint32_t top, FILE *to) {
    struct vt_page page;
    FILE *out = vt_page_open(&page);
    for (uint32_t i = 0; i < frame->count; i++) {
        if (i)
            fputc('\n', out);
        put_process(frame->processes[i], top, out);
    }
    vt_page_close(&page, false, to);
}
