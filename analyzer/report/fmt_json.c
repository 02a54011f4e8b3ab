/* SPDX-License-Identifier: MIT */
/*
 * The report as JSON, schema vramtrace-report/1. Every key is always present, null if unknown;
 * bytes and nanoseconds are integers. Keys may be added, but never renamed.
 * The keys of a process are rows of report_keys*.c; doc/schema has all keys.
 */
#include "json_parts.h"
#include "keys.h"

static void write_process(struct vt_json *j, const struct vt_process *p,
                          const struct vt_format_options *options) {
    struct vt_key_writer w = {
        .json = j, .process = p, .options = options, .stacks = {.native = options->native}};
    vt_json_open(j, NULL, '{');
    vt_keys_write(&w, vt_process_keys, p);
    vt_json_close(j, '}');
    vt_keys_free(&w);
}

/* All processes of the logs, one at a time. A log that is gone meanwhile is left out. */
static void each_apart(struct vt_json *j, const struct vt_model_logs *apart,
                       const struct vt_format_options *options) {
    for (uint32_t i = 0; i < apart->count; i++) {
        struct vt_model one;
        VT_SCOPED_STRING why = {0};
        if (apart->logs[i] &&
            !apart->builder->build(&apart->logs[i], 1, apart->options, &one, &why)) {
            write_process(j, &one.processes[0], options);
            apart->builder->free(&one);
        }
    }
}

int vt_fmt_json_write(const struct vt_model *model, const struct vt_format_options *options,
                      FILE *out) {
    struct vt_json j = {.out = out, .first = true};
    vt_json_open(&j, NULL, '{');
    vt_json_string(&j, "schema", "vramtrace-report/1");
    vt_json_open(&j, "processes", '[');
    if (model->apart)
        each_apart(&j, model->apart, options);
    for (uint32_t i = 0; i < model->process_count && !model->apart; i++)
        write_process(&j, &model->processes[i], options);
    vt_json_close(&j, ']');
    vt_json_part_ranks(&j, model->job);
    vt_json_close(&j, '}');
    fputc('\n', out);
    return 0;
}
