/* SPDX-License-Identifier: MIT */
/*
 * A document for people: headings, rows of a label and a text, tables. It is built once, and report/ lays it out: as
 * text for a width, as Markdown, as the words of the HTML page. Texts are complete: the layout shortens them.
 *
 * The document owns its texts: UTF-8 in one line, without control characters. Its builder frees nothing:
 *
 *     struct vt_doc doc = {.column = 16};
 *     vt_doc_heading(&doc, VT_STYLE_BAD, "LEAK", "%s kept and growing.", VT_BYTES(bytes));
 *     vt_doc_row(&doc, "kept by", "%s", vt_doc_keep(&doc, vt_owner_text(process, owner, 0)));
 *     vt_doc_table(&doc, columns, 3);
 *     vt_doc_cells(&doc, VT_BYTES(site->live_bytes), VT_NUMBER(site->live_count), place);
 *     vt_doc_free(&doc);
 */
#ifndef VRAMTRACE_ANALYZER_DOC_H
#define VRAMTRACE_ANALYZER_DOC_H

#include "model/model.h"

#define VT_TEXT_WIDTH 80u /* default columns of a page */

#define VT_STYLE_NONE "\033[0m"
#define VT_STYLE_HEAD "\033[1m"
#define VT_STYLE_BAD  "\033[1;31m"
#define VT_STYLE_GOOD "\033[1;32m"
#define VT_STYLE_WARN "\033[1;33m"
#define VT_STYLE_DIM  "\033[2m"

enum vt_doc_kind {
    /* the label, and the text at the end of the line; the first one is the document's title */
    VT_DOC_SIDES,
    VT_DOC_HEADING,  /* an empty line, the label, and the text after it */
    VT_DOC_SECTION,  /* an empty line, if there is a label, which the page shows as a heading */
    VT_DOC_END,      /* end of a part that is shown completely or not at all if space is short */
    VT_DOC_LINE,     /* the label in its style, directly followed by the text, however long */
    VT_DOC_NOTE,     /* a sentence that qualifies all others */
    VT_DOC_SENTENCE, /* a sentence with the heading as its title */
    VT_DOC_REMARK,   /* a sentence below all rows */
    VT_DOC_ROW,      /* the label, followed by a sentence */
    VT_DOC_ALARM,    /* the same, as a warning */
    VT_DOC_PLACE,    /* the label, followed by a frame with its source line */
    /* the label, `bytes`, and the frame (if `site` is set) or the owner that holds them */
    VT_DOC_HOLDER,
    VT_DOC_CALLER,  /* a caller of the frame above */
    VT_DOC_SOURCE,  /* a line of code, or facts, about the item above */
    VT_DOC_MORE,    /* a sentence about the item above */
    VT_DOC_TABLE,   /* the next items are its rows, with additions below each */
    VT_DOC_CELLS,   /* a row of the table */
    VT_DOC_REST,    /* the sum that the table leaves out: `bytes`, and its description */
    VT_DOC_BAR,     /* a bar divided into `parts`; below it memory over time, if `device` is set */
    VT_DOC_PICTURE, /* a line of a picture drawn with characters */
    VT_DOC_COURSE, /* a curve of `levels`, its name and its peak in `bytes`; without levels, the time axis, to `text` */
    VT_DOC_RULE,   /* between two processes */
    VT_DOC_COMMAND, /* a command to run next; its label describes the output */
};

/* A column of a table, as wide as its widest text; in a `fixed` one, a wider text pushes later columns right. If the
 * table is too wide, columns of frames lose beginnings of paths, and columns of names their ends; a last column of
 * words is wrapped. */
struct vt_doc_column {
    const char *title;
    unsigned before, width; /* blanks before it, and the least columns */
    bool right, fixed;
    bool fill;              /* at least as wide as the usual page allows */
    bool code, name, words; /* frames; names; sentences */
    const char *style;      /* style of its texts; NULL: none */
};
#define VT_DOC_COLUMNS 10

#define VT_DOC_BYTES 11 /* columns of a site's or owner's size, including the gap after it */

