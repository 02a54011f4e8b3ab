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

struct table {
    const struct vt_doc_item *item;
    unsigned widths[VT_DOC_COLUMNS];
    unsigned below; /* where the lines below a row begin; 0: each in its own column */
};

static bool is_below(const struct vt_doc_item *item) {
    return item->kind == VT_DOC_SOURCE || item->kind == VT_DOC_MORE || item->kind == VT_DOC_CALLER;
}

/* Where the table is wider than the page, its widest columns of frames and names give way. */
static void shrink_columns(struct table *table, unsigned width) {
    enum { LEAST = 16 };
    const struct vt_doc_column *columns = table->item->columns;
    for (;;) {
        unsigned all = 0, widest = VT_DOC_COLUMNS, *widths = table->widths;
        for (unsigned c = 0; c < table->item->count; c++) {
            bool wraps = columns[c].words && c + 1 == table->item->count && widths[c] > LEAST;
            all += columns[c].before + (wraps ? LEAST : widths[c]);
            if ((columns[c].code || columns[c].name) &&
                (widest == VT_DOC_COLUMNS || widths[c] > widths[widest]))
                widest = c;
        }
        if (all <= width || widest == VT_DOC_COLUMNS || widths[widest] <= LEAST)
            return;
        widths[widest] -=
            all - width < widths[widest] - LEAST ? all - width : widths[widest] - LEAST;
    }
}

static void fill_page(struct table *table) {
    unsigned all = 0, fill = VT_DOC_COLUMNS;
    for (unsigned c = 0; c < table->item->count; c++) {
        all += table->item->columns[c].before + table->widths[c];
        if (table->item->columns[c].fill)
            fill = c;
    }
    if (fill < VT_DOC_COLUMNS && all < VT_TEXT_WIDTH)
        table->widths[fill] += VT_TEXT_WIDTH - all;
}

static void widen(struct table *table, unsigned c, const char *text) {
    unsigned columns = vt_frame_text_columns(text);
    if (columns > table->widths[c] && !table->item->columns[c].fixed)
        table->widths[c] = columns;
}

/* Measures the table at `at` of the document's items. */
static struct table measure_table(const struct vt_doc *doc, uint32_t at, unsigned width) {
    struct table table = {.item = &doc->items[at]};
    const struct vt_doc_column *columns = table.item->columns;
    for (unsigned c = 0; c < table.item->count; c++) {
        table.widths[c] = columns[c].width;
        widen(&table, c, columns[c].title);
    }
    for (uint32_t i = at + 1; i < doc->count; i++) {
        const struct vt_doc_item *row = &doc->items[i];
        if (row->kind != VT_DOC_CELLS && !is_below(row))
            break;
        for (unsigned c = 0; row->cells && c < table.item->count; c++)
            widen(&table, c, row->cells[c]);
    }
    fill_page(&table);
    shrink_columns(&table, width);
    for (unsigned c = 0, before = 0; c < table.item->count && !table.below; c++) {
        before += columns[c].before;
        table.below = columns[c].code ? before : 0;
        before += table.widths[c];
    }
    return table;
}

/* A cell as it fits its column. Free it. */
static char *fit_cell(const struct vt_doc_column *column, unsigned width, const char *whole) {
    return column->fixed  ? vt_strdup(whole)
           : column->code ? vt_frame_text_fit(whole, width)
           : column->name ? vt_text_cut(whole, width)
                          : vt_strdup(whole);
}

