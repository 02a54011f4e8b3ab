/* SPDX-License-Identifier: MIT */
/*
 * Two sets of runs side by side, as a document (see runs.h).
 */
#include "runs.h"

#include "content/content.h"
#include "vramtrace/log_format.h"

#include <stdlib.h>
#include <string.h>

/* "1.20 GiB (1.18 GiB..1.23 GiB)"; "3.00 MiB (all)" */
static char *set_text(const struct vt_runs_figure *f, unsigned set) {
    return f->low[set] == f->high[set]
               ? vt_formatted("%s (all)", VT_BYTES(f->low[set]))
               : vt_formatted("%s (%s..%s)", VT_BYTES(f->median[set]), VT_BYTES(f->low[set]),
                              VT_BYTES(f->high[set]));
}

/* A line may allocate from the driver and from a framework; the layer is shown only where a line has several rows. */
static char *name_text(const struct vt_runs *r, const struct vt_runs_figure *f) {
    bool several = false;
    if (f->of != VT_RUNS_LINE)
        return vt_formatted("%s%s", f->name ? "phase " : "the run", f->name ? f->name : "");
    for (uint32_t i = 0; i < r->count; i++)
        several |= r->figures[i].layer != f->layer && r->figures[i].device == f->device &&
                   vt_same_text(r->figures[i].name, f->name);
    return vt_formatted("%s, %s%s%s", f->name,
                        f->device < VT_DEVICE_HOST ? VT_GPU(f->device) : "host memory",
                        several ? ", " : "", several ? vt_layer_name(f->layer) : "");
}

/* Figures within noise that have equal medians are only counted. */
static void add_section(struct vt_doc *doc, const struct vt_runs *r, enum vt_runs_state state,
                        uint32_t top) {
    static const char *const headings[VT_RUNS_STATES] = {"CHANGED", "WITHIN NOISE",
                                                         "TOO FEW RUNS TO MEASURE NOISE"};
    static const struct vt_doc_column columns[] = {{.title = "", .before = 4},
                                                   {.title = "", .before = 2},
                                                   {.title = "", .before = 1},
                                                   {.title = "", .before = 1},
                                                   {.title = "", .before = 1, .right = true}};
    uint32_t count = 0, shown = 0;
    char *above = NULL;
    for (uint32_t i = 0; i < r->count; i++)
        count += r->figures[i].state == state;
    if (count)
        vt_doc_heading(doc, state ? VT_STYLE_HEAD : VT_STYLE_BAD, headings[state], "%u figure%s",
                       count, vt_plural(count));
    for (uint32_t i = 0; i < r->count && shown < top; i++) {
        const struct vt_runs_figure *f = &r->figures[i];
        if (f->state != state || (state && !vt_runs_change(f)))
            continue;
        VT_SCOPED char *before = set_text(f, 0), *after = set_text(f, 1);
        char *name = vt_doc_keep(doc, name_text(r, f));
        if (!vt_same_text(name, above)) {
            vt_doc_add(doc, VT_DOC_MORE, name)->column = 2;
            vt_doc_table(doc, columns, sizeof columns / sizeof *columns);
        }
        above = name;
        double change = f->median[0] ? 100 * ((double)f->median[1] / (double)f->median[0] - 1) : 0;
        vt_doc_cells(doc, f->what, before, "->", after,
                     change == 0 ? "" : vt_doc_text(doc, "%+.*f %%", change < 100, change));
        shown++;
    }
    if (count > shown)
        vt_doc_line(doc, "  %s%u%s%s", shown ? "and " : "", count - shown, shown ? " more" : "",
                    shown == top ? " (--top)" : " with the same median in both folders");
}

void vt_runs_document(const struct vt_runs *r, char *const folders[2], uint32_t top,
                      struct vt_doc *doc) {
    static const char *const labels[] = {"before", "after"};
    uint32_t states[VT_RUNS_STATES] = {0};
    for (uint32_t i = 0; i < r->count; i++)
        states[r->figures[i].state]++;
    for (unsigned set = 0; set < 2; set++) {
        vt_doc_line(doc, "%-7s %s, %u run%s", labels[set], folders[set], r->runs[set],
                    vt_plural(r->runs[set]));
        if (r->left_out[set])
            vt_doc_line(doc,
                        "        %u left out: failed, killed, not ended, or with a log that lacks "
                        "events",
                        r->left_out[set]);
    }
    vt_doc_line(doc, "%s", "");
    vt_doc_line(doc, "medians (least..most) of the peak, held at the end, and left by a phase");
    if (r->splits)
        vt_doc_line(doc, "if nothing changed, a figure is named in at most %g of 100 comparisons",
                    VT_PERMUTE_CHANCE * 100);
    else
        vt_doc_line(doc, "at least %d runs per side are needed to measure noise", VT_PERMUTE_RUNS);
    if (r->splits && !states[VT_RUNS_CHANGED]) {
        vt_doc_line(doc, "%s", "");
        vt_doc_line(doc, "nothing changed by more than noise");
    }
    for (enum vt_runs_state state = 0; state < VT_RUNS_SAME; state++)
        add_section(doc, r, state, top);
    if (states[VT_RUNS_SAME]) {
        vt_doc_line(doc, "%s", "");
        vt_doc_line(doc, "%u figure%s the same in all runs", states[VT_RUNS_SAME],
                    states[VT_RUNS_SAME] == 1 ? " is" : "s are");
    }
}
