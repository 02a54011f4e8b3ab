/* SPDX-License-Identifier: MIT */
/*
 * Options shared by several commands (see cmd_input.h).
 */
#include "cmd_input.h"
#include "build.h"

#include "vramtrace/log_format.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int vt_input_parse_device(const struct vt_given_option *given) {
    char *end;
    errno = 0;
    unsigned long number = strtoul(given->value, &end, 10);
    *(int *)given->field = (int)number;
    if (*given->value >= '0' && *given->value <= '9' && !*end && !errno && number < VT_DEVICE_HOST)
        return 0;
    return vt_usage(given->command, "--device %s: expected a device's number, 0 to 253",
                    given->value);
}

#define AT(field) .at = offsetof(struct vt_input, field)

const struct vt_option vt_input_options[] = {
    {"native", NULL, "also show frames inside the Python interpreter", vt_parse_flag, AT(native)},
    {"own", " PATTERN",
     "your own code: frames whose function, file or module match; '*' matches anything; may be "
     "repeated",
     vt_parse_texts, AT(user_code)},
    {"device", " N", "show only this GPU", vt_input_parse_device, AT(model.device)},
    {"since", " TIME", NULL, vt_parse_text, AT(model.since)},
    {"until", " TIME",
     "show only this part of the run: 90s, 250ms, 2m, 1h, 80%, or a phase that the program named: "
     "epoch#3",
     vt_parse_text, AT(model.until)},
    {"phase", " NAME", "show only this phase; NAME#3: the third of that name", vt_parse_text,
     AT(model.phase)},
    {"classes", " FILE",
     "more caches and CUDA libraries, as lines of\nCLASS WHAT PATTERN [NAME] (see "
     "vramtrace-report(1))",
     vt_parse_text, AT(model.classes)},
    {"run", " ID", "in a folder: the run whose id begins with this, or all", vt_parse_text,
     AT(run)},
    VT_OPTION_HELP,
    {.name = NULL},
};

/* A GPU that no process used, and a window after the end of the run, are errors, not an empty
 * report. */
static int check_window(const struct vt_model *model, const struct vt_model_options *options) {
    const struct vt_process *p =
        model->processes; /* no process: --site matched none, which is reported elsewhere */
    const char *others = model->process_count > 1 ? " and the others" : "";
    uint32_t devices = model->job ? (uint32_t)model->job->device_count : 0, begun = 0;
    uint64_t longest = 0;
    for (uint32_t i = 0; i < model->process_count; i++) {
        devices += p[i].device_count;
        begun += p[i].window_since == VT_UNKNOWN || p[i].window_since <= p[i].duration;
        longest = p[i].duration > longest ? p[i].duration : longest;
    }
    if (options->device >= 0 && !devices && model->process_count) {
        vt_error("--device %d: %s%s did not use that GPU", options->device, p->log, others);
        return VT_STATUS_USAGE;
    }
    if (options->since && !begun && model->process_count) {
        vt_error("--since %s: %s%s ran for only %s", options->since, p->log, others,
                 VT_DURATION(longest));
        return VT_STATUS_USAGE;
    }
    return VT_STATUS_OK;
}

/* Up to this many processes are shown in full. If there are more, they are compared, and only a few are shown. */
enum { WHOLE = 16 };

/* For many processes the timeline has less detail, to limit memory and the size of pictures. */
static void bound_timeline(struct vt_model_options *options, uint32_t logs) {
    enum { WITH_COURSES = 256 };
    if (logs > WHOLE)
        options->timeline &= ~(unsigned)VT_TIMELINE_MAPS;
    if (logs > WITH_COURSES)
        options->timeline = 0;
}

static bool has_site(const struct vt_process *p, const void *prefix) {
    bool found = false;
    for (uint32_t i = 0; i < p->site_count && !found; i++)
        found = vt_site_wanted(&p->sites[i], prefix);
    return found;
}

/* The given option that needs data missing from merged files; NULL: none. */
static const char *option_of_events(const struct vt_input *input) {
    const struct vt_model_options *o = &input->model;
    return o->since                 ? "--since"
           : o->until               ? "--until"
           : o->phase               ? "--phase"
           : o->device >= 0         ? "--device"
           : input->site            ? "--site"
           : input->native          ? "--native"
           : input->user_code.count ? "--own"
           : o->classes             ? "--classes"
                                    : input->by;
}

/* Returns 0, or -EINVAL with `message`: a merged file cannot be analysed again. */
static int check_merged(const struct vt_input *input, const struct vt_logs *logs,
                        struct vt_string *message) {
    const char *option = option_of_events(input);
    for (uint32_t i = 0; i < logs->count && input->ranks && option; i++)
        if (vt_logs_is_merged(logs->paths[i])) {
            vt_string_format(
                message,
                "%s: %s is a merged file, which has no events and no call stacks; name "
                "the logs that it was made of",
                option, logs->paths[i]);
            return -EINVAL;
        }
    return 0;
}

static int build(struct vt_input *input, const struct vt_logs *logs, struct vt_model *model,
                 struct vt_string *message) {
    const char *const *paths = (const char *const *)logs->paths;
    if (!input->ranks || (logs->count == 1 && !vt_logs_is_merged(paths[0])))
        return vt_build_model(paths, logs->count, &input->model, model, message);
    return vt_build_ranks(paths, logs->count, &input->model, WHOLE, input->site ? has_site : NULL,
                          input->site, model, message);
}

int vt_input_build(struct vt_input *input, char *const *arguments, int count, struct vt_logs *logs,
                   struct vt_model *model) {
    VT_SCOPED_STRING message = {0};
    input->model.user_code = input->user_code.items;
    vt_progress_allow();
    int error = (input->ranks ? vt_logs_find_merged : vt_logs_find)(arguments, count, input->run,
                                                                    logs, &message);
    bound_timeline(&input->model, error ? 0 : logs->count);
    if (!error)
        error = check_merged(input, logs, &message);
    if (!error)
        error = build(input, logs, model, &message);
    vt_progress_end();
    int status = vt_error_status(error, &message);
    if (status) {
        vt_logs_free(logs);
        return status;
    }
    status = check_window(model, &input->model);
    if (status) {
        vt_build_free(model);
        vt_logs_free(logs);
    }
    return status;
}

int vt_input_check_output(const struct vt_input *input, const char *format) {
    if (input->output || !isatty(1))
        return VT_STATUS_OK;
    vt_error("--format %s is not for a terminal; name a file with -o", format);
    return VT_STATUS_USAGE;
}

FILE *vt_output_open(const char *path, struct vt_new_file *file) {
    *file = (struct vt_new_file){.out = stdout};
    if (!path || !strcmp(path, "-"))
        return stdout;
    file->out = NULL;
    if (vt_log_is_log(path))
        vt_error("%s: not replaced: it is a log", path);
    else if (vt_new_file_open(file, path, VT_NEW_FILE_GIVEN, 0666))
        vt_error("%s: %s", path, file->why);
    return file->out;
}

int vt_output_close(const char *path, struct vt_new_file *file, int error) {
    vt_progress_end(); /* the progress of rereading logs during output */
    if (file && file->out != stdout)
        error = vt_new_file_close(file, error);
    else if (fflush(stdout) || ferror(stdout))
        error = errno ? -errno : -EIO;
    if (!error || error == -EPIPE)
        return VT_STATUS_OK;
    vt_error("%s: %s", path ? path : "standard output", strerror(-error));
    return VT_STATUS_INTERNAL;
}