/* A part of a device's memory at its peak. */
struct vt_doc_part {
    char letter;      /* in the bar */
    const char *name; /* "growing", "in use", "free" */
    const char *style;
    uint64_t bytes;
    uint32_t sites;
    bool apart;       /* part of the peak, but of no listed call site: caches, CUDA's libraries */
    const char *text; /* "the leak above, 2 call sites"; may be empty */
    const char *purposes; /* "activations 1.17 MiB, other 4.69 MiB"; NULL: unknown */
};
struct vt_doc_parts {
    struct vt_doc_part parts[10]; /* the largest verdict first; the last may be '.', free */
    unsigned count;
    uint64_t whole; /* all parts are shares of it: the device's size, or the peak */
};

struct vt_doc_item {
    enum vt_doc_kind kind;
    const char *style; /* style of the label or, without one, of the text; "": none */
    const char *label; /* "": none, or the same as in the row above */
    const char *text;
    const char *source; /* a line of code, or facts, beside the text; NULL: none */
    /* where the text and its further lines begin; below a row of a table with a column of frames, that one's column */
    unsigned column;
    uint64_t bytes; /* VT_UNKNOWN: none */
    const struct vt_site *site;
    const char *id;           /* the site's, as many digits as shown; NULL: no site */
    const char *const *cells; /* "": empty */
    const struct vt_doc_column *columns;
    unsigned count; /* number of columns */
    bool sentence;  /* for cells: columns of names and code contain a sentence instead */
    /* for a heading: the section's subject, "leak", "device"; and which */
    const char *about;
    const struct vt_leak *leak;
    const struct vt_oom *oom;
    const struct vt_device *device;   /* also for a bar */
    const struct vt_doc_parts *parts; /* for a bar */
    const struct vt_levels *levels;   /* for a curve */
    uint64_t scale;                   /* value of the full height; 0: no memory */
};

/* Initialize as {0}. */
struct vt_doc {
    struct vt_doc_item *items;
    uint32_t count, room;
    unsigned digits; /* digits to show of a site's id */
    unsigned column; /* column of the texts of rows added from now on */
    void **kept;
    uint32_t kept_count, kept_room;
};

void vt_doc_free(struct vt_doc *doc);

/* Takes over memory, or a text, which it makes printable. Returns it; NULL is allowed. */
void *vt_doc_own(struct vt_doc *doc, void *memory);
char *vt_doc_keep(struct vt_doc *doc, char *text);

/* A text owned by the document. */
char *vt_doc_text(struct vt_doc *doc, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Each adds an item, which may be changed until the next is added. `text` (NULL: none), titles and labels stay the
 * caller's. */
struct vt_doc_item *vt_doc_add(struct vt_doc *doc, enum vt_doc_kind kind, const char *text);
struct vt_doc_item *vt_doc_heading(struct vt_doc *doc, const char *style, const char *title,
                                   const char *format, ...) __attribute__((format(printf, 4, 5)));
struct vt_doc_item *vt_doc_row(struct vt_doc *doc, const char *label, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
struct vt_doc_item *vt_doc_line(struct vt_doc *doc, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

struct vt_doc_item *vt_doc_remark(struct vt_doc *doc, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* A row with the memory of a site or an owner (`site` NULL). */
struct vt_doc_item *vt_doc_holder(struct vt_doc *doc, const char *label, uint64_t bytes,
                                  const struct vt_site *site, const char *text);

/* Begins a table; adds a row to it, with a text for each column, "" for an empty one; and the remainder that it
 * leaves out: bytes "in 3 more lines". */
void vt_doc_table(struct vt_doc *doc, const struct vt_doc_column *columns, unsigned count);
#define vt_doc_cells(doc, ...)                                                                     \
    vt_doc_add_cells(doc, (const char *const[]){__VA_ARGS__},                                      \
                     sizeof(const char *const[]){__VA_ARGS__} / sizeof(char *))
struct vt_doc_item *vt_doc_add_cells(struct vt_doc *doc, const char *const *cells, unsigned count);
void vt_doc_rest(struct vt_doc *doc, uint64_t bytes, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
