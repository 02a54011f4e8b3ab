/* SPDX-License-Identifier: MIT */
/*
 * What the files of the text format share: fmt_text.c (the whole), text_rows.c (lists of places),
 * text_device.c (a device at its peak), text_site.c (one site alone).
 */
#ifndef VRAMTRACE_ANALYZER_FMT_TEXT_H
#define VRAMTRACE_ANALYZER_FMT_TEXT_H

#include "model/model.h"
#include "text_page.h"

/* --- text_rows.c --- */

enum vt_rows_what {
    VT_ROWS_HELD,    /* device memory live at the end, all devices */
    VT_ROWS_MANAGED, /* managed memory live at the end */
    VT_ROWS_PINNED,  /* pinned host memory live at the end */
    VT_ROWS_PEAK,    /* what a device held at its peak */
    VT_ROWS_LATE,    /* device memory held when the process last allocated, all devices */
};

/* A place, or what --by groups by. */
struct vt_row {
    const struct vt_site *site; /* its largest */
    uint64_t key;
    uint64_t bytes, blocks; /* held, or at the peak */
    uint64_t allocations;
    uint32_t sites;
};

struct vt_rows {
    enum vt_rows_what what;
    struct vt_row *rows; /* the largest first */
    uint32_t count, room;
    uint64_t bytes, blocks; /* all rows together */
};

void vt_rows_make(struct vt_rows *rows, const struct vt_text *t, enum vt_rows_what what,
                  unsigned device);
void vt_rows_print(const struct vt_rows *rows, const struct vt_text *t);

/* Where the paths to two sites of the same place part: a frame of `site`. NULL: the places differ,
 * or nothing outside. */
const struct vt_frame *vt_rows_parting(const struct vt_site *site, const struct vt_site *other);
void vt_rows_free(struct vt_rows *rows);

/* Whether two sites are of one source line, though perhaps of functions that differ. */
bool vt_rows_same_line(const struct vt_site *site, const struct vt_site *other);

/* Your own code that called a place, innermost first: one frame; of a helper, whose caller lies in
 * the same file, as many as it takes to leave that file. Returns how many. */
#define VT_CALLERS 4
uint32_t vt_rows_callers(const struct vt_stack *stack, const struct vt_frame *callers[VT_CALLERS]);

/* The nearest own caller of a place that lies in another file. NULL: none is known. */
const struct vt_frame *vt_rows_caller_elsewhere(const struct vt_stack *stack);

/* "call site", "function", "file", "module": what a row is. */
const char *vt_rows_noun(const struct vt_text *t);

/* --- text_leak.c, text_device.c, text_map.c, text_oom.c, text_site.c --- */

/* The leaks, the gravest first. */
void vt_text_leaks(const struct vt_text *t);

/* A row for each name of phases; nothing where there are none. */
void vt_text_phases(const struct vt_text *t);

/* What failed for want of memory. */
void vt_text_ooms(const struct vt_text *t);

/* A device's segments, each with its blocks and holes. */
void vt_text_map(const struct vt_text *t, const struct vt_device *device);

void vt_text_device(const struct vt_text *t, const struct vt_device *device);
void vt_text_site(const struct vt_text *t, const struct vt_site *site);

#endif
