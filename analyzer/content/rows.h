/* SPDX-License-Identifier: MIT */
/*
 * Call sites grouped as in a report's lists.
 */
#ifndef VRAMTRACE_ANALYZER_ROWS_H
#define VRAMTRACE_ANALYZER_ROWS_H

#include "doc.h"
#include "subject.h"

enum vt_rows_what {
    VT_ROWS_HELD,    /* device memory live at the end, all devices */
    VT_ROWS_MANAGED, /* managed memory live at the end */
    VT_ROWS_PINNED,  /* pinned host memory live at the end */
    VT_ROWS_PEAK,    /* a device's memory at its peak */
    VT_ROWS_OOM,     /* a device's memory when memory ran out (vt_process_oom) */
    VT_ROWS_LATE,    /* device memory held at the process's last allocation, all devices */
};

/* A site, or a group of them by --by. */
#define VT_ROW_SITES 3
struct vt_row {
    const struct vt_site *site;                  /* the largest of the group */
    const struct vt_site *largest[VT_ROW_SITES]; /* this one, and the next ones */
    uint64_t key;
    uint64_t bytes, blocks; /* held, or at the peak */
    VT_EMBED_SITE_FIGURES;  /* of all its sites */
    uint32_t sites;
};

struct vt_rows {
    enum vt_rows_what what;
    struct vt_row *rows; /* the largest first */
    uint32_t count, room;
    uint64_t bytes, blocks; /* sums */
    uint64_t whole; /* the whole for shares: for VT_ROWS_PEAK it may exceed the sum of rows */
};

void vt_rows_make(struct vt_rows *rows, const struct vt_subject *t, enum vt_rows_what what,
                  unsigned device);
void vt_rows_free(struct vt_rows *rows);

/* Adds the list, as a table. */
void vt_rows_add(const struct vt_rows *rows, const struct vt_subject *t, struct vt_doc *doc);

/* The innermost frame of `site` outside the common innermost frames of two sites. NULL: the
 * innermost frames differ, or there is no frame outside. */
const struct vt_frame *vt_rows_parting(const struct vt_site *site, const struct vt_site *other);

/* The outermost frame of `site` inside the common frames of two sites with the same main frame: the line's callee
 * there. NULL: the main frames differ, or there is no such frame. */
const struct vt_frame *vt_rows_way_in(const struct vt_site *site, const struct vt_site *other);

/* Equal for sites that share a row with --by line. */
uint64_t vt_rows_line_key(const struct vt_site *site);

/* The callers of a stack's user frame in user code, innermost first: one frame, or if that is in the same file,
 * further ones up to one in another file. Returns their number. */
#define VT_CALLERS 4
uint32_t vt_rows_callers(const struct vt_stack *stack, const struct vt_frame *callers[VT_CALLERS]);

/* The nearest caller in user code that is in another file than the user frame. NULL: none. */
const struct vt_frame *vt_rows_caller_elsewhere(const struct vt_stack *stack);

/* The kind of a row: "line", "call site", "function", "file", "module". A constant. */
const char *vt_rows_noun(const struct vt_subject *t);

/* "12 %", rounded up from 0 %. */
void vt_text_share(uint64_t bytes, uint64_t whole, char out[64]);

#endif
