/* SPDX-License-Identifier: MIT */
/*
 * vramtrace report: parses its options, finds the logs, builds the model, and calls a format.
 */
#include "commands.h"
#include "build.h"
#include "log/log.h"
#include "report/report.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

static const char help_head[] =
    "usage: vramtrace report [options] [LOG...]\n"
    "\n"
    "Explains a run: its leaks, failed allocations, devices and peaks. LOG is a log,\n"
    "or a folder, which stands for its newest run. Default: the newest run here.\n"
    "\n"
    "  --format NAME     one of:\n";
static const char help_tail[] =
    "  -o, --output FILE write to this file, not to the terminal\n"
    "  --top N           rows in each list (text: 10; json: all)\n"
    "  --by WHAT         a row for each line (default), site, function, file, module,\n"
    "                    or for each owner: what keeps the memory\n"
    "  --site ID         one site with its stack; a unique prefix of the id is enough\n"
    "  --source          show source lines although the log is another user's\n"
    "  --native          also show frames inside the Python interpreter\n"
    "  --own PATTERN     your own code: frames whose function, file or module match;\n"
    "                    '*' matches anything; may be repeated\n"
    "  --device N        show only this GPU\n"
    "  --since, --until TIME\n"
    "                    show only this part of the run: 90s, 250ms, 2m, 1h, 80%, or\n"
    "                    a phase that the program named: epoch#3\n"
    "  --phase NAME      show only this phase; NAME#3: the third of that name\n"
    "  --classes FILE    more caches and CUDA libraries, as lines of\n"
    "                    CLASS WHAT PATTERN [NAME] (see vramtrace-report(1))\n"
    "  --run ID          in a folder: the run whose id begins like this, or all\n"
    "  --help            print this text\n";

static void print_help(void) {
    fputs(help_head, stdout);
    for (const struct vt_format *f = vt_formats; f->name; f++)
        printf("                      %-5s %s\n", f->name, f->help);
    fputs(help_tail, stdout);
}

struct options {
    struct vt_model_options model;
    struct vt_format_options format;
    const struct vt_format *writer;
    const char *output, *run;
    struct vt_texts user_code;
};

enum {
    O_FORMAT = 256,
    O_TOP,
    O_BY,
    O_SITE,
    O_NATIVE,
    O_SOURCE,
    O_OWN,
    O_DEVICE,
    O_SINCE,
    O_UNTIL,
    O_PHASE,
    O_RUN,
    O_CLASSES,
    O_HELP
};

static const struct option long_options[] = {
    {"format", required_argument, NULL, O_FORMAT}, {"output", required_argument, NULL, 'o'},
    {"top", required_argument, NULL, O_TOP},       {"by", required_argument, NULL, O_BY},
    {"site", required_argument, NULL, O_SITE},     {"native", no_argument, NULL, O_NATIVE},
    {"source", no_argument, NULL, O_SOURCE},       {"own", required_argument, NULL, O_OWN},
    {"device", required_argument, NULL, O_DEVICE}, {"since", required_argument, NULL, O_SINCE},
    {"until", required_argument, NULL, O_UNTIL},   {"phase", required_argument, NULL, O_PHASE},
    {"run", required_argument, NULL, O_RUN},       {"classes", required_argument, NULL, O_CLASSES},
    {"help", no_argument, NULL, O_HELP},           {NULL, 0, NULL, 0},
};

/* Returns 0 with the number, or -1. */
static int parse_number(const char *text, unsigned long most, unsigned long *number) {
    char *end;
    errno = 0;
    *number = strtoul(text, &end, 10);
    return text[0] < '0' || text[0] > '9' || *end || errno || *number > most ? -1 : 0;
}

static int parse_by(const char *text, enum vt_by *by) {
    static const char *const names[] = {"line", "site", "function", "file", "module", "owner"};
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(text, names[i])) {
            *by = (enum vt_by)i;
            return 0;
        }
    return vt_usage("report", "--by %s: expected line, site, function, file, module or owner",
                    text);
}

