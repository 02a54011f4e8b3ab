/* SPDX-License-Identifier: MIT */
/*
 * The screen of the live view: title, processes, devices, alerts, the table of lines, keys (see view.h). If space is
 * short, each part leaves out its last rows; parts never overlap.
 */
#define _GNU_SOURCE /* strcasestr */
#include "view.h"

#include "report/report.h"
#include "screen.h"
#include "watch_words.h"

#include "vramtrace/log_format.h"

#include <stdlib.h>
#include <string.h>

/* Terminal widths from which more columns are shown. */
enum { COLUMNS_BLOCKS = 50, COLUMNS_SHARE = 64, COLUMNS_HINT = 120 };
#define STATUS_STAYS 12000000000ull /* ns: longer than the wait for a snapshot */
enum { HELD = 10, SHARE = 6, BLOCKS = 10, RATE = 14, GPU = 5, HINT = 52 };

void vt_view_free(struct vt_view *v) {
    free(v->order);
    free(v->text);
    free(v->status);
    vt_map_free(&v->reported);
}

void vt_view_set_status(struct vt_view *v, char *status) {
    free(v->status);
    v->status = status;
    v->said_at = vt_now_ns();
}

struct vt_watch_process *vt_view_process(const struct vt_view *v,
                                         const struct vt_watch_frame *frame) {
    return frame->count ? frame->processes[v->process < frame->count ? v->process : 0] : NULL;
}

void vt_view_follow(struct vt_view *v, const struct vt_watch_frame *frame) {
    struct vt_watch_process *w = vt_view_process(v, frame);
    if (v->status && vt_now_ns() - v->said_at > STATUS_STAYS)
        vt_view_set_status(v, NULL);
    if (v->process >= frame->count)
        v->process = 0;
    /* a new process replaces one that has ended, or that has no log */
    if (w && frame->count > v->known && v->known && w->state != VT_WATCH_RUNNING)
        for (uint32_t i = v->known; i < frame->count; i++)
            if (frame->processes[i]->state == VT_WATCH_RUNNING) {
                v->process = i;
                v->pane = VT_PANE_LINES;
                break;
            }
    v->known = frame->count;
    w = vt_view_process(v, frame);
    if (!w || !w->process || w->state != VT_WATCH_ENDED)
        return;
    uint64_t log = vt_hash_bytes(0, w->log, strlen(w->log));
    if (vt_map_get(&v->reported, log) != VT_MAP_NONE)
        return;
    vt_map_put(&v->reported, log, 1);
    v->pane = VT_PANE_REPORT;
    v->scroll = v->shift = 0;
}

/* --- title, processes --- */

static void draw_title(const struct vt_view *v, const struct vt_watch_process *w, int columns) {
    vt_screen_blank(0, 0, columns, VT_SCREEN_TITLE);
    int x =
        columns >= 100 ? vt_screen_put(0, 1, columns, VT_SCREEN_TITLE, "vramtrace watch") + 3 : 1;
    if (!w)
        return;
    VT_SCOPED char *state = vt_watch_words_state(w), *who = vt_watch_words_who(w);
    VT_SCOPED char *right =
        vt_formatted("%s%s%s%s", v->paused ? "PAUSED  " : "", columns >= 70 ? who : "",
                     columns >= 70 && who[0] ? ", " : "", state);
    int length = (int)vt_frame_text_columns(right);
    int left = columns - length - 2 - x - 1;
    VT_SCOPED char *command = vt_watch_words_command(w, left > 4 ? (unsigned)left : 4);
    vt_screen_put(0, x, left, VT_SCREEN_TITLE, command);
    vt_screen_put(0, columns - length - 1, length, VT_SCREEN_TITLE, right);
}

