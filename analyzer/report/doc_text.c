/* SPDX-License-Identifier: MIT */
/*
 * A document as text (see content/doc.h), for a terminal or a file of a given width.
 */
#include "text_page.h"

#include "model/model.h"

#include <stdlib.h>
#include <string.h>

/* Writes a text in a style. */
static void print_styled(const struct vt_text *t, const char *style, const char *text) {
    fprintf(t->out, "%s%s%s", style && *style ? vt_text_style(t, style) : "", text,
            style && *style ? vt_text_style(t, VT_STYLE_NONE) : "");
}

/* --- tables --- */

static bool is_of_table(const struct vt_doc_item *item) {
    return item->kind == VT_DOC_CELLS || item->kind == VT_DOC_SOURCE || item->kind == VT_DOC_MORE;
}

/* If the table is wider than the page, the widest column of frames and names is narrowed. */
static void fit_columns(const struct vt_doc_item *table, unsigned widths[VT_DOC_COLUMNS],
                        unsigned width) {
    enum { LEAST = 16 };
    unsigned all = 0, widest = VT_DOC_COLUMNS;
    for (unsigned c = 0; c < table->count; c++) {
        all += table->columns[c].before + widths[c];
        if (table->columns[c].code && (widest == VT_DOC_COLUMNS || widths[c] > widths[widest]))
            widest = c;
    }
    if (all > width && widest < VT_DOC_COLUMNS && widths[widest] > LEAST)
        widths[widest] =
            all - width < widths[widest] - LEAST ? widths[widest] - (all - width) : LEAST;
}

/* The widths of the table at `at` of the document's items. */
static void measure_columns(const struct vt_doc *doc, uint32_t at, unsigned width,
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
    fit_columns(table, widths, width);
}

/* Prints a cell after its leading blanks. Returns the blanks due after it. */
static unsigned print_cell(const struct vt_text *t, const struct vt_doc_column *column,
                           unsigned width, unsigned blanks, const char *style, const char *whole) {
    VT_SCOPED char *text =
        column->code && !column->fixed ? vt_frame_text_fit(whole, width) : vt_strdup(whole);
    unsigned columns = vt_frame_text_columns(text), pad = columns < width ? width - columns : 0;
    blanks += column->before + (column->right ? pad : 0);
    fprintf(t->out, "%*s", (int)blanks, "");
    print_styled(t, style, text);
    return column->right ? 0 : pad;
}

/* Titles, or a row. Lines never end with blanks. */
static void print_cells(const struct vt_text *t, const struct vt_doc_item *table,
                        const unsigned *widths, const struct vt_doc_item *row) {
    unsigned blanks = 0;
    for (unsigned c = 0; c < table->count; c++) {
        const struct vt_doc_column *column = &table->columns[c];
        const char *style = !row || row->sentence ? NULL : c ? column->style : row->style;
        const char *text = row ? row->cells[c] : column->title;
        if (text[0])
            blanks = print_cell(t, column, widths[c], blanks, style, text);
        else
            blanks += column->before + widths[c];
    }
}

static void print_titles(const struct vt_text *t, const struct vt_doc_item *table,
                         const unsigned *widths) {
    bool any = false;
    for (unsigned c = 0; c < table->count; c++)
        any |= table->columns[c].title[0] != 0;
    if (!any)
        return;
    fputs(vt_text_style(t, VT_STYLE_DIM), t->out);
    print_cells(t, table, widths, NULL);
    fprintf(t->out, "%s\n", vt_text_style(t, VT_STYLE_NONE));
}

/* --- rows --- */

static void print_sides(const struct vt_text *t, const char *left, const char *right) {
    unsigned l = vt_frame_text_columns(left), r = vt_frame_text_columns(right);
    if (l + 3 + r <= t->width)
        fprintf(t->out, "%s%*s%s\n", left, (int)(t->width - l - r), "", right);
    else
        fprintf(t->out, "%s\n%*s%s\n", left, r < t->width ? (int)(t->width - r) : 0, "", right);
}

static void print_row(const struct vt_text *t, const struct vt_doc_item *item) {
    VT_SCOPED char *label = vt_formatted("%s%s", item->label[0] ? "  " : "", item->label);
    vt_text_wrap(t, label, item->column, item->text);
}

