/* SPDX-License-Identifier: MIT */
/*
 * A document as GitHub-flavoured Markdown (see content/doc.h): rows as a list, tables as tables, bars as a block of code.
 */
#include "doc_markdown.h"
#include "markdown.h"
#include "text_page.h"

#include <stdlib.h>
#include <string.h>

enum { BAR = 76, NOTES = 5 };

static unsigned count_lines(const char *text) {
    unsigned lines = 0;
    for (; text && *text; text++)
        lines += *text == '\n';
    return lines;
}

/* Appends the section, if it fits. The next one begins with an empty line. */
void vt_doc_markdown_end(struct vt_doc_markdown *page) {
    struct vt_string *s = &page->section;
    while (s->length > 1 && !memcmp(s->text + s->length - 2, "\n\n", 2))
        s->text[--s->length] = 0;
    unsigned lines = count_lines(s->text);
    if (!page->section.length)
        return;
    if (!page->most || page->lines + lines <= page->most) {
        vt_string_add(&page->text, page->section.text);
        page->lines += lines;
    } else {
        page->left_out++;
    }
    vt_string_free(&page->section);
}

/* Adds an empty line, unless there is one. */
static void empty_line(struct vt_string *s) {
    if (s->length < 2 || memcmp(s->text + s->length - 2, "\n\n", 2) != 0)
        vt_string_add(s, "\n");
}

void vt_doc_markdown_heading(struct vt_doc_markdown *page, const char *title, const char *rest) {
    empty_line(&page->section);
    vt_string_add(&page->section, "## ");
    vt_markdown_text(&page->section, title);
    if (rest && *rest) {
        vt_string_add(&page->section, ": ");
        vt_markdown_text(&page->section, rest);
    }
    vt_string_add(&page->section, "\n\n");
}

/* --- the document --- */

static void put_sentence(struct vt_string *s, const char *before, const char *text) {
    vt_string_add(s, before);
    vt_markdown_text(s, text);
    vt_string_add(s, "\n");
}

/* `first`: there is no row above that it could continue. */
static void put_row(struct vt_doc_markdown *page, const struct vt_doc_item *row, bool first) {
    struct vt_string *s = &page->section;
    bool code = row->kind == VT_DOC_PLACE || row->kind == VT_DOC_SOURCE ||
                row->kind == VT_DOC_CALLER || row->site;
    vt_string_add(s, row->label[0] || row->kind == VT_DOC_HOLDER || first ? "- " : "  - ");
    const char *text = row->text[0]  ? row->text
                       : row->source ? row->source
                                     : "",
               *source = row->text[0] ? row->source : NULL;
    if (row->label[0])
        vt_string_format(s, "**%s** ", row->label + strspn(row->label, " "));
    if (row->kind == VT_DOC_CALLER)
        vt_string_add(s, "called by ");
    if (row->bytes != VT_UNKNOWN)
        vt_string_format(s, "%s ", VT_BYTES(row->bytes));
    if (code)
        vt_markdown_code(s, text, false);
    else
        vt_markdown_text(s, text);
    if (row->id)
        vt_string_format(s, " (site `%s`)", row->id);
    if (source) {
        vt_string_add(s, "\n  - ");
        vt_markdown_code(s, source, false);
    }
    vt_string_add(s, "\n");
}

static void put_titles(struct vt_string *s, const struct vt_doc_item *table) {
    empty_line(s);
    for (unsigned c = 0; c < table->count; c++)
        vt_string_format(s, "%s%s%s", c ? " |" : "|", table->columns[c].title[0] ? " " : "",
                         table->columns[c].title);
    for (unsigned c = 0; c < table->count; c++)
        vt_string_format(s, "%s%s", c ? " | " : " |\n| ", table->columns[c].right ? "---:" : "---");
    vt_string_add(s, " |\n");
}

static bool is_below(const struct vt_doc_item *item) {
    return item->kind == VT_DOC_SOURCE || item->kind == VT_DOC_MORE || item->kind == VT_DOC_CALLER;
}

/* Lines below a row of a text follow the frame in its cell. */
static void put_below(struct vt_string *s, const struct vt_doc_item *row,
                      const struct vt_doc_item *end) {
    for (const struct vt_doc_item *item = row + 1; item < end && is_below(item); item++) {
        vt_string_add(s, ", ");
        if (item->kind == VT_DOC_CALLER)
            vt_string_add(s, "called by ");
        if (item->kind == VT_DOC_MORE)
            vt_markdown_text(s, item->text);
        else
            vt_markdown_code(s, item->text, true);
        if (item->source) {
            vt_string_add(s, item->text[0] ? " " : "");
            vt_markdown_text(s, item->source);
        }
    }
}

/* The column of a table below whose text the lines below a row stand: that of frames, else the last. */
static unsigned main_column(const struct vt_doc_item *table) {
    for (unsigned c = 0; c < table->count; c++)
        if (table->columns[c].code)
            return c;
    return table->count - 1;
}

