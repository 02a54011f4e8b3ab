/* SPDX-License-Identifier: MIT */
/*
 * Options that several commands have in common (see cmd_input.h).
 */
#include "cmd_input.h"
#include "build.h"

#include "vramtrace/log_format.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A device's number. Returns 0, or -1. */
static int parse_device(const char *text, int *device) {
    char *end;
    errno = 0;
    unsigned long number = strtoul(text, &end, 10);
    *device = (int)number;
    return text[0] < '0' || text[0] > '9' || *end || errno || number >= VT_DEVICE_HOST ? -1 : 0;
}

int vt_input_option(struct vt_input *input, int option) {
    switch (option) {
    case 'o':
        input->output = optarg;
        return 0;
    case VT_INPUT_NATIVE:
        input->native = true;
        return 0;
    case VT_INPUT_OWN:
        vt_texts_add(&input->user_code, optarg);
        return 0;
    case VT_INPUT_DEVICE:
        if (parse_device(optarg, &input->model.device))
            return vt_usage(input->command, "--device %s: expected a device's number, 0 to 253",
                            optarg);
        return 0;
    case VT_INPUT_SINCE:
        input->model.since = optarg;
        return 0;
    case VT_INPUT_UNTIL:
        input->model.until = optarg;
        return 0;
    case VT_INPUT_PHASE:
        input->model.phase = optarg;
        return 0;
    case VT_INPUT_RUN:
        input->run = optarg;
        return 0;
    case VT_INPUT_CLASSES:
        input->model.classes = optarg;
        return 0;
    }
    return 0;
}

/* A GPU that no process used, and a window after the end of the run, are errors, not an empty
 * report. */
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

/* Pictures of many processes have no room for all of this, nor has the machine's memory. */
static void bound_timeline(struct vt_model_options *options, uint32_t logs) {
    enum { WITH_MAPS = 16, WITH_COURSES = 256 };
    if (logs > WITH_MAPS)
        options->timeline &= ~(unsigned)VT_TIMELINE_MAPS;
    if (logs > WITH_COURSES)
        options->timeline = 0;
}

int vt_input_build(struct vt_input *input, char *const *arguments, int count, struct vt_logs *logs,
                   struct vt_model *model) {
    struct vt_string message = {0};
    input->model.user_code = input->user_code.items;
    vt_progress_allow();
    int error = vt_logs_find(arguments, count, input->run, logs, &message);
    bound_timeline(&input->model, error ? 0 : logs->count);
    if (!error)
        error = vt_build_model((const char *const *)logs->paths, logs->count, &input->model, model,
                               &message);
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

FILE *vt_input_open(const struct vt_input *input) {
    if (!input->output || !strcmp(input->output, "-"))
        return stdout;
    FILE *out = fopen(input->output, "we");
    if (!out)
        vt_error("%s: %s", input->output, strerror(errno));
    return out;
}

int vt_input_close(const struct vt_input *input, FILE *out, int error) {
    if (fflush(out) || ferror(out))
        error = errno ? -errno : -EIO;
    if (out != stdout && fclose(out) && !error)
        error = -errno;
    if (!error || error == -EPIPE)
        return VT_STATUS_OK;
    vt_error("%s: %s", input->output ? input->output : "standard output", strerror(-error));
    return VT_STATUS_INTERNAL;
}
