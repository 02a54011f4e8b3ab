/* SPDX-License-Identifier: MIT */
/*
 * Text panes over the live view: a line's stack, owners, the report, help (see view.h). The text is made again when its
 * subject changes.
 */
#include "view.h"

#include "report/report.h"
#include "screen.h"
#include "watch_words.h"

#include <stdlib.h>
#include <string.h>

/* Page widths for the report; in a narrower terminal Left and Right scroll it. */
enum { WIDTH_LEAST = VT_TEXT_WIDTH, WIDEST = VT_TEXT_WIDEST };
/* Columns of the labels in a stack's pane, and the least columns for the text beside them. */
enum { LABEL_COLUMNS = 15, WORDS_LEAST = 24 };

#define HEADING(text) VT_STYLE_HEAD text VT_STYLE_NONE

static const struct {
    const char *heading, *text;
} help[] = {
    {"KEYS", "  Up Down j k  select a line, scroll text; also PgUp, PgDn, Home, End\n"
             "  Left Right   move long text\n"
             "  Enter        the stack of the line, and the owners of its memory\n"
             "  o            ask the process for its owners: which variables keep the memory\n"
             "  r            the report so far\n"
             "  < > s        sort by the next column; i reverses the order\n"
             "  /            show only lines that have this text; Esc ends it\n"
             "  Tab 1-9      the next process, or one by its number\n"
             "  Space        pause or resume\n"
             "  + -          refresh more often, less often\n"
             "  Esc          back to the lines\n"
             "  q            quit; the process keeps running\n\n"},
    {"THE BAR", "  in use       allocated by the process, and not idle in a caching allocator\n"
                "  cached       kept by caching allocators, not in use\n"
                "  untracked    contexts, loaded code: the driver's figure (under vramtrace run)\n"
                "  others       other processes, likewise\n\n"},
    {"THE TABLE",
     "  PER SECOND   the change over the last minute\n"
     "  yellow       a line that grows with the program's iterations: a leak so far\n\n"
     "Only the log of the process is read; `o` alone asks it for something.\n"},
};

/* The columns left on a line of the screen after an indent. */
static unsigned rest_of(int columns, int indent) {
    return (unsigned)(columns > indent + WORDS_LEAST ? columns - indent : WORDS_LEAST);
}

/* A sentence after a label, wrapped to the screen. */
static void write_words(const char *label, const char *words, int columns, FILE *out) {
    unsigned width = LABEL_COLUMNS + rest_of(columns, LABEL_COLUMNS);
    vt_text_wrap(&(struct vt_text){.out = out, .width = width}, label, LABEL_COLUMNS, words);
}

static void write_frame(const struct vt_process *p, const struct vt_frame *frame, bool source,
                        int columns, FILE *out) {
    VT_SCOPED char *text = vt_frame_text(p, frame, rest_of(columns, 4));
    VT_SCOPED char *line = source ? vt_frame_text_source(p, frame, rest_of(columns, 8)) : NULL;
    fprintf(out, "    %s\n", vt_printable(text));
    if (line)
        fprintf(out, "        %s\n", vt_printable(line));
}

/* Writes first the user's code, then all frames, including libraries. */
static void write_frames(const struct vt_process *p, const struct vt_stack *stack, int columns,
                         FILE *out) {
    bool any = false;
    for (uint32_t i = 0; i < stack->count; i++) {
        any |= vt_stack_frame(stack, i)->user_code;
        if (vt_stack_frame(stack, i)->user_code)
            write_frame(p, vt_stack_frame(stack, i), true, columns, out);
    }
    fputs(any ? "\n" HEADING("WHOLE STACK") "\n" : "", out);
    for (uint32_t i = 0; i < stack->count; i++)
        if (!vt_stack_frame(stack, i)->interpreter)
            write_frame(p, vt_stack_frame(stack, i), false, columns, out);
    if (!stack->count)
        fputs("    unknown (no stack)\n", out);
    if (stack->cut)
        fputs("    outer frames are missing\n", out);
}