static void draw_listed(const struct vt_watch_process *w, uint32_t index, bool selected, int y,
                        int columns) {
    enum vt_screen_style style = selected ? VT_SCREEN_SELECTED : VT_SCREEN_NORMAL;
    uint64_t live = 0;
    double rate = 0;
    for (uint32_t i = 0; w->process && i < w->process->device_count; i++) {
        live += w->process->devices[i].live_bytes;
        rate += w->devices[i].rate;
    }
    VT_SCOPED char *state = vt_watch_words_state(w);
    VT_SCOPED char *who = w->process && w->process->rank >= 0
                              ? vt_formatted("pid %u  rank %d", w->pid, w->process->rank)
                              : (w->pid ? vt_formatted("pid %u", w->pid) : vt_strdup(""));
    VT_SCOPED char *speed = vt_watch_words_rate(rate);
    bool narrow = columns < COLUMNS_SHARE;
    VT_SCOPED char *right = vt_formatted(
        "%s%s%s%s%s%s", w->process ? VT_BYTES(live) : "", speed[0] ? "  " : "", speed,
        speed[0] ? "/s" : "", narrow && w->process ? "" : "  ", narrow && w->process ? "" : state);
    int length = (int)vt_frame_text_columns(right);
    vt_screen_blank(y, 0, columns, style);
    int x = vt_screen_format(y, 0, columns, style, " %u  %s  ", index + 1, who);
    VT_SCOPED char *command = vt_watch_words_command(w, columns > x ? (unsigned)(columns - x) : 1);
    vt_screen_put(y, x, columns - x - length - 2, style, command);
    vt_screen_put(y, columns - length - 1, length, style, right);
}

/* Draws all processes if there is space, else those around the selected one. */
static int draw_processes(const struct vt_view *v, const struct vt_watch_frame *frame, int y,
                          int rows, int columns) {
    uint32_t most = rows < ROWS_FULL ? 1 : (uint32_t)rows / 5, first = 0;
    if (frame->count < 2)
        return y;
    if (v->process >= most)
        first = v->process - most + 1;
    for (uint32_t i = first; i < frame->count && i < first + most; i++)
        draw_listed(frame->processes[i], i, i == v->process, y++, columns);
    if (frame->count > most && rows >= ROWS_FULL)
        vt_screen_format(y++, 1, columns, VT_SCREEN_DIM, "%u of %u processes: Tab shows the next",
                         most, frame->count);
    return y;
}

/* --- alerts --- */

/* Draws a row and frees the text; NULL: nothing. */
static int draw_row(int y, int columns, enum vt_screen_style style, const char *label, char *text) {
    if (!text)
        return y;
    int x = vt_screen_put(y, 0, columns, style, label);
    vt_screen_put(y, x + 1, columns - x - 1, VT_SCREEN_NORMAL, text);
    free(text);
    return y + 1;
}

static int draw_alerts(const struct vt_watch_process *w, int y, int rows, int columns) {
    const struct vt_process *p = w->process;
    uint32_t ooms = rows < ROWS_FULL ? 1 : rows < ROWS_TALL ? 2 : 4;
    if (!p->oom_count || rows >= ROWS_FULL)
        y = draw_row(y, columns, VT_SCREEN_HEAD, "phase", vt_watch_words_phases(w));
    for (uint32_t i = 0; i < p->oom_count && i < ooms; i++) {
        const struct vt_oom *oom = &p->ooms[p->oom_count - 1 - i];
        y = draw_row(y, columns, VT_SCREEN_BAD, "OUT OF MEMORY", vt_watch_words_oom(oom));
        if (oom->why && rows >= ROWS_TALL && !i)
            y = draw_row(y, columns, VT_SCREEN_BAD, "  ", vt_strdup(oom->why));
    }
    if (p->oom_count > ooms && rows >= ROWS_FULL)
        y = draw_row(y, columns, VT_SCREEN_BAD, "  ",
                     vt_formatted("and %s more", VT_NUMBER(p->oom_count - ooms)));
    if (rows >= ROWS_FULL && (p->pinned.live_bytes || p->managed.live_bytes))
        y = draw_row(y, columns, VT_SCREEN_HEAD, "host",
                     vt_formatted("pinned %s, managed %s", VT_BYTES(p->pinned.live_bytes),
                                  VT_BYTES(p->managed.live_bytes)));
    return draw_row(y, columns, VT_SCREEN_WARN, "LOG", vt_watch_words_dropped(w));
}

/* --- the lines --- */

static const struct vt_watch_process *sorted; /* the process whose lines qsort compares */
static const struct vt_view *sorted_by;
static char **places;

