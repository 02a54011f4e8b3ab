/* SPDX-License-Identifier: MIT */
/*
 * The list of formats that other tools read (see export.h).
 */
#include "export.h"

#include "samples.h"

const struct vt_export_format vt_export_formats[] = {
    {"pprof", "a profile, for pprof, speedscope, Grafana", true, false, 0, vt_export_pprof_write},
    {"folded", "collapsed stacks, for flamegraph.pl, inferno, speedscope", false, true, 0,
     vt_export_folded_write},
    {"csv", "a table of call sites, for spreadsheets, SQL, pandas", false, false, 0,
     vt_export_csv_write},
    {"perfetto", "counters, phases and events over time, for Perfetto's UI", true, false,
     VT_TIMELINE_COURSES, vt_export_perfetto_write},
    {"pytorch", "a memory snapshot, for PyTorch's memory_viz", true, false,
     VT_TIMELINE_CHANGES | VT_TIMELINE_END, vt_export_pytorch_write},
    {NULL, NULL, false, false, 0, NULL},
};

const char *const vt_export_value_names[VT_EXPORT_VALUES] = {"live", "peak", "allocated", "leaked"};

bool vt_export_has(const struct vt_model *model, enum vt_export_value value) {
    struct vt_samples samples;
    bool has = false;
    vt_samples_make(model, &samples);
    for (uint32_t i = 0; i < samples.count && !has; i++)
        has = samples.items[i].bytes[value];
    vt_samples_free(&samples);
    return has;
}

enum vt_export_value vt_export_default(const struct vt_model *model) {
    return vt_export_has(model, VT_EXPORT_LEAKED) ? VT_EXPORT_LEAKED : VT_EXPORT_PEAK;
}
