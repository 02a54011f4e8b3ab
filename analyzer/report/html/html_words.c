/* SPDX-License-Identifier: MIT */
/*
 * The answer in words, for the HTML page: the document of the text report (doc.h) as blocks of a heading and
 * rows.
 */
#include "html.h"

#include <string.h>

enum { SITES_OF_BLOCK = 64 };

/* The tone is "bad", "warn", "good", or "" for neither. What is held is no error. */
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
    vt_html_text(h, "headline", section ? NULL : heading->text);
}

/* [kind, label, text, line of code, bytes, site]. */
static void write_row(struct vt_html *h, const struct vt_doc_item *row) {
    static const char *const kinds[] = {
        [VT_DOC_LINE] = "text",     [VT_DOC_ROW] = "text",      [VT_DOC_ALARM] = "alarm",
        [VT_DOC_PEAK] = "peak",     [VT_DOC_PLACE] = "place",   [VT_DOC_HOLDER] = "holder",
        [VT_DOC_CALLER] = "caller", [VT_DOC_SOURCE] = "source", [VT_DOC_MORE] = "more",
        [VT_DOC_COMMAND] = "text"};
    struct vt_json *j = h->json;
    vt_json_open(j, NULL, '[');
    vt_json_string(j, NULL, kinds[row->kind]);
    vt_json_string(j, NULL, row->label);
    vt_html_text(h, NULL, row->text);
    vt_html_text(h, NULL, row->source);
    vt_json_number(j, NULL, row->bytes);
    vt_html_site(h, NULL, row->site ? (uint32_t)(row->site - h->process->sites) : VT_NO_SITE);
    vt_json_close(j, ']');
}

/* [letter, name, bytes, text, what it is for] each. */
static void write_parts(struct vt_html *h, const struct vt_doc_parts *parts) {
    struct vt_json *j = h->json;
    vt_json_open(j, "parts", '[');
    for (unsigned i = 0; parts && i < parts->count; i++) {
        const struct vt_doc_part *part = &parts->parts[i];
        vt_json_open(j, NULL, '[');
        vt_json_string(j, NULL, (char[]){part->letter, 0});
        vt_json_string(j, NULL, part->name);
        vt_json_number(j, NULL, part->bytes);
        vt_html_text(h, NULL, part->text);
        vt_html_text(h, NULL, part->purposes);
        vt_json_close(j, ']');
    }
    vt_json_close(j, ']');
    vt_json_number(j, "whole", parts ? parts->whole : 0);
}

/* What the block is about, for the pictures. */
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

/* Writes the block that begins at `at` of the document. Returns where the next one does. */
static uint32_t write_block(struct vt_html *h, const struct vt_doc *doc, uint32_t at) {
    const struct vt_doc_item *heading = &doc->items[at++];
    const char *remark = NULL;
    open_block(h, heading);
    vt_json_open(h->json, "rows", '[');
    for (; at < doc->count; at++) {
        const struct vt_doc_item *item = &doc->items[at];
        if (item->kind == VT_DOC_HEADING || item->kind == VT_DOC_SECTION)
            break;
        if (item->kind == VT_DOC_SENTENCE || item->kind == VT_DOC_REMARK)
            remark = item->text;
        else if (item->kind != VT_DOC_END)
            write_row(h, item);
    }
    vt_json_close(h->json, ']');
    vt_html_text(h, "remark", remark);
    write_subject(h, heading);
    vt_json_close(h->json, '}');
    return at;
}

void vt_html_words(struct vt_html *h) {
    struct vt_format_options options = *h->options;
    options.by = VT_BY_LINE;
    struct vt_subject t = {.model = h->model,
                           .process = h->process,
                           .options = &options,
                           .digits = h->model->id_digits,
                           .width = VT_SUBJECT_WHOLE};
    struct vt_doc doc = {.look = VT_DOC_PAGE, .digits = t.digits, .brief = !h->bounds.sites};
    vt_report_add_process(&t, &doc);
    vt_json_open(h->json, "words", '[');
    for (uint32_t at = 0; at < doc.count;)
        at = doc.items[at].kind == VT_DOC_END ? at + 1 : write_block(h, &doc, at);
    vt_json_close(h->json, ']');
    vt_doc_free(&doc);
}
