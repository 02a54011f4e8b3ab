/* SPDX-License-Identifier: MIT */
/*
 * The text report's list of phases, such as data loading, training and evaluation.
 */
#include "fmt_text.h"

#include <stdlib.h>

enum { SHOWN = 12, NUMBERS = 49, LEAST_NAME = 24 }; /* columns of a row's numbers, of its name */

static void print_group(const struct vt_text *t, const struct vt_phase_group *g, unsigned width) {
    char change[VT_FORMAT_BYTES + 1], *name = vt_text_cut(g->name, width);
    uint64_t left = (uint64_t)(g->left < 0 ? -g->left : g->left);
    snprintf(change, sizeof change, "%s%s", g->left < 0 ? "-" : left ? "+" : "", VT_BYTES(left));
    fprintf(t->out, "  %s%*s %7s %9s %9s %9s %10s\n", name,
            (int)(width - vt_frame_text_columns(name)), "", VT_NUMBER(g->count),
            VT_BYTES(g->first->live_at_start),
            g->last->live_at_end == VT_UNKNOWN ? "open" : VT_BYTES(g->last->live_at_end),
            VT_BYTES(g->peak_bytes), change);
    free(name);
}

void vt_text_phases(const struct vt_text *t) {
    uint32_t most = t->options->top ? t->options->top : SHOWN, count, moved, still;
    struct vt_phase_group *groups = vt_phase_groups_make(t->process, most, &count, &moved, &still);
    unsigned width = LEAST_NAME;
    for (uint32_t i = 0; i < count; i++) {
        unsigned columns = vt_frame_text_columns(groups[i].name);
        width = columns > width ? columns : width;
    }
    if (width > t->width - 2 - NUMBERS)
        width = t->width - 2 - NUMBERS;
    if (count) {
        vt_text_heading(t, VT_STYLE_HEAD, "PHASES", "device memory before and after, all GPUs");
        fprintf(t->out, "%s  %-*s %7s %9s %9s %9s %10s%s\n", vt_text_style(t, VT_STYLE_DIM),
                (int)width, "name", "times", "before", "after", "peak", "left",
                vt_text_style(t, VT_STYLE_NONE));
    }
    for (uint32_t i = 0; i < count; i++)
        print_group(t, &groups[i], width);
    if (moved + still)
        fprintf(t->out, "  and %s more name%s (--top %u shows them)", VT_NUMBER(moved + still),
                vt_plural(moved + still), count + moved + still);
    if (moved && still)
        fprintf(t->out, "; in %s of them memory did not change", VT_NUMBER(still));
    else if (still)
        fputs("; memory did not change in them", t->out);
    if (moved + still)
        fputc('\n', t->out);
    vt_phase_groups_free(groups, count);
}
