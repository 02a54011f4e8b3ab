/* SPDX-License-Identifier: MIT */
/*
 * Parts of the text report that other modules show as well: call sites grouped as its lists have them,
 * and the command.
 */
#ifndef VRAMTRACE_ANALYZER_TEXT_PARTS_H
#define VRAMTRACE_ANALYZER_TEXT_PARTS_H

#include "text_page.h"

/* --- text_rows.c --- */

enum vt_rows_what {
    VT_ROWS_HELD,    /* device memory live at the end, all devices */
    VT_ROWS_MANAGED, /* managed memory live at the end */
    VT_ROWS_PINNED,  /* pinned host memory live at the end */
    VT_ROWS_PEAK,    /* what a device held at its peak */
    VT_ROWS_OOM,     /* what a device held when memory ran out (vt_process_oom) */
    VT_ROWS_LATE,    /* device memory held at the process's last allocation, all devices */
};

/* A site, or a group of them by --by. */
#define VT_ROW_SITES 3
struct vt_row {
    const struct vt_site *site;                  /* the largest of the group */
    const struct vt_site *largest[VT_ROW_SITES]; /* that, and the next ones */
    uint64_t key;
    uint64_t bytes, blocks; /* held, or at the peak */
    uint64_t allocations;
    uint32_t sites;
};

struct vt_rows {
    enum vt_rows_what what;
    struct vt_row *rows; /* the largest first */
    uint32_t count, room;
    uint64_t bytes, blocks; /* sums */
    uint64_t whole;         /* what shares are of: VT_ROWS_PEAK's may hold more than its rows */
};

void vt_rows_make(struct vt_rows *rows, const struct vt_text *t, enum vt_rows_what what,
                  unsigned device);
void vt_rows_free(struct vt_rows *rows);

/* --- text_page.c --- */

/* The command as a user would type it, cut to `width` columns. */
void vt_text_command(const struct vt_process *process, unsigned width, struct vt_string *text);

/* --- text_line.c --- */

/* A device's live memory over the run: a character for each of equal parts of the time, as high as the
 * most that is known of it, of the peak; and below it the axis, with the times and a mark for the
 * peak. */
struct vt_text_line {
    char *line, *axis;
};

/* `blocks`: of Unicode's block characters, else of ASCII. False: nothing to draw. */
bool vt_text_line_make(const struct vt_device *device, unsigned columns, bool blocks,
                       struct vt_text_line *line);
void vt_text_line_free(struct vt_text_line *line);

/* The line alone, of one level for each column; `peak` is as high as a character. Free it. */
char *vt_text_line_draw(const uint64_t *levels, unsigned columns, uint64_t peak, bool blocks);

#endif
