/* SPDX-License-Identifier: MIT */
/*
 * The answer in words, for the HTML page: the document of the text report (doc.h) as blocks of a heading and
 * rows.
 */
#include "html.h"

#include <string.h>

/* The page has room for more leaks than a text; and it has tables, pictures and notes of its own. */
enum { SITES_OF_BLOCK = 64, ROWS_OF_BLOCK = 100, LEAKS = 20 };

/* The tone is "bad", "warn", "good", or "" for neutral. Held memory is not an error. */
static const char *tone_of(const struct vt_doc_item *heading) {
    if (!strcmp(heading->style, VT_STYLE_BAD))
        return strcmp(heading->about, "held") ? "bad" : "warn";
    return !strcmp(heading->style, VT_STYLE_WARN)   ? "warn"
           : !strcmp(heading->style, VT_STYLE_GOOD) ? "good"
                                                    : "";
}

static void open_block(const struct vt_html *h, const struct vt_doc_item *heading) {
    struct vt_json *j = h->json;
    bool section = heading->kind == VT_DOC_SECTION;
    vt_json_open(j, NULL, '{');
    vt_json_string(j, "kind", heading->about);
    vt_json_string(j, "tone", tone_of(heading));
    vt_json_string(j, "title", heading->label);
    vt_json_string(j, "headline", section ? NULL : heading->text);
}

/* NULL: not a row */
static const char *const row_kinds[] = {
    [VT_DOC_LINE] = "text",     [VT_DOC_ROW] = "text",      [VT_DOC_ALARM] = "alarm",
    [VT_DOC_PLACE] = "place",   [VT_DOC_HOLDER] = "holder", [VT_DOC_CALLER] = "caller",
    [VT_DOC_SOURCE] = "source", [VT_DOC_MORE] = "more",     [VT_DOC_COMMAND] = "text"};

/* [kind, label, text, line of code, bytes, site]. */
static void write_row(struct vt_html *h, const struct vt_doc_item *row) {
    struct vt_json *j = h->json;
    vt_json_open(j, NULL, '[');
    vt_json_string(j, NULL, row_kinds[row->kind]);
    vt_json_string(j, NULL, row->label);
    vt_json_string(j, NULL, row->text);
    vt_json_string(j, NULL, row->source);
    vt_json_number(j, NULL, row->bytes);
    vt_html_site(h, NULL, row->site ? (uint32_t)(row->site - h->process->sites) : VT_NO_SITE);
    vt_json_close(j, ']');
}

/* A row of a table whose last column has sentences: [kind, label, text]. */
static void write_cells(struct vt_html *h, const struct vt_doc_item *row, unsigned columns) {
    struct vt_json *j = h->json;
    vt_json_open(j, NULL, '[');
    vt_json_string(j, NULL, "text");
    vt_json_string(j, NULL, row->cells[0]);
    vt_json_string(j, NULL, row->cells[columns - 1]);
    vt_json_close(j, ']');
}

/* [letter, name, bytes, text, purposes] each. */
static void write_parts(struct vt_html *h, const struct vt_doc_parts *parts) {
    struct vt_json *j = h->json;
    vt_json_open(j, "parts", '[');
    for (unsigned i = 0; parts && i < parts->count; i++) {
        const struct vt_doc_part *part = &parts->parts[i];
        vt_json_open(j, NULL, '[');
        vt_json_string(j, NULL, (char[]){part->letter, 0});
        vt_json_string(j, NULL, part->name);
        vt_json_number(j, NULL, part->bytes);
        vt_json_string(j, NULL, part->text);
        vt_json_string(j, NULL, part->purposes);
        vt_json_close(j, ']');
    }
    vt_json_close(j, ']');
    vt_json_number(j, "whole", parts ? parts->whole : 0);
}

/* The subject of the block, for the pictures. */
static void write_subject(struct vt_html *h, const struct vt_doc_item *heading) {
    const struct vt_leak *leak = heading->leak;
    const struct vt_oom *oom = heading->oom;
    if (leak) {
        vt_html_site_list(h, "sites", leak->sites,
                          leak->site_count < SITES_OF_BLOCK ? leak->site_count : SITES_OF_BLOCK);
        vt_json_number(h->json, "site_count", leak->site_count);
    }
    if (oom) {
        vt_json_number(h->json, "at", oom->at);
        vt_html_site_list(h, "sites", oom->holders, oom->holder_count);
    }
    if (heading->device) {
        vt_html_device(h->json, "device", heading->device->ordinal);
        write_parts(h, heading->parts);
    }
}

static bool is_heading(const struct vt_doc_item *item) {
    return item->kind == VT_DOC_HEADING || item->kind == VT_DOC_SECTION;
}

/* Writes the block whose heading is at `at` of the document. */
static void write_block(struct vt_html *h, const struct vt_doc *doc, uint32_t at) {
    const struct vt_doc_item *heading = &doc->items[at++];
    VT_SCOPED_STRING remark = {0};
    bool table = false;     /* skip it with the lines below its rows, unless it has sentences */
    unsigned sentences = 0; /* the number of columns, if the last one has sentences; else 0 */
    uint32_t rows = 0;
    open_block(h, heading);
    vt_json_open(h->json, "rows", '[');
    for (; at < doc->count && !is_heading(&doc->items[at]); at++) {
        const struct vt_doc_item *item = &doc->items[at];
        bool below = item->kind == VT_DOC_SOURCE || item->kind == VT_DOC_MORE ||
                     item->kind == VT_DOC_CALLER || item->kind == VT_DOC_CELLS;
        table = item->kind == VT_DOC_TABLE || (table && below);
        if (item->kind == VT_DOC_TABLE)
            sentences = item->columns[item->count - 1].words ? item->count : 0;
        if (item->kind == VT_DOC_SENTENCE || item->kind == VT_DOC_REMARK)
            vt_string_format(&remark, "%s%s", remark.length ? " " : "", item->text);
        else if (table && sentences && item->kind == VT_DOC_CELLS && rows++ < ROWS_OF_BLOCK)
            write_cells(h, item, sentences);
        else if (!table && row_kinds[item->kind] && rows++ < ROWS_OF_BLOCK)
            write_row(h, item);
    }
    vt_json_close(h->json, ']');
    vt_json_string(h->json, "remark", remark.text);
    vt_json_number(h->json, "rows_left_out", rows > ROWS_OF_BLOCK ? rows - ROWS_OF_BLOCK : 0);
    write_subject(h, heading);
    vt_json_close(h->json, '}');
}

void vt_html_words(struct vt_html *h) {
    struct vt_format_options options = *h->options;
    options.by = VT_BY_LINE;
    struct vt_subject t = {.model = h->model,
                           .process = h->process,
                           .options = &options,
                           .digits = h->model->id_digits,
                           .brief = !h->bounds.sites};
    struct vt_doc doc = {.digits = t.digits};
    t.leaks = t.brief ? 0 : LEAKS;
    vt_report_add_process(&t, &doc);
    vt_json_open(h->json, "words", '[');
    for (uint32_t at = 0; at < doc.count; at++)
        if (is_heading(&doc.items[at]) && doc.items[at].about)
            write_block(h, &doc, at);
    vt_json_close(h->json, ']');
    vt_doc_free(&doc);
}