static int compare_lines(const void *a, const void *b) {
    uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
    const struct vt_watch_line *x = &sorted->lines[i], *y = &sorted->lines[k];
    double rate_x = isnan(x->rate) ? 0 : x->rate, rate_y = isnan(y->rate) ? 0 : y->rate;
    int order = 0;
    switch (sorted_by->sort) {
    case VT_SORT_RATE:
        order = (rate_x < rate_y) - (rate_x > rate_y);
        break;
    case VT_SORT_BLOCKS:
        order = VT_ORDER({y->blocks, x->blocks});
        break;
    case VT_SORT_PLACE:
        order = strcmp(places[i], places[k]);
        break;
    default:
        break;
    }
    if (!order)
        order = i < k ? -1 : i > k; /* the frame's order: the largest first */
    return sorted_by->inverted ? -order : order;
}

static void make_order(struct vt_view *v, const struct vt_watch_process *w) {
    bool by_text = v->filter[0] || v->sort == VT_SORT_PLACE;
    places = vt_alloc(w->line_count, sizeof *places);
    free(v->order);
    v->order = vt_alloc(w->line_count, sizeof *v->order);
    v->order_count = 0;
    for (uint32_t i = 0; i < w->line_count; i++) {
        if (by_text)
            places[i] = vt_site_text(w->process, w->lines[i].site, 1000);
        if (!v->filter[0] || strcasestr(places[i], v->filter))
            v->order[v->order_count++] = i;
    }
    sorted = w;
    sorted_by = v;
    vt_sort(v->order, v->order_count, sizeof *v->order, compare_lines);
    for (uint32_t i = 0; i < w->line_count; i++)
        free(places[i]);
    free(places);
    uint32_t at = v->selected;
    for (uint32_t i = 0; v->key && i < v->order_count; i++)
        if (w->lines[v->order[i]].key == v->key)
            at = i;
    v->selected = !v->key || !v->order_count ? 0 : at < v->order_count ? at : v->order_count - 1;
}

static bool has_device_column(const struct vt_watch_process *w, int columns) {
    return w->process->device_count > 1 && columns >= COLUMNS_SHARE;
}

static void draw_table_head(const struct vt_view *v, const struct vt_watch_process *w, int y,
                            int columns) {
    static const char *const names[VT_SORTS] = {"HELD", "BLOCKS", "PER SECOND", "ALLOCATED AT"};
    const char *mark = vt_screen_is_wide() ? (v->inverted ? "▲" : "▼") : (v->inverted ? "^" : "v");
    char *heads[VT_SORTS];
    for (unsigned i = 0; i < VT_SORTS; i++)
        heads[i] = vt_formatted("%s%s", names[i], v->sort == i ? mark : "");
#define RIGHT(text, width) ((width) - (int)vt_frame_text_columns(text))
    vt_screen_blank(y, 0, columns, VT_SCREEN_TABLE);
    int x = 0;
    vt_screen_put(y, x + RIGHT(heads[0], HELD), HELD, VT_SCREEN_TABLE, heads[0]);
    x += HELD;
    if (columns >= COLUMNS_SHARE) {
        vt_screen_put(y, x + RIGHT("SHARE", SHARE), SHARE, VT_SCREEN_TABLE, "SHARE");
        x += SHARE;
    }
    if (columns >= COLUMNS_BLOCKS) {
        vt_screen_put(y, x + RIGHT(heads[1], BLOCKS), BLOCKS, VT_SCREEN_TABLE, heads[1]);
        x += BLOCKS;
    }
    vt_screen_put(y, x + RIGHT(heads[2], RATE), RATE, VT_SCREEN_TABLE, heads[2]);
    x += RATE + 2;
    if (has_device_column(w, columns)) {
        vt_screen_put(y, x, GPU, VT_SCREEN_TABLE, "GPU");
        x += GPU;
    }
    vt_screen_put(y, x, columns - x, VT_SCREEN_TABLE, heads[3]);
    if (columns >= COLUMNS_HINT)
        vt_screen_put(y, columns - HINT, HINT, VT_SCREEN_TABLE, "VERDICT SO FAR");
    for (unsigned i = 0; i < VT_SORTS; i++)
        free(heads[i]);
}