static void put_cells(struct vt_string *s, const struct vt_doc_item *table,
                      const struct vt_doc_item *row, const struct vt_doc_item *end) {
    vt_string_add(s, "|");
    for (unsigned c = 0; c < table->count; c++) {
        const struct vt_doc_column *column = &table->columns[c];
        bool code = column->code || column->name;
        vt_string_add(s, row->cells[c][0] || column->words ? " " : "");
        if (code && !row->sentence)
            vt_markdown_code(s, row->cells[c], true);
        else if (code || column->words)
            vt_markdown_text(s, row->cells[c]);
        else
            vt_string_add(s, row->cells[c]);
        if (c == main_column(table))
            put_below(s, row, end);
        vt_string_add(s, " |");
    }
    vt_string_add(s, "\n");
}

/* The text is in the last column but one. */
static void put_rest(struct vt_string *s, const struct vt_doc_item *table,
                     const struct vt_doc_item *rest) {
    vt_string_format(s, "| %s", VT_BYTES(rest->bytes));
    for (unsigned c = 1; c < table->count - 2; c++)
        vt_string_add(s, " |");
    vt_string_format(s, " | %s | |\n", rest->text);
}

/* The bar of the text report, and memory over time below it. */
static void put_bar(struct vt_doc_markdown *page, const struct vt_doc_item *item) {
    VT_SCOPED_STRING lines = {0};
    VT_SCOPED char *bar = vt_doc_bar(item->parts, BAR, NULL);
    struct vt_text_line line;
    vt_string_format(&lines, "%s\n", bar);
    if (item->device && vt_text_line_make(item->device, BAR, true, &line)) {
        vt_string_format(&lines, " %s\n %s\n", line.line, line.axis);
        vt_text_line_free(&line);
    }
    vt_markdown_block(&page->section, lines.text);
}

/* Adds the picture that begins at `at`. Returns its last item. */
static uint32_t put_picture(struct vt_doc_markdown *page, const struct vt_doc *doc, uint32_t at) {
    VT_SCOPED_STRING lines = {0};
    enum vt_doc_kind kind = doc->items[at].kind;
    for (; at < doc->count && doc->items[at].kind == kind; at++) {
        const struct vt_doc_item *item = &doc->items[at];
        VT_SCOPED char *line =
            kind == VT_DOC_COURSE ? vt_doc_course(item, BAR, true) : vt_strdup(item->text);
        vt_string_format(&lines, "%s\n", line);
    }
    empty_line(&page->section);
    vt_markdown_block(&page->section, lines.text);
    return at - 1;
}

/* What a process is, in one paragraph below the title. */
static void put_side(struct vt_doc_markdown *page, const struct vt_doc_item *item, bool title) {
    struct vt_string *s = &page->section;
    if (title) {
        vt_string_add(s, "# vramtrace: ");
        vt_markdown_code(s, item->label, false);
        vt_string_add(s, "\n\n");
        vt_markdown_text(s, item->text);
    } else {
        vt_string_format(s, "; %s; %s.\n", item->label, item->text);
    }
}

static void put_line(struct vt_doc_markdown *page, const struct vt_doc_item *item) {
    struct vt_string *s = &page->section;
    if (item->label[0])
        vt_string_format(s, "\n**%s**%s\n", item->label, item->text);
    else if (item->text[0])
        put_sentence(s, "\n", item->text);
}

void vt_doc_markdown_add(struct vt_doc_markdown *page, const struct vt_doc *doc) {
    struct vt_string *s = &page->section;
    const struct vt_doc_item *table = NULL;
    unsigned notes = 0;
    bool first = true;
    for (uint32_t i = 0; i < doc->count; i++) {
        const struct vt_doc_item *item = &doc->items[i];
        if (table && is_below(item))
            continue; /* it stands in its row */
        switch (item->kind) {
        case VT_DOC_SIDES:
            put_side(page, item, !i || doc->items[i - 1].kind != VT_DOC_SIDES);
            break;
        case VT_DOC_HEADING:
            vt_doc_markdown_heading(page, item->label, item->text);
            first = true;
            break;
        case VT_DOC_END:
            vt_doc_markdown_end(page);
            break;
        case VT_DOC_RULE:
            vt_doc_markdown_end(page);
            if (page->left_out)
                return; /* another process's parts would not be told from the first one's */
            vt_string_add(s, "\n");
            break;
        case VT_DOC_LINE:
            put_line(page, item);
            break;
        case VT_DOC_NOTE:
            if (notes++ < NOTES)
                put_sentence(s, "\n> **NOTE** ", item->text);
            break;
        case VT_DOC_SENTENCE:
            put_sentence(s, "", item->text);
            break;
        case VT_DOC_REMARK:
            empty_line(s);
            put_sentence(s, "", item->text);
            break;
        case VT_DOC_TABLE:
            table = item;
            put_titles(s, table);
            break;
        case VT_DOC_CELLS:
            put_cells(s, table, item, doc->items + doc->count);
            break;
        case VT_DOC_REST:
            put_rest(s, table, item);
            break;
        case VT_DOC_BAR:
            put_bar(page, item);
            break;
        case VT_DOC_COURSE:
        case VT_DOC_PICTURE:
            i = put_picture(page, doc, i);
            break;
        case VT_DOC_COMMAND:
        case VT_DOC_SECTION:
            break;
        default:
            if (table)
                empty_line(s);
            put_row(page, item, first);
            first = false;
        }
        if (item->kind != VT_DOC_CELLS && item->kind != VT_DOC_REST && item->kind != VT_DOC_TABLE)
            table = NULL;
    }
}
