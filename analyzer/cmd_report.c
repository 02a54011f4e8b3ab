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

static const char help_head[] =
    "usage: vramtrace report [options] [LOG...]\n"
    "\n"
    "Explains a run: its leaks, failed allocations, devices and peaks. LOG is a log,\n"
    "or a folder, which stands for its newest run. Default: the newest run here.\n"
    "\n"
    "  --format NAME     the output, one of:\n";
static const char help_tail[] =
    "  -o, --output FILE write to this file, not to the terminal\n"
    "  --top N           rows in each list (text: 10; json: all)\n"
    "  --by line|site|function|file|module|owner\n"
    "                    a row for each of these (line); owner: what keeps the memory\n"
    "  --site ID         one site with its stack; a unique prefix of the id is enough\n"
    "  --source          show source lines although the log is another user's\n" VT_INPUT_HELP
    "  --help            print this text\n";

static void print_help(void) {
    fputs(help_head, stdout);
    for (const struct vt_format *f = vt_formats; f->name; f++)
        if (!f->missing || !f->missing())
            printf("      %-8s %s\n", f->name, f->help);
    fputs(help_tail, stdout);
}

struct options {
    struct vt_input input;
    struct vt_format_options format;
    const struct vt_format *writer;
};

enum { O_FORMAT = 256, O_TOP, O_BY, O_SITE, O_SOURCE };

static const struct option long_options[] = {
    VT_INPUT_OPTIONS,
    {"format", required_argument, NULL, O_FORMAT},
    {"top", required_argument, NULL, O_TOP},
    {"by", required_argument, NULL, O_BY},
    {"site", required_argument, NULL, O_SITE},
    {"source", no_argument, NULL, O_SOURCE},
    VT_CMD_HELP,
    {NULL, 0, NULL, 0},
};

/* `lines`: the option, where it asks for more than the lines and owners that a merged file has. */
static int parse_by(const char *text, enum vt_by *by, const char **lines) {
    static const char *const names[] = {"line", "site", "function", "file", "module", "owner"};
    static const char *const options[] = {NULL,        "--by site",   "--by function",
                                          "--by file", "--by module", NULL};
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(text, names[i])) {
            *by = (enum vt_by)i;
            *lines = *by == VT_BY_LINE || *by == VT_BY_OWNER ? NULL : options[i];
            return 0;
        }
    return vt_usage("report", "--by %s: expected line, site, function, file, module or owner",
                    text);
}

static int parse_format(const char *text, const struct vt_format **format) {
    *format = vt_format_find(text);
    const char *missing = *format && (*format)->missing ? (*format)->missing() : NULL;
    if (missing) {
        vt_error("--format %s: %s", text, missing);
        return VT_STATUS_USAGE;
    }
    if (*format)
        return 0;
    struct vt_string known = {0};
    for (const struct vt_format *f = vt_formats; f->name; f++)
        vt_string_format(&known, "%s%s", known.length ? ", " : "", f->name);
    vt_usage("report", "--format %s: unknown; this vramtrace knows %s", text, known.text);
    vt_string_free(&known);
    return VT_STATUS_USAGE;
}

static int parse_site(const char *text) {
    if (text[0] && strspn(text, "0123456789abcdefABCDEF") == strlen(text) && strlen(text) <= 16)
        return 0;
    return vt_usage("report", "--site %s: expected an id as the report shows it, like 3f2a", text);
}

static int take_option(void *to, int option) {
    struct options *o = to;
    switch (option) {
    case O_FORMAT:
        return parse_format(optarg, &o->writer);
    case O_TOP:
        return vt_cmd_top("report", &o->format.top);
    case O_BY:
        return parse_by(optarg, &o->format.by, &o->input.by);
    case O_SITE:
        o->format.site = o->input.site = optarg;
        return parse_site(optarg);
    case O_SOURCE:
        o->input.model.source = true;
        return 0;
    default:
        return vt_input_option(&o->input, option);
    }
}

/* If no site has this id, that is an error, not an empty report. */
static int check_site(const struct vt_model *model, const char *prefix) {
    for (uint32_t i = 0; i < model->process_count; i++)
        for (uint32_t j = 0; j < model->processes[i].site_count; j++)
            if (vt_site_wanted(&model->processes[i].sites[j], prefix))
                return 0;
    vt_error("--site %s: no site of %s%s has an id that begins like this", prefix,
             model->fleet ? model->fleet->processes[0].log : model->processes[0].log,
             model->fleet ? " and the others" : "");
    return VT_STATUS_USAGE;
}

static int write_report(const struct options *o, const struct vt_model *model) {
    FILE *out = vt_input_open(&o->input);
    if (!out)
        return VT_STATUS_USAGE;
    return vt_input_close(&o->input, out, o->writer->write(model, &o->format, out));
}

static int report(void *to, char *const *arguments, int count) {
    struct options *o = to;
    struct vt_logs logs;
    struct vt_model model;
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
    if (!status)
        status = write_report(o, &model);
    vt_build_free(&model);
    vt_logs_free(&logs);
    return status;
}

int vt_cmd_report(int argc, char **argv) {
    static const struct vt_cmd_options options = {"report", long_options, print_help, take_option,
                                                  report};
    struct options o = {.input = {.command = "report", .ranks = true, .model = {.device = -1}},
                        .writer = vt_formats};
    int status = vt_cmd_options_run(&options, argc, argv, &o);
    free(o.input.user_code.items);
    return status;
}