static void print_alarm(const struct vt_text *t, const struct vt_doc_item *item) {
    fprintf(t->out, "  %s%-*s%s", vt_text_style(t, VT_STYLE_WARN), (int)item->column - 2,
            item->label, vt_text_style(t, VT_STYLE_NONE));
    vt_text_wrap(t, NULL, item->column, item->text);
}

/* "5.11 GiB  train.py:22 in main   3f2a", or an owner. */
static void print_holder(const struct vt_text *t, const struct vt_doc_item *item) {
    VT_SCOPED char *head =
        vt_formatted("  %-*s%9s", (int)item->column - 2, item->label, VT_BYTES(item->bytes));
    unsigned at = item->column + VT_DOC_BYTES;
    unsigned width =
        VT_TEXT_WIDTH - at - (item->id ? (unsigned)strlen(item->id) : 0) - 2; /* ids stay near */
    unsigned columns = vt_frame_text_columns(item->text);
    if (item->id)
        fprintf(t->out, "%s  %s%*s  %s\n", head, item->text,
                columns < width ? (int)(width - columns) : 0, "", item->id);
    else
        vt_text_wrap(t, head, at, item->text);
}

/* A frame, with its source line beside it if there is room. */
static void print_place(const struct vt_text *t, const struct vt_doc_item *item) {
    VT_SCOPED char *text = vt_frame_text_fit(item->text, t->width - item->column);
    VT_SCOPED char *source =
        item->source ? vt_text_cut(item->source, t->width - item->column) : NULL;
    unsigned columns = item->column + vt_frame_text_columns(text);
    fprintf(t->out, "  %-*s", (int)item->column - 2, item->label);
    print_styled(t, item->style, text);
    if (source && columns + 3 + vt_frame_text_columns(source) <= t->width)
        fprintf(t->out, "   %s", source);
    else if (source)
        fprintf(t->out, "\n%*s%s", (int)item->column, "", source);
    fputc('\n', t->out);
}

static void print_source(const struct vt_text *t, const struct vt_doc_item *item) {
    fprintf(t->out, "%*s%s", (int)item->column, "", item->text);
    if (item->source)
        fprintf(t->out, "%s%s%s%s", vt_text_style(t, VT_STYLE_DIM),
                item->text[0] && item->source[0] ? "   " : "", item->source,
                vt_text_style(t, VT_STYLE_NONE));
    fputc('\n', t->out);
}

static void print_more(const struct vt_text *t, const struct vt_doc_item *item) {
    fputs(item->style[0] ? vt_text_style(t, item->style) : "", t->out);
    vt_text_wrap(t, item->label, item->column, item->text);
    fputs(item->style[0] ? vt_text_style(t, VT_STYLE_NONE) : "", t->out);
}

/* --- a device --- */

char *vt_doc_bar(const struct vt_doc_parts *parts, unsigned columns, const struct vt_text *t) {
    struct vt_string bar = {0};
    unsigned used = 0;
    vt_string_add(&bar, "[");
    for (unsigned i = 0; i < parts->count; i++) {
        const struct vt_doc_part *part = &parts->parts[i];
        double share = parts->whole ? (double)part->bytes / (double)parts->whole : 0;
        unsigned n = share < 1 ? (unsigned)(share * columns + 0.5) : columns;
        if (part->bytes && !n)
            n = 1;
        if (n > columns - used)
            n = columns - used;
        vt_string_add(&bar, t ? vt_text_style(t, part->style) : "");
        for (unsigned j = 0; j < n; j++)
            vt_string_add_bytes(&bar, &part->letter, 1);
        vt_string_add(&bar, t ? vt_text_style(t, VT_STYLE_NONE) : "");
        used += n;
    }
    for (; used < columns; used++)
        vt_string_add(&bar, ".");
    vt_string_add(&bar, "]");
    return bar.text;
}

static void print_bar(const struct vt_text *t, const struct vt_doc_item *item) {
    struct vt_text_line line;
    VT_SCOPED char *bar = vt_doc_bar(item->parts, t->width - 4, t);
    fprintf(t->out, "  %s\n", bar);
    if (!vt_text_line_make(item->device, t->width - 4, t->blocks, &line))
        return;
    fprintf(t->out, "   %s\n   %s%s%s\n", line.line, vt_text_style(t, VT_STYLE_DIM), line.axis,
            vt_text_style(t, VT_STYLE_NONE));
    vt_text_line_free(&line);
}

