/* SPDX-License-Identifier: MIT */
/*
 * vramtrace report: parses its options, finds the logs, builds the model, and calls a format.
 */
#include "commands.h"
#include "build.h"
#include "cmd_input.h"
#include "report/report.h"

#include <stdlib.h>
#include <string.h>

struct options {
    struct vt_input input;
    struct vt_format_options format;
    const struct vt_format *writer;
};

/* Parses --by; for a value that needs more than a merged file has, notes the option. */
static int parse_by(const struct vt_given_option *given) {
    static const char *const names[] = {"line", "site", "function", "file", "module", "owner"};
    static const char *const options[] = {NULL,        "--by site",   "--by function",
                                          "--by file", "--by module", NULL};
    struct options *o = given->field;
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(given->value, names[i])) {
            o->format.by = (enum vt_by)i;
            o->input.by = options[i];
            return 0;
        }
    return vt_usage("report", "--by %s: expected line, site, function, file, module or owner",
                    given->value);
}

static int parse_format(const struct vt_given_option *given) {
    const struct vt_format *format = vt_format_find(given->value);
    const char *missing = format && format->missing ? format->missing() : NULL;
    *(const struct vt_format **)given->field = format;
    if (missing) {
        vt_error("--format %s: %s", given->value, missing);
        return VT_STATUS_USAGE;
    }
    if (format)
        return 0;
    VT_SCOPED_STRING known = {0};
    for (const struct vt_format *f = vt_formats; f->name; f++)
        vt_string_format(&known, "%s%s", known.length ? ", " : "", f->name);
    return vt_usage("report", "--format %s: unknown; this vramtrace knows %s", given->value,
                    known.text);
}

static int parse_site(const struct vt_given_option *given) {
    const char *id = given->value;
    struct options *o = given->field;
    o->format.site = o->input.site = id;
    if (id[0] && strspn(id, "0123456789abcdefABCDEF") == strlen(id) && strlen(id) <= 16)
        return 0;
    return vt_usage("report", "--site %s: expected an id as the report shows it, like 3f2a", id);
}

/* An id that no site has is an error, not an empty report. */
static int check_site(const struct vt_model *model, const char *prefix) {
    for (uint32_t i = 0; i < model->process_count; i++)
        for (uint32_t j = 0; j < model->processes[i].site_count; j++)
            if (vt_site_wanted(&model->processes[i].sites[j], prefix))
                return 0;
    vt_error("--site %s: no site of %s%s has an id that begins with this", prefix,
             model->job ? model->job->processes[0].log : model->processes[0].log,
             model->job ? " and the others" : "");
    return VT_STATUS_USAGE;
}

static int report(void *to, char *const *arguments, int count) {
    struct options *o = to;
    struct vt_logs logs;
    struct vt_model model;
    struct vt_new_file file;
    int status = o->writer->to_file ? vt_input_check_output(&o->input, o->writer->name) : 0;
    if (status)
        return status;
    o->input.model.timeline = o->writer->timeline;
    status = vt_input_build(&o->input, arguments, count, &logs, &model);
    if (status)
        return status;
    o->format.colour = !o->input.output && vt_wants_colour(1);
    o->format.pictures = !vt_fmt_html_missing();
    o->format.blocks = vt_terminal_utf8();
    o->format.width = vt_terminal_columns(o->input.output ? -1 : 1, VT_TEXT_WIDTH, VT_TEXT_WIDEST);
    o->format.heading = logs.said;
    o->format.found = count == 0;
    o->format.native = o->input.native;
    o->format.map = o->input.model.device >= 0;
    if (o->format.site)
        status = check_site(&model, o->format.site);
    FILE *out = status ? NULL : vt_output_open(o->input.output, &file);
    status =
        out ? vt_output_close(o->input.output, &file, o->writer->write(&model, &o->format, out))
            : VT_STATUS_USAGE;
    vt_build_free(&model);
    vt_logs_free(&logs);
    return status;
}

static void list_formats(void) {
    for (const struct vt_format *f = vt_formats; f->name; f++)
        if (!f->missing || !f->missing())
            printf("      %-8s %s\n", f->name, f->help);
}

#define AT(field) .at = offsetof(struct options, field)

static const struct vt_option rows[] = {
    {"format", " NAME", "the output, one of:", parse_format, AT(writer), .list = list_formats},
    {"output", " FILE", "write to this file, not to the terminal", vt_parse_output,
     AT(input.output), .letter = 'o'},
    {"top", " N", "rows in each list (text: 10; json: all)", vt_parse_count, AT(format.top)},
    {"by", " line|site|function|file|module|owner",
     "a row for each of these (line); owner: what keeps the memory", parse_by, .at = 0},
    {"site", " ID", "one site with its stack; a unique prefix of the id is enough", parse_site,
     .at = 0},
    {"source", NULL, "show source lines although the log belongs to another user", vt_parse_flag,
     AT(input.model.source)},
    {.name = NULL},
};

int vt_cmd_report(int argc, char **argv) {
    static const struct vt_options options = {
        .command = "report",
        .usage = "usage: vramtrace report [options] [LOG...]\n"
                 "\n"
                 "Explains a run: its leaks, failed allocations, devices and peaks. LOG is a log,\n"
                 "or a folder, which stands for its newest run. Default: the newest run here.\n"
                 "\n",
        .all = {{.rows = rows}, {.rows = vt_input_options, .at = offsetof(struct options, input)}},
        .run = report,
    };
    struct options o = {.input = {.ranks = true, .model = {.device = -1}}, .writer = vt_formats};
    int status = vt_options_run(&options, argc, argv, &o);
    free(o.input.user_code.items);
    return status;
}