static int parse_format(const char *text, const struct vt_format **format) {
    *format = vt_format_find(text);
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

/* Returns 0, or an exit status after it printed an error. */
static int parse_option(int option, struct options *o) {
    unsigned long number;
    switch (option) {
    case O_FORMAT:
        return parse_format(optarg, &o->writer);
    case 'o':
        o->output = optarg;
        return 0;
    case O_TOP:
        if (parse_number(optarg, UINT32_MAX, &number) || !number)
            return vt_usage("report", "--top %s: expected a number of at least 1", optarg);
        o->format.top = (uint32_t)number;
        return 0;
    case O_BY:
        return parse_by(optarg, &o->format.by);
    case O_SITE:
        o->format.site = optarg;
        return parse_site(optarg);
    case O_NATIVE:
        o->format.native = true;
        return 0;
    case O_SOURCE:
        o->model.source = true;
        return 0;
    case O_OWN:
        vt_texts_add(&o->user_code, optarg);
        return 0;
    case O_DEVICE:
        if (parse_number(optarg, 253, &number))
            return vt_usage("report", "--device %s: expected a device's number, 0 to 253", optarg);
        o->model.device = (int)number;
        o->format.map = true;
        return 0;
    case O_SINCE:
        o->model.since = optarg;
        return 0;
    case O_UNTIL:
        o->model.until = optarg;
        return 0;
    case O_PHASE:
        o->model.phase = optarg;
        return 0;
    case O_RUN:
        o->run = optarg;
        return 0;
    case O_CLASSES:
        o->model.classes = optarg;
        return 0;
    }
    return 0;
}

/* If no site has this id, that is an error, not an empty report. */
static int check_site(const struct vt_model *model, const char *prefix) {
    for (uint32_t i = 0; i < model->process_count; i++)
        for (uint32_t j = 0; j < model->processes[i].site_count; j++)
            if (vt_site_wanted(&model->processes[i].sites[j], prefix))
                return 0;
    vt_error("--site %s: no site of %s%s has an id that begins like this", prefix,
             model->processes[0].log, model->process_count > 1 ? " and the others" : "");
    return VT_STATUS_USAGE;
}

/* The same for a GPU that no process used, and for a window after the end of the run. */
static int check_window(const struct vt_model *model, const struct vt_model_options *options) {
    const struct vt_process *p = model->processes;
    const char *others = model->process_count > 1 ? " and the others" : "";
    uint32_t devices = 0, begun = 0;
    uint64_t longest = 0;
    for (uint32_t i = 0; i < model->process_count; i++) {
        devices += p[i].device_count;
        begun += p[i].window_since == VT_UNKNOWN || p[i].window_since <= p[i].duration;
        longest = p[i].duration > longest ? p[i].duration : longest;
    }
    if (options->device >= 0 && !devices) {
        vt_error("--device %d: %s%s did not use that GPU", options->device, p->log, others);
        return VT_STATUS_USAGE;
    }
    if (options->since && !begun) {
        vt_error("--since %s: %s%s ran for only %s", options->since, p->log, others,
                 VT_DURATION(longest));
        return VT_STATUS_USAGE;
    }
    return VT_STATUS_OK;
}

static int write_report(const struct options *o, const struct vt_model *model) {
    FILE *out = stdout;
    if (o->output && strcmp(o->output, "-")) {
        out = fopen(o->output, "we");
        if (!out) {
            vt_error("%s: %s", o->output, strerror(errno));
            return VT_STATUS_USAGE;
        }
    }
    int error = o->writer->write(model, &o->format, out);
    if (fflush(out) || ferror(out))
        error = errno ? -errno : -EIO;
    if (out != stdout && fclose(out) && !error)
        error = -errno;
    if (error == -EPIPE)
        return VT_STATUS_OK;
    if (error) {
        vt_error("%s: %s", o->output ? o->output : "standard output", strerror(-error));
        return VT_STATUS_INTERNAL;
    }
    return VT_STATUS_OK;
}

static int report(struct options *o, char *const *arguments, int count) {
    struct vt_logs logs;
    struct vt_model model;
    struct vt_string message = {0};
    int error = vt_logs_find(arguments, count, o->run, &logs, &message);
    if (!error)
        error = vt_build_model((const char *const *)logs.paths, logs.count, &o->model, &model,
                               &message);
    int status = vt_error_status(error, &message);
    if (status)
        goto out;
    o->format.heading = logs.said;
    o->format.found = count == 0;
    status = check_window(&model, &o->model);
    if (!status && o->format.site)
        status = check_site(&model, o->format.site);
    if (!status)
        status = write_report(o, &model);
    vt_build_free(&model);
out:
    vt_logs_free(&logs);
    return status;
}

int vt_cmd_report(int argc, char **argv) {
    struct options o = {.model = {.device = -1}, .writer = vt_formats};
    int option, status = 0;
    opterr = 0;
    optind = 1;
    while (!status && (option = getopt_long(argc, argv, "ho:", long_options, NULL)) != -1) {
        if (option == O_HELP || option == 'h') {
            print_help();
            free(o.user_code.items);
            return VT_STATUS_OK;
        }
        if (option == '?') {
            const char *given = argv[optind > 1 ? optind - 1 : 1];
            status = vt_usage("report", "%s: unknown option, or its value is missing", given);
        } else {
            status = parse_option(option, &o);
        }
    }
    if (!status) {
        o.model.user_code = o.user_code.items;
        o.format.colour = !o.output && vt_wants_colour(1);
        status = report(&o, argv + optind, argc - optind);
    }
    free(o.user_code.items);
    return status;
}
