/* SPDX-License-Identifier: MIT */
/*
 * vramtrace export: parses its options, builds the model with the parts that the format needs, and calls the format.
 */
#include "commands.h"
#include "build.h"
#include "cmd_input.h"
#include "export/export.h"

#include <stdlib.h>
#include <string.h>

struct options {
    struct vt_input input;
    struct vt_export_options export;
    const struct vt_export_format *writer; /* NULL: not given */
};

/* `text`: the option's value; NULL: not given. */
static int no_format(const char *text) {
    VT_SCOPED_STRING known = {0};
    for (const struct vt_export_format *f = vt_export_formats; f->name; f++)
        vt_string_format(&known, "%s%s", known.length ? ", " : "", f->name);
    if (text)
        vt_usage("export", "--format %s: unknown; this vramtrace knows %s", text, known.text);
    else
        vt_usage("export", "--format is missing: one of %s", known.text);
    return VT_STATUS_USAGE;
}

static int parse_value(const struct vt_given_option *given) {
    for (unsigned i = 0; i < VT_EXPORT_VALUES; i++)
        if (!strcmp(given->value, vt_export_value_names[i])) {
            *(enum vt_export_value *)given->field = (enum vt_export_value)i;
            return 0;
        }
    return vt_usage("export", "--value %s: expected live, peak, allocated or leaked", given->value);
}

static int parse_format(const struct vt_given_option *given) {
    for (const struct vt_export_format *f = vt_export_formats; f->name; f++)
        if (!strcmp(f->name, given->value)) {
            *(const struct vt_export_format **)given->field = f;
            return 0;
        }
    return no_format(given->value);
}

/* Warns if the output has no samples. */
static void warn_empty(const struct vt_model *model, enum vt_export_value value) {
    static const char *const what[VT_EXPORT_VALUES] = {
        [VT_EXPORT_LIVE] = "nothing was live at the end; see --value peak",
        [VT_EXPORT_PEAK] = "no memory was allocated",
        [VT_EXPORT_ALLOCATED] = "no memory was allocated",
        [VT_EXPORT_LEAKED] = "nothing leaked; see --value peak"};
    if (!vt_export_has(model, value))
        vt_error("--value %s: %s", vt_export_value_names[value], what[value]);
}

/* For very many logs the model has no timeline. Without a timeline, a format omits counters, or has nothing to
 * write. */
static int check_timeline(const struct options *o, uint32_t logs) {
    if (!o->writer->timeline || o->input.model.timeline)
        return VT_STATUS_OK;
    bool nothing = o->writer->timeline & VT_TIMELINE_CHANGES;
    vt_error("--format %s: %s logs are too many%s; name some of them", o->writer->name,
             VT_NUMBER(logs), nothing ? "" : " for counters, which are left out");
    return nothing ? VT_STATUS_USAGE : VT_STATUS_OK;
}

/* Warns that events before a summary are only in its sums. */
static void warn_compacted(const struct vt_model *model) {
    for (uint32_t i = 0; i < model->process_count; i++)
        if (model->processes[i].quality.details_from)
            vt_print(stderr, "%s: single events and phases since %s: earlier ones are left out\n",
                     model->processes[i].log,
                     VT_DURATION(model->processes[i].quality.details_from));
}

static int export(void *to, char *const *arguments, int count) {
    struct options *o = to;
    struct vt_logs logs;
    struct vt_model model;
    struct vt_new_file file;
    if (!o->writer)
        return no_format(NULL);
    int status = o->writer->to_file ? vt_input_check_output(&o->input, o->writer->name) : 0;
    if (status)
        return status;
    o->input.model.timeline = o->writer->timeline;
    o->export.native = o->input.native;
    status = vt_input_build(&o->input, arguments, count, &logs, &model);
    if (status)
        return status;
    if (logs.said)
        vt_print(stderr, "%s\n", logs.said);
    if (o->export.value == VT_EXPORT_VALUES)
        o->export.value = vt_export_default(&model);
    if (o->writer->valued)
        warn_empty(&model, o->export.value);
    if (o->writer->timeline)
        warn_compacted(&model);
    status = check_timeline(o, logs.count);
    FILE *out = status ? NULL : vt_output_open(o->input.output, &file);
    status =
        out ? vt_output_close(o->input.output, &file, o->writer->write(&model, &o->export, out))
            : VT_STATUS_USAGE;
    vt_build_free(&model);
    vt_logs_free(&logs);
    return status;
}

static void list_formats(void) {
    for (const struct vt_export_format *f = vt_export_formats; f->name; f++)
        printf("      %-10s %s\n", f->name, f->help);
}

#define AT(field) .at = offsetof(struct options, field)

static const struct vt_option rows[] = {
    {"format", " NAME", "the output, one of:", parse_format, AT(writer), .list = list_formats},
    {"output", " FILE", "write to this file, not to standard output", vt_parse_output,
     AT(input.output), .letter = 'o'},
    {"value", " live|peak|allocated|leaked",
     "the memory to show: live at the end, at the peak of each\nGPU, allocated in all, or "
     "leaked; default: leaked, or\npeak where nothing leaked",
     parse_value, AT(export.value)},
    {.name = NULL},
};

int vt_cmd_export(int argc, char **argv) {
    static const struct vt_options options = {
        .command = "export",
        .usage =
            "usage: vramtrace export --format NAME [options] [LOG...]\n"
            "\n"
            "Writes a run as a file that another tool opens. LOG is a log, or a folder, which\n"
            "stands for its newest run. Default: the newest run here.\n"
            "\n",
        .all = {{.rows = rows}, {.rows = vt_input_options, .at = offsetof(struct options, input)}},
        .run = export,
    };
    struct options o = {.input = {.model = {.device = -1}}, .export.value = VT_EXPORT_VALUES};
    int status = vt_options_run(&options, argc, argv, &o);
    free(o.input.user_code.items);
    return status;
}
