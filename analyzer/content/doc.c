/* SPDX-License-Identifier: MIT */
/*
 * A document as it is built (see doc.h).
 */
#include "doc.h"

#include <stdlib.h>
#include <string.h>

void vt_doc_free(struct vt_doc *doc) {
    for (uint32_t i = 0; i < doc->kept_count; i++)
        free(doc->kept[i]);
    free(doc->kept);
    free(doc->items);
    *doc = (struct vt_doc){0};
}

void *vt_doc_own(struct vt_doc *doc, void *memory) {
    VT_GROW(doc->kept, doc->kept_count, doc->kept_room);
    return doc->kept[doc->kept_count++] = memory;
}

char *vt_doc_keep(struct vt_doc *doc, char *text) {
    return vt_doc_own(doc, vt_printable(text));
}

char *vt_doc_text(struct vt_doc *doc, const char *format, ...) {
    va_list args;
    va_start(args, format);
    char *text = vt_doc_keep(doc, vt_formatted_of(format, args));
    va_end(args);
    return text;
}

struct vt_doc_item *vt_doc_add(struct vt_doc *doc, enum vt_doc_kind kind, const char *text) {
    VT_GROW(doc->items, doc->count, doc->room);
    struct vt_doc_item *item = &doc->items[doc->count++];
    *item = (struct vt_doc_item){.kind = kind,
                                 .style = "",
                                 .label = "",
                                 .text = text ? text : "",
                                 .column = doc->column,
                                 .bytes = VT_UNKNOWN};
    return item;
}

struct vt_doc_item *vt_doc_heading(struct vt_doc *doc, const char *style, const char *title,
                                   const char *format, ...) {
    va_list args;
    va_start(args, format);
    struct vt_doc_item *item =
        vt_doc_add(doc, VT_DOC_HEADING, vt_doc_keep(doc, vt_formatted_of(format, args)));
    va_end(args);
    item->style = style;
    item->label = title;
    return item;
}

struct vt_doc_item *vt_doc_row(struct vt_doc *doc, const char *label, const char *format, ...) {
    va_list args;
    va_start(args, format);
    struct vt_doc_item *item =
        vt_doc_add(doc, VT_DOC_ROW, vt_doc_keep(doc, vt_formatted_of(format, args)));
    va_end(args);
    item->label = label;
    return item;
}

struct vt_doc_item *vt_doc_line(struct vt_doc *doc, const char *format, ...) {
    va_list args;
    va_start(args, format);
    struct vt_doc_item *item =
        vt_doc_add(doc, VT_DOC_LINE, vt_doc_keep(doc, vt_formatted_of(format, args)));
    va_end(args);
    return item;
}

struct vt_doc_item *vt_doc_remark(struct vt_doc *doc, const char *format, ...) {
    va_list args;
    va_start(args, format);
    struct vt_doc_item *item =
        vt_doc_add(doc, VT_DOC_REMARK, vt_doc_keep(doc, vt_formatted_of(format, args)));
    va_end(args);
    return item;
}

struct vt_doc_item *vt_doc_holder(struct vt_doc *doc, const char *label, uint64_t bytes,
                                  const struct vt_site *site, const char *text) {
    struct vt_doc_item *item = vt_doc_add(doc, VT_DOC_HOLDER, text);
    item->label = label;
    item->bytes = bytes;
    item->site = site;
    if (site)
        item->id = vt_doc_text(doc, "%.*s", (int)doc->digits, site->name);
    return item;
}

void vt_doc_table(struct vt_doc *doc, const struct vt_doc_column *columns, unsigned count) {
    struct vt_doc_column *own = vt_doc_own(doc, vt_alloc(count, sizeof *own));
    memcpy(own, columns, count * sizeof *own);
    struct vt_doc_item *item = vt_doc_add(doc, VT_DOC_TABLE, NULL);
    item->columns = own;
    item->count = count;
}

struct vt_doc_item *vt_doc_add_cells(struct vt_doc *doc, const char *const *cells, unsigned count) {
    const char **own = vt_doc_own(doc, vt_alloc(count, sizeof *own));
    for (unsigned i = 0; i < count; i++)
        own[i] = vt_doc_keep(doc, vt_strdup(cells[i]));
    struct vt_doc_item *item = vt_doc_add(doc, VT_DOC_CELLS, NULL);
    item->cells = own;
    item->count = count;
    return item;
}

void vt_doc_rest(struct vt_doc *doc, uint64_t bytes, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vt_doc_add(doc, VT_DOC_REST, vt_doc_keep(doc, vt_formatted_of(format, args)))->bytes = bytes;
    va_end(args);
}