static void draw_line(const struct vt_watch_process *w, const struct vt_watch_line *line,
                      bool selected, int y, int columns) {
    bool told = line->leak != NULL;
    enum vt_screen_style style = selected ? VT_SCREEN_SELECTED
                                 : told   ? VT_SCREEN_WARN
                                          : VT_SCREEN_NORMAL;
    VT_SCOPED char *rate = vt_watch_words_rate(line->rate), *hint = vt_watch_words_hint(w, line);
    int x = HELD;
    vt_screen_blank(y, 0, columns, selected ? style : VT_SCREEN_NORMAL);
    vt_screen_format(y, 0, HELD, style, "%*s", HELD, VT_BYTES(line->bytes));
    if (columns >= COLUMNS_SHARE) {
        VT_SCOPED char *share = vt_watch_words_share(line);
        vt_screen_format(y, x, SHARE, style, "%*s", SHARE, share);
        x += SHARE;
    }
    if (columns >= COLUMNS_BLOCKS) {
        vt_screen_format(y, x, BLOCKS, style, "%*s", BLOCKS, VT_NUMBER(line->blocks));
        x += BLOCKS;
    }
    vt_screen_format(y, x, RATE, style, "%*s%s", rate[0] ? RATE - 2 : RATE, rate,
                     rate[0] ? "/s" : "");
    x += RATE + 2;
    if (has_device_column(w, columns)) {
        if (line->site->device < VT_DEVICE_HOST)
            vt_screen_format(y, x, GPU, style, "%3u", line->site->device);
        x += GPU;
    }
    int room = columns - x - (columns >= COLUMNS_HINT ? HINT + 1 : 0);
    VT_SCOPED char *place = vt_watch_words_place(w, line, room > 4 ? (unsigned)room : 4);
    vt_screen_put(y, x, room, style, place);
    if (hint && columns >= COLUMNS_HINT)
        vt_screen_put(y, columns - HINT, HINT, style, hint);
}

/* Draws the verdict on the selected line, which the table omits in a narrow terminal. */
static int draw_selected(const struct vt_view *v, const struct vt_watch_process *w, int end,
                         int columns) {
    bool any = false;
    for (uint32_t i = 0; i < v->order_count && !any; i++)
        any = w->lines[v->order[i]].leak != NULL;
    if (!any || columns >= COLUMNS_HINT || end < ROWS_FULL)
        return end;
    const struct vt_watch_line *line = &w->lines[v->order[v->selected]];
    VT_SCOPED char *hint = vt_watch_words_hint(w, line);
    VT_SCOPED char *text = vt_formatted(
        "%s%s", line->leak && line->leak->growth ? "this line: " : "", hint ? hint : "");
    vt_screen_put(end - 1, 1, columns - 1, VT_SCREEN_WARN, text);
    return end - 1;
}

/* Draws the owners of the last snapshot, if there is space below the lines. */
static void draw_kept(const struct vt_watch_process *w, int y, int end, int columns) {
    enum { LEAST = 4, KEPT_AT = HELD + BLOCKS + 2 };
    if (!w->owner_count || end - y < LEAST)
        return;
    VT_SCOPED char *moment = vt_snapshot_moment(w->snapshot);
    vt_screen_blank(++y, 0, columns, VT_SCREEN_TABLE);
    vt_screen_format(y, 0, KEPT_AT, VT_SCREEN_TABLE, "%*s%*s", HELD, "HELD", BLOCKS, "BLOCKS");
    vt_screen_format(y++, KEPT_AT, columns - KEPT_AT, VT_SCREEN_TABLE, "KEPT BY, %s", moment);
    for (uint32_t i = 0; i < w->owner_count && y < end; i++, y++) {
        const struct vt_owner_group *g = &w->owners[i];
        bool told = g->owner.purpose != VT_PURPOSE_OTHER;
        VT_SCOPED char *text = vt_owner_text(w->process, &g->owner, 0);
        vt_screen_format(y, 0, KEPT_AT, VT_SCREEN_NORMAL, "%*s%*s", HELD, VT_BYTES(g->bytes),
                         BLOCKS, VT_NUMBER(g->count));
        vt_screen_format(y, KEPT_AT, columns - KEPT_AT, VT_SCREEN_NORMAL, "%s%s%s",
                         told ? vt_purpose_names[g->owner.purpose] : "", told ? ": " : "", text);
    }
}

