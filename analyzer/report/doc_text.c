/* SPDX-License-Identifier: MIT */
/*
 * A document as text (see doc.h), for a terminal or a file of so many columns.
 */
#include "doc.h"

#include "model/model.h"

#include <stdlib.h>

/* Writes a text in a style. */
static void print_styled(const struct vt_text *t, const char *style, const char *text) {
    fprintf(t->out, "%s%s%s", style && *style ? vt_text_style(t, style) : "", text,
            style && *style ? vt_text_style(t, VT_STYLE_NONE) : "");
}

/* --- tables --- */

static bool is_of_table(const struct vt_doc_item *item) {
    return item->kind == VT_DOC_CELLS || item->kind == VT_DOC_SOURCE || item->kind == VT_DOC_MORE;
}

/* The widths of the table at `at` of the document's items. */
static void measure_columns(const struct vt_doc *doc, uint32_t at,
                            unsigned widths[VT_DOC_COLUMNS]) {
    const struct vt_doc_item *table = &doc->items[at];
    for (unsigned c = 0; c < table->count; c++) {
        unsigned columns = vt_frame_text_columns(table->columns[c].title);
        widths[c] = table->columns[c].width;
        if (columns > widths[c] && !table->columns[c].fixed)
            widths[c] = columns;
    }
    for (uint32_t i = at + 1; i < doc->count && is_of_table(&doc->items[i]); i++)
        for (unsigned c = 0; doc->items[i].cells && c < table->count; c++) {
            unsigned columns = vt_frame_text_columns(doc->items[i].cells[c]);
            if (columns > widths[c] && !table->columns[c].fixed)
                widths[c] = columns;
        }
}

/* A cell, after the blanks that are due before it. Returns the blanks that are due behind it. */
static unsigned print_cell(const struct vt_text *t, const struct vt_doc_column *column,
                           unsigned width, unsigned blanks, const char *style, const char *text) {
    unsigned columns = vt_frame_text_columns(text), pad = columns < width ? width - columns : 0;
    blanks += column->before + (column->right ? pad : 0);
    fprintf(t->out, "%*s", (int)blanks, "");
    print_styled(t, style, text);
    return column->right ? 0 : pad;
}

/* Rows do not end with blanks. */
static void print_cells(const struct vt_text *t, const struct vt_doc_item *table,
                        const unsigned *widths, const char *const *cells, bool titles) {
    unsigned blanks = 0;
    for (unsigned c = 0; c < table->count; c++) {
        const struct vt_doc_column *column = &table->columns[c];
        if (cells[c][0])
            blanks =
                print_cell(t, column, widths[c], blanks, titles ? NULL : column->style, cells[c]);
        else
            blanks += column->before + widths[c];
    }
}

static void print_titles(const struct vt_text *t, const struct vt_doc_item *table,
                         const unsigned *widths) {
    const char *titles[VT_DOC_COLUMNS];
    bool any = false;
    for (unsigned c = 0; c < table->count; c++) {
        titles[c] = table->columns[c].title;
        any |= titles[c][0] != 0;
    }
    if (!any)
        return;
    fputs(vt_text_style(t, VT_STYLE_DIM), t->out);
    print_cells(t, table, widths, titles, true);
    fprintf(t->out, "%s\n", vt_text_style(t, VT_STYLE_NONE));
}

/* --- all else --- */

static void print_row(const struct vt_text *t, const struct vt_doc_item *item) {
    char *label = vt_formatted("%s%s", item->label[0] ? "  " : "", item->label);
    vt_text_wrap(t, label, item->column, item->text);
    free(label);
}

/* A frame, with its source line beside it if there is room. */
static void print_place(const struct vt_text *t, const struct vt_doc_item *item) {
    unsigned columns = item->column + vt_frame_text_columns(item->text);
    fprintf(t->out, "  %-*s", (int)item->column - 2, item->label);
    print_styled(t, item->style, item->text);
    if (item->source && columns + 3 + vt_frame_text_columns(item->source) <= t->width)
        fprintf(t->out, "   %s", item->source);
    else if (item->source)
        fprintf(t->out, "\n%*s%s", (int)item->column, "", item->source);
    fputc('\n', t->out);
}

static void print_source(const struct vt_text *t, const struct vt_doc_item *item) {
    fprintf(t->out, "%*s%s%s%s%s%s\n", (int)item->column, "", item->text,
            vt_text_style(t, VT_STYLE_DIM), item->text[0] && item->source ? "   " : "",
            item->source ? item->source : "", vt_text_style(t, VT_STYLE_NONE));
}

void vt_doc_print(const struct vt_doc *doc, const struct vt_text *t) {
    const struct vt_doc_item *table = NULL;
    unsigned widths[VT_DOC_COLUMNS];
    for (uint32_t i = 0; i < doc->count; i++) {
        const struct vt_doc_item *item = &doc->items[i];
        switch (item->kind) {
        case VT_DOC_HEADING:
            vt_text_heading(t, item->style, item->label, item->text);
            break;
        case VT_DOC_LINE:
            print_styled(t, item->style, item->label);
            fprintf(t->out, "%s\n", item->text);
            break;
        case VT_DOC_NOTE:
            vt_text_wrap(t, item->label, item->column, item->text);
            break;
        case VT_DOC_ROW:
            print_row(t, item);
            break;
        case VT_DOC_PLACE:
            print_place(t, item);
            break;
        case VT_DOC_SOURCE:
            print_source(t, item);
            break;
        case VT_DOC_MORE:
            fputs(item->style[0] ? vt_text_style(t, item->style) : "", t->out);
            vt_text_wrap(t, item->label, item->column, item->text);
            fputs(item->style[0] ? vt_text_style(t, VT_STYLE_NONE) : "", t->out);
            break;
        case VT_DOC_TABLE:
            table = item;
            measure_columns(doc, i, widths);
            print_titles(t, table, widths);
            break;
        case VT_DOC_CELLS:
            print_cells(t, table, widths, item->cells, false);
            fputc('\n', t->out);
            break;
        case VT_DOC_REST:
            fprintf(t->out, "%10s  %s\n", VT_BYTES(item->bytes), item->text);
            break;
        }
    }
}