static void write_stack(const struct vt_view *v, const struct vt_watch_process *w, int columns,
                        FILE *out) {
    const struct vt_watch_line *line = NULL;
    for (uint32_t i = 0; i < w->line_count; i++)
        if (w->lines[i].key == v->key)
            line = &w->lines[i];
    if (!line) {
        fputs("This line no longer holds memory.\n", out);
        return;
    }
    const struct vt_site *site = line->site;
    VT_SCOPED char *place = vt_stack_text(w->process, site->stack, rest_of(columns, 6), false);
    VT_SCOPED char *hint = vt_watch_words_hint(w, line), *call = vt_stack_key_call_text(site);
    fprintf(out, HEADING("LINE") "  %s\n", vt_printable(place));
    fprintf(out, "  held         %s in %s block%s\n", VT_BYTES(line->bytes),
            VT_NUMBER(line->blocks), vt_plural(line->blocks));
    if (hint)
        write_words("  so far", vt_printable(hint), columns, out);
    if (line->leak && line->leak->why)
        write_words("", line->leak->why, columns, out);
    if (line->sites > 1)
        fprintf(out, "  call sites   %u; the largest is below\n", line->sites);
    fprintf(out, "\n" HEADING("STACK") "  %s, site %s\n", vt_printable(call), site->name);
    write_frames(w->process, site->stack, columns, out);
    fprintf(out, "\n" HEADING("COUNTS") "\n  allocations  %s, %s in all; %s freed\n",
            VT_NUMBER(site->alloc_count), VT_BYTES(site->allocated_bytes),
            VT_NUMBER(site->free_count));
    fprintf(out, "  peak         %s\n", VT_BYTES(site->peak_bytes));
    if (site->first_at != VT_UNKNOWN)
        fprintf(out, "  allocates    from %s to %s\n", VT_DURATION(site->first_at),
                VT_DURATION(site->last_at));
    if (site->oldest_age != VT_UNKNOWN)
        fprintf(out, "  oldest       %s\n", VT_DURATION(site->oldest_age));
    for (uint32_t i = 0; i < site->owned.count && i < 20; i++) {
        VT_SCOPED char *owner = vt_owner_text(w->process, site->owned.owners[i].owner, 0);
        fprintf(out, "%s  %10s  %s\n", i ? "" : "\n" HEADING("KEPT BY") "\n",
                VT_BYTES(site->owned.owners[i].bytes), vt_printable(owner));
    }
}

static void write_owner(const char *held, const char *blocks, const char *role, const char *text,
                        FILE *out) {
    fprintf(out, "%10s  %9s  %-11s  %s\n", held, blocks, role, text);
}

static void write_owners(const struct vt_watch_process *w, FILE *out) {
    const struct vt_snapshot *shot = w->snapshot;
    if (!shot) {
        fputs(HEADING("OWNERS") "\n  No snapshot yet: `o` asks the process for one.\n", out);
        return;
    }
    VT_SCOPED char *moment = vt_snapshot_moment(shot);
    fprintf(out, HEADING("OWNERS") "  %s%s\n", moment,
            shot->complete ? "" : "; the search was cut short");
    write_owner("held", "blocks", "role", "kept by", out);
    for (uint32_t i = 0; i < w->owner_count; i++) {
        const struct vt_owner_group *g = &w->owners[i];
        enum vt_purpose purpose = g->owner.purpose;
        VT_SCOPED char *text = vt_owner_text(w->process, &g->owner, 0);
        write_owner(VT_BYTES(g->bytes), VT_NUMBER(g->count),
                    purpose == VT_PURPOSE_OTHER ? "" : vt_purpose_names[purpose],
                    vt_printable(text), out);
    }
    if (shot->runtime_count)
        write_owner(VT_BYTES(shot->runtime_bytes), VT_NUMBER(shot->runtime_count), "",
                    "CUDA's libraries", out);
    if (shot->unowned_count > shot->runtime_count)
        write_owner(VT_BYTES(shot->unowned_bytes - shot->runtime_bytes),
                    VT_NUMBER(shot->unowned_count - shot->runtime_count), "", "no owner found",
                    out);
}

