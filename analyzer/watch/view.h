/* SPDX-License-Identifier: MIT */
/*
 * The state of the screen: the process shown, with its devices and lines, or a text pane about it. keys.c changes it,
 * view.c and panes.c draw it.
 */
#ifndef VRAMTRACE_ANALYZER_VIEW_H
#define VRAMTRACE_ANALYZER_VIEW_H

#include "frame.h"

enum vt_pane { VT_PANE_LINES, VT_PANE_STACK, VT_PANE_OWNERS, VT_PANE_REPORT, VT_PANE_HELP };
enum vt_sort { VT_SORT_BYTES, VT_SORT_BLOCKS, VT_SORT_RATE, VT_SORT_PLACE, VT_SORTS };

/* Initialize as {0}, with the interval; free with vt_view_free. */
struct vt_view {
    uint64_t interval; /* ns */
    bool paused;
    uint32_t process; /* index in the frame */
    enum vt_sort sort;
    bool inverted;
    char filter[64];
    bool typing; /* in the filter */

    /* the lines shown, in their order; set by drawing */
    uint32_t *order;
    uint32_t order_count;
    uint32_t selected, top; /* indices in `order` */
    uint64_t key;           /* of the selected line; 0: always the first one */
    int page;               /* rows of the list, or of the pane */

    enum vt_pane pane;
    char *text;        /* of the pane */
    uint64_t text_of;  /* the process that `text` shows */
    uint64_t text_key; /* its line */
    int text_columns;
    enum vt_pane text_as; /* the pane for which `text` was made */
    int line_count;       /* of `text` */
    int scroll, shift;    /* its first visible line and column */

    char *status; /* replaces the list of keys until the next key, or for some seconds; NULL */
    uint64_t said_at;
    struct vt_map reported; /* logs of processes whose end was shown */
    uint32_t known;         /* number of processes in the last frame */
};

void vt_view_free(struct vt_view *view);

/* Sets the text of the last row. Takes over `status`. */
void vt_view_set_status(struct vt_view *view, char *status);

/* The selected process. */
struct vt_watch_process *vt_view_process(const struct vt_view *view,
                                         const struct vt_watch_frame *frame);

/* Adopts a new frame: the selection stays; the end of a process opens its report. */
void vt_view_follow(struct vt_view *view, const struct vt_watch_frame *frame);

void vt_view_draw(struct vt_view *view, const struct vt_watch_frame *frame);

/* Terminal heights from which more rows are shown. */
enum { ROWS_FULL = 16, ROWS_LEGEND = 18, ROWS_TALL = 30, ROWS_HIGH = 45 };

/* --- view_devices.c --- */

/* Draws the devices from row `y`, at most to the middle of the screen. Returns the row after them. */
int vt_view_devices_draw(const struct vt_watch_process *w, int y, int rows, int columns);

/* --- keys.c --- */

enum vt_keys_action { VT_KEYS_NOTHING, VT_KEYS_QUIT, VT_KEYS_ASK, VT_KEYS_REFRESH };

/* Handles a key. Returns the action left to the caller: quit, request a snapshot, or refresh at another interval
 * (view->interval) or at once. */
enum vt_keys_action vt_keys_press(struct vt_view *view, const struct vt_watch_frame *frame,
                                  int key);

/* --- panes.c --- */

/* Draws the pane into the rows from `y` to before `end`. */
void vt_panes_draw(struct vt_view *view, const struct vt_watch_process *w, int y, int end);

#endif
