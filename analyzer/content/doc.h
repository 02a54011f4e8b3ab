/* SPDX-License-Identifier: MIT */
/*
 * A document for people: headings, rows of a label and a text, tables. It is built once, and report/ lays it out: as
 * text for a width, as Markdown, as the words of the HTML page. Texts are whole: who lays them out shortens them.
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
    VT_DOC_SIDES, /* the label, and at the line's end the text; the first are the document's title */
    VT_DOC_HEADING, /* an empty line, the label, and beside it the text */
    VT_DOC_SECTION, /* an empty line, if there is a label, which the page shows as a heading */
    VT_DOC_END,  /* of a part that is shown whole or not at all, where there is no room for all */
    VT_DOC_LINE, /* the label in its style, and the text right behind it, however long */
    VT_DOC_NOTE, /* a sentence that limits what all others mean */
    VT_DOC_SENTENCE, /* a sentence, of which the heading is the title */
    VT_DOC_REMARK,   /* a sentence below all rows */
    VT_DOC_ROW,      /* the label, and beside it a sentence */
    VT_DOC_ALARM,    /* the same, worth a warning */
    VT_DOC_PLACE,    /* the label, and beside it a frame with its source line */
    VT_DOC_HOLDER, /* the label, `bytes`, and the frame (`site` is given) or the owner that holds them */
    VT_DOC_CALLER, /* a frame that called the holder above */
    VT_DOC_SOURCE, /* a line of code, or facts, about what stands above */
    VT_DOC_MORE,   /* a sentence about what stands above */
    VT_DOC_TABLE,  /* the next items are its rows, and what stands below each */
    VT_DOC_CELLS,  /* a row of the table */
    VT_DOC_REST,   /* what the table leaves out: `bytes`, and in what */
    VT_DOC_BAR, /* a bar in which each of `parts` has its share; below it memory over time, if `device` is set */
    VT_DOC_PICTURE, /* a line of a picture that is drawn with characters */
    VT_DOC_COURSE, /* a curve of `levels`, its name and its peak in `bytes`; without levels, the time axis, to `text` */
    VT_DOC_RULE,   /* between two processes */
    VT_DOC_COMMAND, /* what to type next, and in the label what it shows */
};

/* A column of a table, as wide as its widest text; but in one that is `fixed`, a wider text moves what follows. If the
 * table is too wide, columns of frames lose beginnings of paths, and columns of names their ends; a last column of
 * words is wrapped. */
struct vt_doc_column {
    const char *title;
    unsigned before, width; /* blanks before it, and at least so many columns */
    bool right, fixed;
    bool fill;              /* at least as wide as fits a page of the usual width */
    bool code, name, words; /* frames; names; sentences */
    const char *style;      /* of its texts; NULL: none */
};
#define VT_DOC_COLUMNS 10

#define VT_DOC_BYTES 11 /* columns of a holder's size, and of the gap behind it */

/* A part of a device's memory at its peak. */
struct vt_doc_part {
    char letter;      /* in the bar */
    const char *name; /* "growing", "in use", "free" */
    const char *style;
    uint64_t bytes;
    uint32_t sites;
    bool apart; /* of the peak, but of no call site that is listed: caches, CUDA's libraries */
    const char *text;     /* "the leak above, 2 call sites"; may be empty */
    const char *purposes; /* "activations 1.17 MiB, other 4.69 MiB"; NULL: unknown */
};
struct vt_doc_parts {
    struct vt_doc_part parts[9]; /* the largest verdict first; the last may be '.', free */
    unsigned count;
    uint64_t whole; /* all parts are shares of it: the device's size, or the peak */
};

struct vt_doc_item {
    enum vt_doc_kind kind;
    const char *style; /* of the label, or where there is none of the text; "": none */
    const char *label; /* "": none, or that of the row above */
    const char *text;
    const char *source; /* a line of code, or facts, beside the text; NULL: none */
    unsigned
        column; /* where the text begins, and each further line of it; below a row of a table with a
                           column of frames it begins where that does */
    uint64_t bytes; /* VT_UNKNOWN: none */
    const struct vt_site *site;
    const char *id;           /* of the site, as far as its digits are shown; NULL: no site */
    const char *const *cells; /* "": nothing in this one */
    const struct vt_doc_column *columns;
    unsigned count; /* of columns */
    bool sentence;  /* of cells: those of names and code hold a sentence instead */
    /* a heading: what the section is about, "leak", "device"; and which */
    const char *about;
    const struct vt_leak *leak;
    const struct vt_oom *oom;
    const struct vt_device *device;   /* of a bar as well */
    const struct vt_doc_parts *parts; /* of the bar */
    const struct vt_levels *levels;   /* of a curve */
    uint64_t scale;                   /* as high as it may be; 0: nothing is */
};

/* Start it as {0}. */
struct vt_doc {
    struct vt_doc_item *items;
    uint32_t count, room;
    unsigned digits; /* to show of a site's id */
    unsigned column; /* where the texts of rows stand that are added from now on */
    void **kept;
    uint32_t kept_count, kept_room;
};

void vt_doc_free(struct vt_doc *doc);

/* Takes memory, or a text, which it makes printable, over. Returns it; NULL is allowed. */
void *vt_doc_own(struct vt_doc *doc, void *memory);
char *vt_doc_keep(struct vt_doc *doc, char *text);

/* A text that the document keeps. */
char *vt_doc_text(struct vt_doc *doc, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Each adds an item, which may be changed until the next is added. `text` (NULL: none), titles and labels stay
 * the caller's. */
struct vt_doc_item *vt_doc_add(struct vt_doc *doc, enum vt_doc_kind kind, const char *text);
struct vt_doc_item *vt_doc_heading(struct vt_doc *doc, const char *style, const char *title,
                                   const char *format, ...) __attribute__((format(printf, 4, 5)));
struct vt_doc_item *vt_doc_row(struct vt_doc *doc, const char *label, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
struct vt_doc_item *vt_doc_line(struct vt_doc *doc, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

struct vt_doc_item *vt_doc_remark(struct vt_doc *doc, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* A row of what a site or an owner (`site` NULL) holds. */
struct vt_doc_item *vt_doc_holder(struct vt_doc *doc, const char *label, uint64_t bytes,
                                  const struct vt_site *site, const char *text);

/* Begins a table; adds a row to it, a text for each column, "" where there is none; and what it leaves out:
 * so many bytes "in 3 more lines". */
void vt_doc_table(struct vt_doc *doc, const struct vt_doc_column *columns, unsigned count);
#define vt_doc_cells(doc, ...)                                                                     \
    vt_doc_add_cells(doc, (const char *const[]){__VA_ARGS__},                                      \
                     sizeof(const char *const[]){__VA_ARGS__} / sizeof(char *))
struct vt_doc_item *vt_doc_add_cells(struct vt_doc *doc, const char *const *cells, unsigned count);
void vt_doc_rest(struct vt_doc *doc, uint64_t bytes, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
