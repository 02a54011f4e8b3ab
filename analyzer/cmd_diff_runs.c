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
    else if (!status) {
        struct vt_doc doc = {0};
        vt_runs_document(&runs, folders, top, &doc);
        vt_doc_show(&doc, vt_wants_colour(1), stdout);
        vt_doc_free(&doc);
    }
    vt_runs_free(&runs);
    return status ? status : vt_output_close(NULL, NULL, 0);
}