static void draw_lines(struct vt_view *v, const struct vt_watch_process *w, int y, int end,
                       int columns) {
    make_order(v, w);
    if (y >= end)
        return;
    draw_table_head(v, w, y++, columns);
    if (!v->order_count) {
        vt_screen_format(y, 1, columns - 1, VT_SCREEN_DIM,
                         v->filter[0] ? "no line has '%s'" : "no device memory is held%s",
                         v->filter[0] ? v->filter : "");
        return;
    }
    end = draw_selected(v, w, end, columns);
    v->page = end > y ? end - y : 1;
    uint32_t page = (uint32_t)v->page;
    if (v->selected < v->top)
        v->top = v->selected;
    if (v->selected >= v->top + page)
        v->top = v->selected - page + 1;
    if (v->top && v->top + page > v->order_count)
        v->top = v->order_count > page ? v->order_count - page : 0;
    for (uint32_t i = v->top; i < v->order_count && y < end; i++)
        draw_line(w, &w->lines[v->order[i]], i == v->selected, y++, columns);
    draw_kept(w, y, end, columns);
}

/* --- the screen --- */

static void draw_footer(const struct vt_view *v, int y, int columns) {
    static const struct key {
        const char *key, *does;
    } in_pane[] = {{"q", "Quit"},   {"Esc", "Lines"}, {"Up Down PgDn", "Scroll"},
                   {"o", "Owners"}, {"r", "Report"},  {"Tab", "Process"}},
      in_lines[] = {{"q", "Quit"},    {"h", "Help"},     {"o", "Owners"}, {"Enter", "Stack"},
                    {"/", "Filter"},  {"<>", "Sort"},    {"r", "Report"}, {"Space", "Pause"},
                    {"+-", "Faster"}, {"Tab", "Process"}};
    const struct key *keys = v->pane == VT_PANE_LINES ? in_lines : in_pane;
    size_t count = v->pane == VT_PANE_LINES ? sizeof in_lines / sizeof *in_lines
                                            : sizeof in_pane / sizeof *in_pane;
    int x = 0;
    vt_screen_blank(y, 0, columns, VT_SCREEN_NORMAL); /* alerts may draw over this row */
    if (v->typing) {
        vt_screen_format(y, 0, columns, VT_SCREEN_HEAD, "filter: %s_", v->filter);
        return;
    }
    if (v->status) {
        vt_screen_put(y, 0, columns, VT_SCREEN_HEAD, v->status);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        int width = (int)strlen(keys[i].key) + (int)strlen(keys[i].does) + 3;
        if (x + width > columns)
            break;
        x += vt_screen_put(y, x, columns - x, VT_SCREEN_HEAD, keys[i].key) + 1;
        x += vt_screen_put(y, x, columns - x, VT_SCREEN_DIM, keys[i].does) + 2;
    }
    VT_SCOPED char *right = vt_formatted("%s%s%gs", v->filter[0] ? v->filter : "",
                                         v->filter[0] ? "  " : "", (double)v->interval / 1e9);
    int length = (int)vt_frame_text_columns(right);
    if (x + length < columns)
        vt_screen_put(y, columns - length, length, VT_SCREEN_DIM, right);
}

void vt_view_draw(struct vt_view *v, const struct vt_watch_frame *frame) {
    int rows, columns, y = 1;
    const struct vt_watch_process *w = vt_view_process(v, frame);
    vt_screen_clear();
    vt_screen_size(&rows, &columns);
    draw_title(v, w, columns);
    y = draw_processes(v, frame, y, rows, columns);
    if (v->pane == VT_PANE_HELP || (v->pane != VT_PANE_LINES && w && w->process)) {
        vt_panes_draw(v, w, y, rows - 1);
    } else if (w && w->process) {
        y = vt_view_devices_draw(w, y, rows, columns);
        y = draw_alerts(w, y, rows, columns);
        draw_lines(v, w, y, rows - 1, columns);
    } else if (w && w->message) {
        vt_screen_put(y + 1, 2, columns - 2, VT_SCREEN_HEAD, vt_watch_state_names[w->state]);
        vt_screen_put(y + 2, 2, columns - 2, VT_SCREEN_NORMAL, w->message);
    }
    draw_footer(v, rows - 1, columns);
    vt_screen_show();
}
