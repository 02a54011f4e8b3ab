/* SPDX-License-Identifier: MIT */
/*
 * vramtrace fit --format json: schema vramtrace-fit/1. The keys are documented in vramtrace-fit(1).
 */
#include "fit.h"

#include "report/report.h"

static void write_device(struct vt_json *j, const struct vt_device *d) {
    vt_json_open(j, "device", '{');
    vt_json_part_ordinal(j, "device", d->ordinal);
    vt_json_string(j, "uuid", d->uuid);
    vt_json_string(j, "name", d->name);
    vt_json_number(j, "total_bytes", d->total_bytes);
    vt_json_close(j, '}');
}

/* A fraction with sign; null: not known. */
static void write_deviation(struct vt_json *j, const struct vt_fit *fit) {
    double deviation;
    if (!vt_fit_deviation(fit, &deviation)) {
        vt_json_null(j, "deviation");
        return;
    }
    vt_json_key(j, "deviation");
    fprintf(j->out, "%.6f", deviation);
}

static void write_needs(struct vt_json *j, const struct vt_fit *fit) {
    bool known = fit->needs_bytes;
    if (!vt_json_object(j, "needs", known))
        return;
    vt_json_number(j, "bytes", fit->needs_bytes);
    vt_json_number(j, "reserved_bytes", fit->torch ? fit->reserved_bytes : VT_UNKNOWN);
    vt_json_number(j, "outside_bytes", fit->outside_bytes);
    vt_json_number(j, "rounding_bytes", fit->rounding_bytes);
    vt_json_number(j, "driver_bytes", fit->driver_bytes);
    vt_json_close(j, '}');
}

static void write_failure(struct vt_json *j, const struct vt_fit_row *row) {
    if (!vt_json_object(j, "failed_at", row->failed_at != VT_UNKNOWN))
        return;
    vt_json_number(j, "at_ns", row->failed_at);
    vt_json_string(j, "phase", row->phase ? row->phase->name : NULL);
    vt_json_number(j, "phase_number", row->phase ? row->phase_number : VT_UNKNOWN);
    vt_json_string(j, "site", row->site ? row->site->name : NULL);
    vt_json_number(j, "missing_bytes", row->missing_bytes);
    vt_json_close(j, '}');
}

static void write_row(struct vt_json *j, const struct vt_fit_row *row) {
    vt_json_number(j, "memory_bytes", row->memory.bytes);
    vt_json_number(j, "usable_bytes", row->memory.usable_bytes);
    vt_json_boolean(j, "recorded_device", row->memory.here);
    vt_json_string(j, "conf", row->conf);
    vt_json_boolean(j, "recorded_conf", row->recorded);
    if (row->fits == VT_FIT_UNKNOWN)
        vt_json_null(j, "fits");
    else
        vt_json_boolean(j, "fits", row->fits == VT_FIT_YES);
    vt_json_number(j, "peak_reserved_bytes", row->peak_reserved_bytes);
    vt_json_number(j, "peak_bytes", row->peak_bytes);
    write_failure(j, row);
}

void vt_fit_json(const struct vt_fit *fit, FILE *out) {
    const struct vt_process *p = fit->process;
    struct vt_json j = {.out = out, .first = true};
    vt_json_open(&j, NULL, '{');
    vt_json_string(&j, "schema", "vramtrace-fit/1");
    vt_json_string(&j, "log", p->log);
    vt_json_part_ending(&j, p->ending);
    vt_json_number(&j, "until_ns", p->duration);
    vt_json_boolean(&j, "simulated", p->simulated);
    write_device(&j, fit->device);
    vt_json_string(&j, "allocator", fit->torch ? "PyTorch" : NULL);
    vt_json_string(&j, "recorded_conf", fit->torch ? fit->settings : NULL);
    write_deviation(&j, fit);
    vt_json_number(&j, "recorded_reserved_bytes", fit->recorded_reserved_bytes);
    vt_json_number(&j, "model_reserved_bytes", fit->model_reserved_bytes);
    vt_json_boolean(&j, "sure", fit->sure);
    vt_json_string(&j, "why", fit->why);
    if (vt_json_object(&j, "range", !fit->sure)) {
        vt_json_number(&j, "from_bytes", fit->from_bytes);
        vt_json_number(&j, "to_bytes", fit->to_bytes);
        vt_json_close(&j, '}');
    }
    write_needs(&j, fit);
    vt_json_number(&j, "smallest_card_bytes", fit->smallest ? fit->smallest->bytes : VT_UNKNOWN);
    for (uint32_t i = 0; vt_json_objects(&j, "scaled", i, fit->scale_count); i++) {
        vt_json_string(&j, "scale", fit->scales[i].text);
        vt_json_number(&j, "sites", fit->scales[i].sites);
        vt_json_number(&j, "bytes_at_peak", fit->scales[i].bytes_at_peak);
    }
    for (uint32_t i = 0; vt_json_objects(&j, "rows", i, fit->row_count); i++)
        write_row(&j, &fit->rows[i]);
    vt_json_close(&j, '}');
    fputc('\n', out);
}