static void write_report(const struct vt_watch_process *w, int columns, FILE *out) {
    struct vt_format_options options = {.blocks = vt_screen_is_wide(),
                                        .colour = true,
                                        .width = columns < WIDTH_LEAST ? WIDTH_LEAST
                                                 : columns > WIDEST    ? WIDEST
                                                                       : (unsigned)columns};
    vt_fmt_text_write(&w->model, &options, out);
}

/* Makes the text, unless the pane still shows the same data. The list of keys never changes. */
static void make_text(struct vt_view *v, const struct vt_watch_process *w, int columns) {
    char *text = NULL;
    size_t length;
    uint64_t serial = w && v->pane != VT_PANE_HELP ? w->serial : 0;
    if (v->text && v->text_as == v->pane && v->text_of == serial && v->text_key == v->key &&
        v->text_columns == columns)
        return;
    FILE *out = open_memstream(&text, &length);
    if (!out)
        return;
    switch (v->pane) {
    case VT_PANE_STACK:
        write_stack(v, w, columns, out);
        break;
    case VT_PANE_OWNERS:
        write_owners(w, out);
        break;
    case VT_PANE_REPORT:
        write_report(w, columns, out);
        break;
    default:
        for (size_t i = 0; i < sizeof help / sizeof *help; i++)
            fprintf(out, HEADING("%s") "\n%s", help[i].heading, help[i].text);
    }
    fclose(out);
    free(v->text);
    v->text = text;
    v->text_as = v->pane;
    v->text_of = serial;
    v->text_key = v->key;
    v->text_columns = columns;
    v->line_count = 0;
    for (const char *at = text; *at; at++)
        v->line_count += *at == '\n';
}

/* The style of an escape sequence, as the text report uses them in a terminal. */
static enum vt_screen_style style_of(const char *escape) {
    static const struct {
        const char *escape;
        enum vt_screen_style style;
    } styles[] = {{VT_STYLE_HEAD, VT_SCREEN_HEAD},
                  {VT_STYLE_BAD, VT_SCREEN_BAD},
                  {VT_STYLE_GOOD, VT_SCREEN_GOOD},
                  {VT_STYLE_WARN, VT_SCREEN_WARN},
                  {VT_STYLE_DIM, VT_SCREEN_DIM}};
    for (size_t i = 0; i < sizeof styles / sizeof *styles; i++)
        if (!strncmp(escape, styles[i].escape, strlen(styles[i].escape)))
            return styles[i].style;
    return VT_SCREEN_NORMAL;
}

/* Draws a line of the text, without its first `shift` characters. */
static void draw_line(int y, int columns, int shift, const char *at, size_t length) {
    enum vt_screen_style style = VT_SCREEN_NORMAL;
    const char *end = at + length;
    int x = 0;
    while (at < end) {
        if (*at == '\033') {
            style = style_of(at);
            at += strcspn(at, "m") + 1;
            continue;
        }
        const char *next = memchr(at, '\033', (size_t)(end - at));
        next = next ? next : end;
        for (; at < next && shift; shift--) {
            unsigned bytes = vt_utf8_length(at, (size_t)(next - at));
            at += bytes ? bytes : 1;
        }
        VT_SCOPED char *text = vt_strndup(at, (size_t)(next - at));
        x += vt_screen_put(y, x, columns - x, style, text);
        at = next;
    }
}

void vt_panes_draw(struct vt_view *v, const struct vt_watch_process *w, int y, int end) {
    int rows, columns, line = 0;
    vt_screen_size(&rows, &columns);
    make_text(v, w, columns);
    v->page = end > y ? end - y : 1;
    if (v->scroll > v->line_count - v->page)
        v->scroll = v->line_count - v->page;
    if (v->scroll < 0)
        v->scroll = 0;
    for (const char *at = v->text ? v->text : ""; *at && y < end; line++) {
        size_t length = strcspn(at, "\n");
        if (line >= v->scroll)
            draw_line(y++, columns, v->shift, at, length);
        at += length + (at[length] == '\n');
    }
}
