/* SPDX-License-Identifier: MIT */
/*
 * A document for people: headings, rows of a label and a text, tables. It is built once, with no thought of
 * its look, and then laid out: as text for a width (vt_doc_print), as Markdown, as the words of the HTML
 * page.
 *
 * The document owns its texts: UTF-8 in one line, without control characters. Whoever builds it frees
 * nothing:
 *
 *     struct vt_doc doc = {.column = 16};
 *     vt_doc_heading(&doc, VT_STYLE_BAD, "LEAK", "%s kept and growing.", VT_BYTES(bytes));
 *     vt_doc_row(&doc, "kept by", "%s", vt_doc_keep(&doc, vt_owner_text(process, owner, 0)));
 *     vt_doc_table(&doc, columns, 3);
 *     vt_doc_cells(&doc, VT_BYTES(site->live_bytes), VT_NUMBER(site->live_count), place);
 *     vt_doc_print(&doc, &text);
 *     vt_doc_free(&doc);
 */
#ifndef VRAMTRACE_ANALYZER_DOC_H
#define VRAMTRACE_ANALYZER_DOC_H

#include "text_page.h"

enum vt_doc_kind {
    VT_DOC_HEADING, /* an empty line, the label, and beside it the text */
    VT_DOC_LINE,    /* the label in its style, and the text right behind it, however long */
    VT_DOC_NOTE,    /* a sentence that limits what all others mean */
    VT_DOC_ROW,     /* the label, and beside it a sentence */
    VT_DOC_PLACE,   /* the label, and beside it a frame with its source line */
    VT_DOC_SOURCE,  /* a line of code, or a frame that called: of what stands above */
    VT_DOC_MORE,    /* a sentence about what stands above */
    VT_DOC_TABLE,   /* the next items are its rows, and what stands below each */
    VT_DOC_CELLS,   /* a row of the table */
    VT_DOC_REST,    /* what the table leaves out: `bytes`, and in what */
};

/* A column of a table. One that is not `fixed` is as wide as its widest text; in one that is, a wider text
 * moves what follows. */
struct vt_doc_column {
    const char *title;
    unsigned before, width; /* blanks before it, and at least so many columns */
    bool right, fixed;
    bool code;         /* names and code: Markdown shows them as such */
    const char *style; /* of its texts; NULL: none */
};
#define VT_DOC_COLUMNS 8

struct vt_doc_item {
    enum vt_doc_kind kind;
    const char *style; /* of the label, or where there is none of the text; "": none */
    const char *label; /* "": none */
    const char *text;
    const char *source;       /* a line of code, or a fact, behind the text; NULL: none */
    unsigned column;          /* where the text begins, and each further line of it */
    uint64_t bytes;           /* VT_UNKNOWN: none */
    const char *const *cells; /* "": nothing in this one */
    const struct vt_doc_column *columns;
    unsigned count; /* of columns */
};

/* Start it as {.column = N}. */
struct vt_doc {
    struct vt_doc_item *items;
    uint32_t count, room;
    unsigned column; /* where the texts of rows stand that are added from now on */
    void **kept;
    uint32_t kept_count, kept_room;
};

void vt_doc_free(struct vt_doc *doc);

/* Takes `text` over and makes it printable. Returns it; NULL is allowed. */
char *vt_doc_keep(struct vt_doc *doc, char *text);

/* A text that the document keeps. */
char *vt_doc_text(struct vt_doc *doc, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Each adds an item, which may be changed until the next is added. Titles and labels stay the caller's. */
struct vt_doc_item *vt_doc_add(struct vt_doc *doc, enum vt_doc_kind kind, const char *text);
struct vt_doc_item *vt_doc_heading(struct vt_doc *doc, const char *style, const char *title,
                                   const char *format, ...) __attribute__((format(printf, 4, 5)));
struct vt_doc_item *vt_doc_row(struct vt_doc *doc, const char *label, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
struct vt_doc_item *vt_doc_line(struct vt_doc *doc, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Begins a table; adds a row to it, a text for each column, "" where there is none; and what it leaves out:
 * so many bytes "in 3 more lines". */
void vt_doc_table(struct vt_doc *doc, const struct vt_doc_column *columns, unsigned count);
#define vt_doc_cells(doc, ...)                                                                     \
    vt_doc_add_cells(doc, (const char *const[]){__VA_ARGS__},                                      \
                     sizeof(const char *const[]){__VA_ARGS__} / sizeof(char *))
void vt_doc_add_cells(struct vt_doc *doc, const char *const *cells, unsigned count);
void vt_doc_rest(struct vt_doc *doc, uint64_t bytes, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* --- doc_text.c --- */

/* Writes it as text to `t->out`, for `t->width`; with styles if `t->options->colour`. */
void vt_doc_print(const struct vt_doc *doc, const struct vt_text *t);

#endif
