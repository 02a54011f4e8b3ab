/* SPDX-License-Identifier: MIT */
/*
 * The text report's list of phases, such as data loading, training and evaluation.
 */
#include "fmt_text.h"
#include "words.h"

#include <limits.h>

enum {
    SHOWN = 12,
    OF_MARKDOWN = 5,
    NUMBERS = 49,
    LEAST_NAME = 24
}; /* columns of a row's numbers, of its name */

static void add_group(const struct vt_text *t, const struct vt_phase_group *g, struct vt_doc *doc) {
    uint64_t left = (uint64_t)(g->left < 0 ? -g->left : g->left);
    const char *sign = g->left < 0 ? "-" : left ? "+" : "";
    unsigned width = doc->look == VT_DOC_TEXT ? t->width - 2 - NUMBERS : UINT_MAX;
    vt_doc_cells(doc, vt_doc_keep(doc, vt_text_cut(g->name, width)), VT_NUMBER(g->count),
                 VT_BYTES(g->first->live_at_start),
                 g->last->live_at_end == VT_UNKNOWN ? "open" : VT_BYTES(g->last->live_at_end),
                 VT_BYTES(g->peak_bytes), vt_doc_text(doc, "%s%s", sign, VT_BYTES(left)));
}

void vt_words_add_phases(const struct vt_text *t, struct vt_doc *doc) {
    static const struct vt_doc_column columns[] = {
        {"name", 2, LEAST_NAME, .code = true},
        {"times", 1, 7, .right = true, .fixed = true},
        {"before", 1, 9, .right = true, .fixed = true},
        {"after", 1, 9, .right = true, .fixed = true},
        {"peak", 1, 9, .right = true, .fixed = true},
        {"left", 1, 10, .right = true, .fixed = true},
    };
    bool text = doc->look == VT_DOC_TEXT;
    uint32_t usual = text ? SHOWN : OF_MARKDOWN, count, moved, still;
    uint32_t most = t->options->top ? t->options->top : usual;
    struct vt_phase_group *groups = vt_phase_groups_make(t->process, most, &count, &moved, &still);
    if (count) {
        vt_doc_heading(doc, VT_STYLE_HEAD, "PHASES", "device memory before and after, all GPUs");
        vt_doc_table(doc, columns, text ? 6 : 5);
    }
    for (uint32_t i = 0; i < count; i++)
        add_group(t, &groups[i], doc);
    const char *how =
        !still  ? ""
        : moved ? vt_doc_text(doc, "; in %s of them memory did not change", VT_NUMBER(still))
                : "; memory did not change in them";
    if (moved + still && text)
        vt_doc_line(doc, "  and %s more name%s (--top %u shows them)%s", VT_NUMBER(moved + still),
                    vt_plural(moved + still), count + moved + still, how);
    vt_phase_groups_free(groups, count);
    vt_doc_add(doc, VT_DOC_END, NULL);
}