/* Titles, or a row. No line ends with blanks. */
static void print_cells(const struct vt_text *t, const struct table *table,
                        const struct vt_doc_item *row) {
    unsigned blanks = 0, begin = 0, count = table->item->count;
    for (unsigned c = 0; c < count; c++) {
        const struct vt_doc_column *column = &table->item->columns[c];
        const char *style = !row || row->sentence ? NULL : c ? column->style : row->style;
        VT_SCOPED char *text =
            fit_cell(column, table->widths[c], row ? row->cells[c] : column->title);
        unsigned columns = vt_frame_text_columns(text),
                 pad = columns < table->widths[c] ? table->widths[c] - columns : 0;
        begin += column->before;
        blanks += column->before + (column->right ? pad : 0);
        if (columns) {
            fprintf(t->out, "%*s", (int)blanks, "");
            blanks = 0;
        }
        if (columns && column->words && c + 1 == count) {
            fputs(style ? vt_text_style(t, style) : "", t->out);
            vt_text_wrap(t, NULL, begin, text);
            fputs(style ? vt_text_style(t, VT_STYLE_NONE) : "", t->out);
            return;
        }
        print_styled(t, style, text);
        begin += columns + pad;
        blanks += column->right ? 0 : pad;
    }
    fputc('\n', t->out);
}

static void print_titles(const struct vt_text *t, const struct table *table) {
    bool any = false;
    for (unsigned c = 0; c < table->item->count; c++)
        any |= table->item->columns[c].title[0] != 0;
    if (!any)
        return;
    fputs(vt_text_style(t, VT_STYLE_DIM), t->out);
    print_cells(t, table, NULL);
    fputs(vt_text_style(t, VT_STYLE_NONE), t->out);
}

/* --- rows --- */

/* A command may be long, and then has two lines. */
static void print_sides(const struct vt_text *t, const char *whole, const char *right) {
    VT_SCOPED char *left = vt_text_cut(whole, 2 * t->width);
    unsigned l = vt_frame_text_columns(left), r = vt_frame_text_columns(right);
    if (l + 3 + r <= t->width) {
        fprintf(t->out, "%s%*s%s\n", left, (int)(t->width - l - r), "", right);
        return;
    }
    fprintf(t->out, "%s\n%*s", left, r < t->width ? (int)(t->width - r) : 0, "");
    vt_text_wrap(t, NULL, 0, right);
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
    if (!item->id) {
        vt_text_wrap(t, head, at, item->text);
        return;
    }
    unsigned beside = at + (unsigned)strlen(item->id) + 2,
             width = VT_TEXT_WIDTH - beside; /* ids stay near */
    VT_SCOPED char *text = vt_frame_text_fit(item->text, t->width - beside);
    unsigned columns = vt_frame_text_columns(text);
    fprintf(t->out, "%s  %s%*s  %s\n", head, text, columns < width ? (int)(width - columns) : 0, "",
            item->id);
}

