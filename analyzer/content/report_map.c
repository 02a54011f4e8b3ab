/* SPDX-License-Identifier: MIT */
/*
 * The text report's map of a device's segments at the end of the run (report --device N): one line
 * for each segment, the most idle first; '#' is in use, '.' idle, '+' both.
 */
#include "report_doc.h"

#include <stdlib.h>

enum { MAP_COLUMNS = 44, SEGMENTS_SHOWN = 24 };

static const struct vt_fragmentation *sorted_of; /* for qsort, which passes no context */

static int most_idle_first(const void *a, const void *b) {
    const struct vt_segment_map *x = &sorted_of->segments[*(const uint32_t *)a];
    const struct vt_segment_map *y = &sorted_of->segments[*(const uint32_t *)b];
    return VT_ORDER({y->bytes - y->in_use_bytes, x->bytes - x->in_use_bytes},
                    {x->address, y->address});
}

static void draw_segment(const struct vt_fragmentation *f, const struct vt_segment_map *s,
                         char line[MAP_COLUMNS + 1]) {
    bool used[MAP_COLUMNS] = {false}, idle[MAP_COLUMNS] = {false};
    for (uint32_t i = 0; i < s->count; i++) {
        const struct vt_piece *piece = &f->pieces[s->first + i];
        double scale = (double)MAP_COLUMNS / (double)s->bytes;
        unsigned from = (unsigned)((double)piece->offset * scale);
        unsigned to = (unsigned)((double)(piece->offset + piece->bytes) * scale);
        for (unsigned c = from; c < MAP_COLUMNS && (c < to || c == from); c++)
            (piece->idle ? idle : used)[c] = true;
    }
    for (unsigned c = 0; c < MAP_COLUMNS; c++)
        line[c] = used[c] ? idle[c] ? '+' : '#' : '.';
    line[MAP_COLUMNS] = 0;
}

void vt_report_add_map(const struct vt_subject *t, const struct vt_device *d, struct vt_doc *doc) {
    const struct vt_fragmentation *f = &d->fragmentation;
    if (!f->segment_count)
        return;
    VT_SCOPED uint32_t *order = vt_alloc(f->segment_count, sizeof *order);
    uint32_t most = t->options->top ? t->options->top : SEGMENTS_SHOWN;
    for (uint32_t i = 0; i < f->segment_count; i++)
        order[i] = i;
    sorted_of = f;
    qsort(order, f->segment_count, sizeof *order, most_idle_first);
    vt_doc_row(doc, "segments", "at the end, the most idle first: # in use, . idle, + both");
    for (uint32_t i = 0; i < f->segment_count && i < most; i++) {
        const struct vt_segment_map *s = &f->segments[order[i]];
        char line[MAP_COLUMNS + 1];
        draw_segment(f, s, line);
        char *row = vt_doc_text(doc, "0x%012llx %9s  [%s]", (unsigned long long)s->address,
                                VT_BYTES(s->bytes), line);
        vt_doc_add(doc, VT_DOC_PICTURE, row);
    }
    if (f->segment_count > most)
        vt_doc_row(doc, "", "%u more (--top %u shows them)", f->segment_count - most,
                   f->segment_count);
}
