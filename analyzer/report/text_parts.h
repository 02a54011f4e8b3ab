/* SPDX-License-Identifier: MIT */
/*
 * Parts of the text report that other rooms show as well: call sites grouped as its lists have them,
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
};

void vt_rows_make(struct vt_rows *rows, const struct vt_text *t, enum vt_rows_what what,
                  unsigned device);
void vt_rows_free(struct vt_rows *rows);

/* --- fmt_text.c --- */

/* The command as a user would type it, cut to `width` columns. */
void vt_text_command(const struct vt_process *process, unsigned width, struct vt_string *text);

#endif
