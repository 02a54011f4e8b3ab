/* SPDX-License-Identifier: MIT */
/*
 * vramtrace diff --run all: the figures of two sets of runs that changed, and those within noise. cmd_diff.c parses
 * the options.
 */
#include "commands.h"
#include "build.h"
#include "cmd_input.h"
#include "diff/diff.h"
#include "report/report.h"
#include "vramtrace/log_format.h"

#include <stdlib.h>

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

static void write_text(const struct vt_runs *r, char *const folders[2], uint32_t top) {
    static const char *const labels[] = {"before", "after"};
    struct vt_doc doc = {0};
    uint32_t states[VT_RUNS_STATES] = {0};
    for (uint32_t i = 0; i < r->count; i++)
        states[r->figures[i].state]++;
    for (unsigned set = 0; set < 2; set++) {
        vt_doc_line(&doc, "%-7s %s, %u run%s", labels[set], folders[set], r->runs[set],
                    vt_plural(r->runs[set]));
        if (r->left_out[set])
            vt_doc_line(&doc,
                        "        %u left out: failed, killed, not ended, or with a log that lacks "
                        "events",
                        r->left_out[set]);
    }
    vt_doc_line(&doc, "%s", "");
    vt_doc_line(&doc, "medians (least..most) of the peak, held at the end, and left by a phase");
    if (r->splits)
        vt_doc_line(&doc, "if nothing changed, a figure is named in at most %g of 100 comparisons",
                    VT_PERMUTE_CHANCE * 100);
    else
        vt_doc_line(&doc, "at least %d runs per side are needed to measure noise", VT_PERMUTE_RUNS);
    if (r->splits && !states[VT_RUNS_CHANGED]) {
        vt_doc_line(&doc, "%s", "");
        vt_doc_line(&doc, "nothing changed by more than noise");
    }
    for (enum vt_runs_state state = 0; state < VT_RUNS_SAME; state++)
        add_section(&doc, r, state, top);
    if (states[VT_RUNS_SAME]) {
        vt_doc_line(&doc, "%s", "");
        vt_doc_line(&doc, "%u figure%s the same in all runs", states[VT_RUNS_SAME],
                    states[VT_RUNS_SAME] == 1 ? " is" : "s are");
    }
    vt_doc_show(&doc, vt_wants_colour(1), stdout);
    vt_doc_free(&doc);
}

/* --- json --- */

static void write_json(const struct vt_runs *r) {
    static const char *const ofs[] = {"run", "line", "phase"};
    static const char *const states[VT_RUNS_STATES] = {"changed", "noise", "unknown", "same"};
    static const char *const sets[] = {"before", "after"};
    struct vt_json j = {.out = stdout, .first = true};
    vt_json_open(&j, NULL, '{');
    vt_json_string(&j, "schema", "vramtrace-runs/1");
    vt_json_number(&j, "runs_before", r->runs[0]);
    vt_json_number(&j, "runs_after", r->runs[1]);
    vt_json_number(&j, "left_out_before", r->left_out[0]);
    vt_json_number(&j, "left_out_after", r->left_out[1]);
    vt_json_number(&j, "splits", r->splits);
    for (uint32_t i = 0; vt_json_objects(&j, "figures", i, r->count); i++) {
        const struct vt_runs_figure *f = &r->figures[i];
        vt_json_string(&j, "state", states[f->state]);
        vt_json_string(&j, "of", ofs[f->of]);
        vt_json_string(&j, "name", f->name);
        vt_json_number(&j, "device",
                       f->of == VT_RUNS_LINE ? vt_device_number(f->device) : VT_UNKNOWN);
        vt_json_string(&j, "layer", f->of == VT_RUNS_LINE ? vt_layer_name(f->layer) : NULL);
        vt_json_string(&j, "figure", f->what);
        vt_json_key(&j, "p");
        fprintf(stdout, f->p < 0 ? "null" : "%.4f", f->p);
        for (unsigned set = 0; set < 2; set++) {
            vt_json_open(&j, sets[set], '{');
            vt_json_number(&j, "median_bytes", f->median[set]);
            vt_json_number(&j, "low_bytes", f->low[set]);
            vt_json_number(&j, "high_bytes", f->high[set]);
            vt_json_close(&j, '}');
        }
    }
    vt_json_close(&j, '}');
    putchar('\n');
}

int vt_cmd_diff_runs(char *const folders[2], const struct vt_model_options *options, bool json,
                     uint32_t top) {
    struct vt_runs runs;
    struct vt_string message = {0};
    vt_progress_allow();
    int error = vt_runs_compare(folders, &vt_builder, options, &runs, &message);
    vt_progress_end();
    int status = vt_error_status(error, &message);
    if (!status && json)
        write_json(&runs);
    else if (!status)
        write_text(&runs, folders, top);
    vt_runs_free(&runs);
    return status ? status : vt_output_close(NULL, NULL, 0);
}
