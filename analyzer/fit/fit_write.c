/* SPDX-License-Identifier: MIT */
/*
 * vramtrace fit as JSON, schema vramtrace-fit/1; vramtrace-json(5) describes its keys.
 */
#include "fit.h"

#include "report/report.h"

#include <math.h>

static void json_row(struct vt_json *j, const struct vt_fit_row *row, bool sure) {
    vt_json_number(j, "memory_bytes", row->memory.bytes);
    vt_json_number(j, "usable_bytes", row->memory.usable_bytes);
    vt_json_boolean(j, "recorded_device", row->memory.here);
    vt_json_string(j, "conf", row->conf);
    vt_json_boolean(j, "recorded_conf", row->recorded);
    if (sure)
        vt_json_boolean(j, "fits", row->fits);
    else
        vt_json_null(j, "fits");
    vt_json_number(j, "peak_reserved_bytes", row->peak_reserved_bytes);
    vt_json_number(j, "peak_bytes", row->peak_bytes);
    if (!vt_json_object(j, "failed_at", row->failed_at != VT_UNKNOWN))
        return;
    vt_json_number(j, "at_ns", row->failed_at);
    vt_json_string(j, "phase", row->phase ? row->phase->name : NULL);
    vt_json_number(j, "phase_number", row->phase ? row->phase_number : VT_UNKNOWN);
    vt_json_string(j, "site", row->site ? row->site->name : NULL);
    vt_json_number(j, "missing_bytes", row->missing_bytes);
    vt_json_close(j, '}');
}

void vt_fit_json(const struct vt_fit *fit, FILE *out) {
    struct vt_json j = {.out = out, .first = true};
    vt_json_open(&j, NULL, '{');
    vt_json_string(&j, "schema", "vramtrace-fit/1");
    vt_json_string(&j, "log", fit->process->log);
    vt_json_number(&j, "until_ns", fit->process->duration);
    vt_json_boolean(&j, "complete", !fit->ended_early);
    vt_json_number(&j, "caught", fit->caught);
    vt_json_number(&j, "sharers", fit->sharers);
    vt_json_number(&j, "shared_bytes", fit->shared_bytes);
    vt_json_boolean(&j, "simulated", fit->process->simulated);
    vt_json_part_ordinal(&j, "device", fit->device->ordinal);
    vt_json_string(&j, "allocator", fit->torch ? "PyTorch" : NULL);
    vt_json_key(&j, "deviation");
    fprintf(out, isnan(fit->deviation) ? "null" : "%.6f", fit->deviation);
    vt_json_number(&j, "recorded_reserved_bytes", fit->recorded_reserved_bytes);
    vt_json_number(&j, "model_reserved_bytes", fit->model_reserved_bytes);
    vt_json_boolean(&j, "sure", fit->sure);
    vt_json_string(&j, "why", fit->why);
    vt_json_number(&j, "from_bytes", fit->from_bytes);
    vt_json_number(&j, "to_bytes", fit->to_bytes);
    vt_json_number(&j, "needs_bytes", fit->needs_bytes);
    vt_json_number(&j, "outside_bytes", fit->outside_bytes);
    vt_json_number(&j, "rounding_bytes", fit->rounding_bytes);
    vt_json_number(&j, "driver_bytes", fit->driver_bytes);
    vt_json_number(&j, "smallest_card_bytes",
                   fit->smallest && !fit->ended_early ? fit->smallest->memory.bytes : VT_UNKNOWN);
    for (uint32_t i = 0; vt_json_objects(&j, "scaled", i, fit->scale_count); i++) {
        vt_json_string(&j, "scale", fit->scales[i].text);
        vt_json_number(&j, "sites", fit->scales[i].sites);
        vt_json_number(&j, "bytes_at_peak", fit->scales[i].bytes_at_peak);
    }
    for (uint32_t i = 0; vt_json_objects(&j, "rows", i, fit->row_count); i++)
        json_row(&j, &fit->rows[i], fit->sure);
    vt_json_close(&j, '}');
    fputc('\n', out);
}