/* --- commands to run next --- */

/* Whether a hint fits beside a command that ends at this column. */
static bool fits_beside(const struct vt_text *t, unsigned column, const char *hint) {
    return 6 + column + 2 + strlen(hint) <= t->width;
}

/* Prints the commands, which are the last items from `at` on. */
static void print_commands(const struct vt_text *t, const struct vt_doc *doc, uint32_t at) {
    unsigned column = 45; /* column of the hints */
    for (uint32_t i = at; i < doc->count; i++) {
        unsigned columns = vt_frame_text_columns(doc->items[i].text);
        if (columns > column && fits_beside(t, columns, doc->items[i].label))
            column = columns;
    }
    fputc('\n', t->out);
    for (uint32_t i = at; i < doc->count; i++) {
        const struct vt_doc_item *item = &doc->items[i];
        unsigned columns = vt_frame_text_columns(item->text);
        print_styled(t, VT_STYLE_HEAD, i > at ? "    " : "NEXT");
        fprintf(t->out, "  %s", item->text);
        if (columns <= column && fits_beside(t, column, item->label)) {
            fprintf(t->out, "%*s", (int)(column - columns + 2), "");
            print_styled(t, VT_STYLE_DIM, item->label);
        }
        fputc('\n', t->out);
    }
}

/* --- the document --- */

static void print_item(const struct vt_text *t, const struct vt_doc_item *item) {
    switch (item->kind) {
    case VT_DOC_SIDES:
        print_sides(t, item->label, item->text);
        break;
    case VT_DOC_HEADING:
        vt_text_heading(t, item->style, item->label, item->text);
        break;
    case VT_DOC_LINE:
        print_styled(t, item->style, item->label);
        fprintf(t->out, "%s\n", item->text);
        break;
    case VT_DOC_SECTION:
        if (item->label[0])
            fputc('\n', t->out);
        break;
    case VT_DOC_NOTE:
        vt_text_wrap(t, item->label, item->column, item->text);
        break;
    case VT_DOC_SENTENCE:
    case VT_DOC_REMARK:
        vt_text_wrap(t, "  ", 2, item->text);
        break;
    case VT_DOC_ALARM:
        print_alarm(t, item);
        break;
    case VT_DOC_PLACE:
        print_place(t, item);
        break;
    case VT_DOC_HOLDER:
        print_holder(t, item);
        break;
    case VT_DOC_CALLER:
        fprintf(t->out, "%*s%scalled by %s%s\n", (int)item->column, "",
                vt_text_style(t, VT_STYLE_DIM), item->text, vt_text_style(t, VT_STYLE_NONE));
        break;
    case VT_DOC_SOURCE:
        print_source(t, item);
        break;
    case VT_DOC_MORE:
        print_more(t, item);
        break;
    case VT_DOC_REST:
        fprintf(t->out, "%10s  %s\n", VT_BYTES(item->bytes), item->text);
        break;
    case VT_DOC_BAR:
        print_bar(t, item);
        break;
    case VT_DOC_ROW:
    case VT_DOC_PEAK:
        print_row(t, item);
        break;
    default: /* a table and its rows, commands, ends */
        break;
    }
}

void vt_doc_print(const struct vt_doc *doc, const struct vt_text *t) {
    const struct vt_doc_item *table = NULL;
    unsigned widths[VT_DOC_COLUMNS];
    for (uint32_t i = 0; i < doc->count; i++) {
        const struct vt_doc_item *item = &doc->items[i];
        if (item->kind == VT_DOC_COMMAND) {
            print_commands(t, doc, i);
            break;
        }
        if (item->kind == VT_DOC_TABLE) {
            table = item;
            measure_columns(doc, i, t->width, widths);
            print_titles(t, table, widths);
        } else if (item->kind == VT_DOC_CELLS) {
            print_cells(t, table, widths, item);
            fputc('\n', t->out);
        } else {
            print_item(t, item);
        }
    }
}

void vt_doc_show(const struct vt_doc *doc, bool colour, FILE *to) {
    struct vt_page page;
    struct vt_text t = {.out = vt_page_open(&page), .width = VT_TEXT_WIDTH, .colour = colour};
    vt_doc_print(doc, &t);
    vt_page_close(&page, colour, to);
}
