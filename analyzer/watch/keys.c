/* SPDX-License-Identifier: MIT */
/*
 * Handles keys, which do the same as in top, htop and less (see view.h).
 */
#define NCURSES_WIDECHAR 1
#include "view.h"

#include <ncurses.h>
#include <string.h>

enum { ESCAPE = 27, RUBOUT = 127, CONTROL_H = 8, CONTROL_L = 12, SHIFT = 8 };
#define FASTEST 100000000ull   /* ns */
#define SLOWEST 60000000000ull /* ns */

static void open_pane(struct vt_view *v, enum vt_pane pane) {
    v->pane = v->pane == pane ? VT_PANE_LINES : pane;
    v->scroll = v->shift = 0;
}

/* Moves the selection, or the text of a pane. */
static void move_by(struct vt_view *v, const struct vt_watch_process *w, long rows) {
    if (v->pane != VT_PANE_LINES) {
        long to = v->scroll + rows; /* drawing limits it to the text's end */
        v->scroll = to < 0 ? 0 : to > v->line_count ? v->line_count : (int)to;
        return;
    }
    if (!v->order_count)
        return;
    long to = (long)v->selected + rows, last = (long)v->order_count - 1;
    v->selected = (uint32_t)(to < 0 ? 0 : to > last ? last : to);
    /* a selection at the top stays there, whichever line comes to the top */
    v->key = v->selected && w ? w->lines[v->order[v->selected]].key : 0;
}

static void show_process(struct vt_view *v, const struct vt_watch_frame *frame, uint32_t index) {
    if (index >= frame->count)
        return;
    v->process = index;
    v->key = 0;
    v->selected = v->top = 0;
    v->scroll = v->shift = 0;
    if (v->pane != VT_PANE_OWNERS && v->pane != VT_PANE_REPORT)
        v->pane = VT_PANE_LINES;
}

static void sort_by(struct vt_view *v, int step) {
    v->sort = (enum vt_sort)(((int)v->sort + step + VT_SORTS) % VT_SORTS);
    v->inverted = false;
    v->key = 0;
    v->top = 0;
}

static void type_filter(struct vt_view *v, int key) {
    size_t length = strlen(v->filter);
    if (key == ESCAPE)
        v->filter[0] = 0;
    if (key == ESCAPE || key == '\n' || key == '\r' || key == KEY_ENTER)
        v->typing = false;
    else if ((key == KEY_BACKSPACE || key == RUBOUT || key == CONTROL_H) && length)
        v->filter[length - 1] = 0;
    else if (key >= ' ' && key < 256 && key != RUBOUT && length + 1 < sizeof v->filter)
        v->filter[length] = (char)key; /* the rest of the field is zeros */
    length = strlen(v->filter);
    memset(v->filter + length, 0, sizeof v->filter - length);
    v->selected = v->top = 0;
    v->key = 0;
}

static enum vt_keys_action change_pace(struct vt_view *v, bool faster) {
    uint64_t interval = faster ? v->interval / 2 : v->interval * 2;
    v->interval = interval < FASTEST ? FASTEST : interval > SLOWEST ? SLOWEST : interval;
    vt_view_set_status(v, vt_formatted("refreshes every %g s, less often for a long log",
                                       (double)v->interval / 1e9));
    return VT_KEYS_REFRESH;
}

static void leave_pane(struct vt_view *v) {
    if (v->pane != VT_PANE_LINES)
        v->pane = VT_PANE_LINES;
    else
        memset(v->filter, 0, sizeof v->filter);
    v->scroll = v->shift = 0;
}

static void open_stack(struct vt_view *v, const struct vt_watch_process *w) {
    if (v->pane == VT_PANE_LINES && (!v->order_count || !w))
        return;
    if (v->pane == VT_PANE_LINES)
        v->key = w->lines[v->order[v->selected]].key;
    open_pane(v, v->pane == VT_PANE_LINES ? VT_PANE_STACK : VT_PANE_LINES);
}

/* Handles keys that move. Returns whether `key` is one of them. */
static bool press_move(struct vt_view *v, const struct vt_watch_process *w, int key) {
    enum { FAR = 1 << 24 };
    switch (key) {
    case KEY_UP:
    case 'k':
        move_by(v, w, -1);
        return true;
    case KEY_DOWN:
    case 'j':
        move_by(v, w, 1);
        return true;
    case KEY_PPAGE:
        move_by(v, w, -v->page);
        return true;
    case KEY_NPAGE:
        move_by(v, w, v->page);
        return true;
    case KEY_HOME:
    case 'g':
        move_by(v, w, -FAR);
        return true;
    case KEY_END:
    case 'G':
        move_by(v, w, FAR);
        return true;
    case KEY_LEFT:
        v->shift -= v->shift >= SHIFT ? SHIFT : v->shift;
        return true;
    case KEY_RIGHT:
        v->shift += v->pane == VT_PANE_LINES ? 0 : SHIFT;
        return true;
    }
    return false;
}

/* Handles keys that open a pane or change the table's contents. */
static void press_show(struct vt_view *v, const struct vt_watch_frame *frame,
                       const struct vt_watch_process *w, int key) {
    switch (key) {
    case 'h':
    case '?':
    case KEY_F(1):
        open_pane(v, VT_PANE_HELP);
        break;
    case 'r':
        open_pane(v, VT_PANE_REPORT);
        break;
    case '\n':
    case '\r':
    case KEY_ENTER:
        open_stack(v, w);
        break;
    case ESCAPE:
        leave_pane(v);
        break;
    case '<':
        sort_by(v, -1);
        break;
    case '>':
    case 's':
        sort_by(v, 1);
        break;
    case 'i':
        v->inverted = !v->inverted;
        break;
    case '/':
        v->typing = true;
        v->pane = VT_PANE_LINES;
        break;
    case '\t':
        show_process(v, frame, frame->count ? (v->process + 1) % frame->count : 0);
        break;
    case KEY_BTAB:
        show_process(v, frame, v->process ? v->process - 1 : frame->count ? frame->count - 1 : 0);
        break;
    default:
        if (key >= '1' && key <= '9')
            show_process(v, frame, (uint32_t)(key - '1'));
    }
}

enum vt_keys_action vt_keys_press(struct vt_view *v, const struct vt_watch_frame *frame, int key) {
    const struct vt_watch_process *w = vt_view_process(v, frame);
    if (key == KEY_RESIZE) {
        /* output already sent was laid out for the old size */
        clearok(curscr, TRUE);
        return VT_KEYS_NOTHING;
    }
    vt_view_set_status(v, NULL);
    if (w && !w->process)
        w = NULL;
    if (v->typing) {
        type_filter(v, key);
        return VT_KEYS_NOTHING;
    }
    switch (key) {
    case 'q':
    case KEY_F(10):
        return VT_KEYS_QUIT;
    case 'o':
        return VT_KEYS_ASK;
    case ' ':
        v->paused = !v->paused;
        return v->paused ? VT_KEYS_NOTHING : VT_KEYS_REFRESH;
    case '+':
    case '=':
        return change_pace(v, true);
    case '-':
        return change_pace(v, false);
    case CONTROL_L:
        clearok(curscr, TRUE);
        return VT_KEYS_NOTHING;
    }
    if (!press_move(v, w, key))
        press_show(v, frame, w, key);
    return VT_KEYS_NOTHING;
}