static void print_caller(const struct vt_text *t, const struct vt_doc_item *item) {
    static const char by[] = "called by ";
    VT_SCOPED char *text =
        vt_frame_text_fit(item->text, t->width - item->column - (unsigned)(sizeof by - 1));
    fprintf(t->out, "%*s%s%s%s%s\n", (int)item->column, "", vt_text_style(t, VT_STYLE_DIM), by,
            text, vt_text_style(t, VT_STYLE_NONE));
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

/* A line of code, and facts beside it, which have room first. */
static void print_source(const struct vt_text *t, const struct vt_doc_item *item) {
    const char *gap = item->text[0] ? "   " : "";
    unsigned room = t->width - item->column;
    VT_SCOPED char *facts = vt_text_cut(item->source ? item->source : "", room);
    unsigned columns = vt_frame_text_columns(facts);
    VT_SCOPED char *text = vt_text_cut(item->text, columns ? room - columns - 3 : room);
    fprintf(t->out, "%*s%s", (int)item->column, "", text);
    if (columns)
        fprintf(t->out, "%s%s%s%s", vt_text_style(t, VT_STYLE_DIM), gap, facts,
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
    if (!item->device || !vt_text_line_make(item->device, t->width - 4, t->blocks, &line))
        return;
    fprintf(t->out, "   %s\n   %s%s%s\n", line.line, vt_text_style(t, VT_STYLE_DIM), line.axis,
            vt_text_style(t, VT_STYLE_NONE));
    vt_text_line_free(&line);
}

char *vt_doc_course(const struct vt_doc_item *item, unsigned columns, bool blocks) {
    enum { NAME = 14, BYTES = 10 };
    unsigned width = columns - NAME - 1 - BYTES;
    if (!item->levels)
        return vt_formatted("%*s 0%*s", NAME, "", (int)width - 1, item->text);
    VT_SCOPED char *name = vt_text_cut(item->label, NAME),
                   *line = vt_text_line_draw(item->levels, width, item->scale, blocks);
    return vt_formatted("%s%*s %s%*s %9s", name, (int)(NAME - vt_frame_text_columns(name)), "",
                        line, (int)(width - vt_frame_text_columns(line)), "",
                        VT_BYTES(item->bytes));
}

static void print_course(const struct vt_text *t, const struct vt_doc_item *item) {
    VT_SCOPED char *line = vt_doc_course(item, t->width - 3, t->blocks);
    fprintf(t->out, "  %s\n", line);
}

static void print_rule(const struct vt_text *t) {
    fputc('\n', t->out);
    for (unsigned i = 0; i < t->width; i++)
        fputc('=', t->out);
    fputs("\n\n", t->out);
}

/* --- what to do next --- */

/* Whether a hint fits beside a command that ends at this column. */
static bool fits_beside(const struct vt_text *t, unsigned column, const char *hint) {
    return 6 + column + 2 + strlen(hint) <= t->width;
}

/* Prints the commands from `at` on, below their section's label. Returns the last. */
static uint32_t print_commands(const struct vt_text *t, const struct vt_doc *doc, uint32_t at) {
    unsigned column = 45; /* where the hints stand */
    uint32_t end = at;
    while (end < doc->count && doc->items[end].kind == VT_DOC_COMMAND)
        end++;
    for (uint32_t i = at; i < end; i++) {
        unsigned columns = vt_frame_text_columns(doc->items[i].text);
        if (columns > column && fits_beside(t, columns, doc->items[i].label))
            column = columns;
    }
    for (uint32_t i = at; i < end; i++) {
        const struct vt_doc_item *item = &doc->items[i];
        unsigned columns = vt_frame_text_columns(item->text);
        print_styled(t, VT_STYLE_HEAD, i > at ? "    " : doc->items[at - 1].label);
        fprintf(t->out, "  %s", item->text);
        if (columns <= column && fits_beside(t, column, item->label)) {
            fprintf(t->out, "%*s", (int)(column - columns + 2), "");
            print_styled(t, VT_STYLE_DIM, item->label);
        }
        fputc('\n', t->out);
    }
    return end - 1;
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
        print_styled(t, item->label[0] ? NULL : item->style, item->text);
        fputc('\n', t->out);
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
        print_caller(t, item);
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
    case VT_DOC_COURSE:
        print_course(t, item);
        break;
    case VT_DOC_RULE:
        print_rule(t);
        break;
    case VT_DOC_PICTURE:
        fprintf(t->out, "  %s\n", item->text);
        break;
    case VT_DOC_ROW:
        print_row(t, item);
        break;
    default: /* a table and its rows, commands, ends */
        break;
    }
}

void vt_doc_print(const struct vt_doc *doc, const struct vt_text *t) {
    struct table table = {0};
    for (uint32_t i = 0; i < doc->count; i++) {
        struct vt_doc_item item = doc->items[i];
        if (item.kind == VT_DOC_COMMAND) {
            i = print_commands(t, doc, i);
        } else if (item.kind == VT_DOC_TABLE) {
            table = measure_table(doc, i, t->width);
            print_titles(t, &table);
        } else if (item.kind == VT_DOC_CELLS) {
            print_cells(t, &table, &item);
        } else {
            table.below = is_below(&item) ? table.below : 0;
            item.column = table.below ? table.below : item.column;
            print_item(t, &item);
        }
    }
}

void vt_doc_show(const struct vt_doc *doc, bool colour, FILE *to) {
    struct vt_page page;
    struct vt_text t = {.out = vt_page_open(&page), .width = VT_TEXT_WIDTH, .colour = colour};
    vt_doc_print(doc, &t);
    vt_page_close(&page, colour, to);
}
