/* SPDX-License-Identifier: MIT */
/*
 * vramtrace diff --run all: which figures of two sets of runs changed, and which are not told apart from noise.
 * cmd_diff.c takes the options.
 */
#include "commands.h"
#include "build.h"
#include "cmd_input.h"
#include "diff/diff.h"
#include "report/report.h"
#include "vramtrace/log_format.h"

#include <stdlib.h>

/* --- text --- */

/* "1.20 GiB (1.18 GiB..1.23 GiB)"; "3.00 MiB (all)" */
static char *set_text(const struct vt_runs_figure *f, unsigned set) {
    return f->low[set] == f->high[set]
               ? vt_formatted("%s (all)", VT_BYTES(f->low[set]))
               : vt_formatted("%s (%s..%s)", VT_BYTES(f->median[set]), VT_BYTES(f->low[set]),
                              VT_BYTES(f->high[set]));
}

/* A line may allocate from the driver and from a framework; its layer is said where there are rows of several. */
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

/* `above`: the name in the row above, where it is not repeated. */
static void row(FILE *out, const struct vt_runs *r, const struct vt_runs_figure *f, char **above) {
    VT_SCOPED char *before = set_text(f, 0), *after = set_text(f, 1);
    char *name = name_text(r, f);
    if (!vt_same_text(name, *above))
        fprintf(out, "  %s\n", name);
    free(*above);
    *above = name;
    fprintf(out, "    %s  %s -> %s", f->what, before, after);
    double change = f->median[0] ? 100 * ((double)f->median[1] / (double)f->median[0] - 1) : 0;
    if (change != 0)
        fprintf(out, " %+.*f %%", change < 100, change);
    fputc('\n', out);
}

/* Of noise, figures whose medians are the same are counted only. */
static void section(FILE *out, const struct vt_runs *r, enum vt_runs_state state, uint32_t top) {
    static const char *const headings[VT_RUNS_STATES] = {"CHANGED", "NOT TOLD APART FROM NOISE",
                                                         "TOO FEW RUNS TO TELL NOISE"};
    uint32_t count = 0, shown = 0;
    VT_SCOPED char *above = NULL;
    bool colour = vt_wants_colour(1);
    for (uint32_t i = 0; i < r->count; i++)
        count += r->figures[i].state == state;
    if (count)
        fprintf(out, "\n%s%s%s   %u figure%s\n",
                !colour ? ""
                : state ? VT_STYLE_HEAD
                        : VT_STYLE_BAD,
                headings[state], colour ? VT_STYLE_NONE : "", count, vt_plural(count));
    for (uint32_t i = 0; i < r->count && shown < top; i++) {
        if (r->figures[i].state != state || (state && !vt_runs_change(&r->figures[i])))
            continue;
        row(out, r, &r->figures[i], &above);
        shown++;
    }
    if (count > shown)
        fprintf(out, "  %s%u%s%s\n", shown ? "and " : "", count - shown, shown ? " more" : "",
                shown == top ? " (--top)" : " with the same median in both folders");
}

static void write_text(const struct vt_runs *r, char *const folders[2], uint32_t top) {
    static const char *const labels[] = {"before", "after"};
    struct vt_page text;
    FILE *out = vt_page_open(&text);
    uint32_t states[VT_RUNS_STATES] = {0};
    for (uint32_t i = 0; i < r->count; i++)
        states[r->figures[i].state]++;
    for (unsigned set = 0; set < 2; set++) {
        VT_SCOPED char *folder = vt_printable(vt_strdup(folders[set]));
        fprintf(out, "%-7s %s, %u run%s\n", labels[set], folder, r->runs[set],
                vt_plural(r->runs[set]));
        if (r->left_out[set])
            fprintf(
                out,
                "        %u left out: failed, killed, not ended, or with a log that lacks events\n",
                r->left_out[set]);
    }
    fputs("\nmedians (least..most) of what was held at most, at the end, and left by a phase\n",
          out);
    if (r->splits)
        fprintf(out, "if nothing changed, a figure is named in at most %g of 100 comparisons\n",
                VT_PERMUTE_CHANCE * 100);
    else
        fprintf(out, "noise can be told from %d runs of each on\n", VT_PERMUTE_RUNS);
    if (r->splits && !states[VT_RUNS_CHANGED])
        fputs("\nnothing changed by more than noise\n", out);
    for (enum vt_runs_state state = 0; state < VT_RUNS_SAME; state++)
        section(out, r, state, top);
    if (states[VT_RUNS_SAME])
        fprintf(out, "\n%u figure%s the same in all runs\n", states[VT_RUNS_SAME],
                states[VT_RUNS_SAME] == 1 ? " is" : "s are");
    vt_page_close(&text, vt_wants_colour(1), stdout);
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
