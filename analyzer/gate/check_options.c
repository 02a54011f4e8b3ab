/* SPDX-License-Identifier: MIT */
/*
 * The gate's options, and the way from logs to its reports (see check_options.h).
 */
#include "check_options.h"

#include "gate_formats.h"

#include "base/base.h"
#include "vramtrace/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    O_FAIL_ON = VT_CHECK_BASE,
    O_STRICT,
    O_MAX_LEAKED,
    O_MAX_PEAK,
    O_SUPPRESSIONS,
    O_NO_BUILTIN,
    O_PRINT,
    O_BASELINE,
    O_WRITE_BASELINE,
    O_STABLE,
    O_SOURCE_ROOT,
    O_OWN,
    O_ALLOW_NO_CUDA,
    O_IGNORE_STATUS,
    O_FORMAT,
    O_REPORT,
    O_CLASSES,
};

const struct option vt_check_options[] = {
    {"fail-on", required_argument, NULL, O_FAIL_ON},
    {"strict", no_argument, NULL, O_STRICT},
    {"max-leaked", required_argument, NULL, O_MAX_LEAKED},
    {"max-peak", required_argument, NULL, O_MAX_PEAK},
    {"suppressions", required_argument, NULL, O_SUPPRESSIONS},
    {"no-builtin", no_argument, NULL, O_NO_BUILTIN},
    {"print-suppressions", no_argument, NULL, O_PRINT},
    {"baseline", required_argument, NULL, O_BASELINE},
    {"write-baseline", required_argument, NULL, O_WRITE_BASELINE},
    {"stable", no_argument, NULL, O_STABLE},
    {"source-root", required_argument, NULL, O_SOURCE_ROOT},
    {"own", required_argument, NULL, O_OWN},
    {"classes", required_argument, NULL, O_CLASSES},
    {"allow-no-cuda", no_argument, NULL, O_ALLOW_NO_CUDA},
    {"ignore-status", no_argument, NULL, O_IGNORE_STATUS},
    {"format", required_argument, NULL, O_FORMAT},
    {"report", required_argument, NULL, O_REPORT},
    {NULL, 0, NULL, 0},
};

void vt_check_help(FILE *out) {
    fputs("  --fail-on lost|growing|unfreed[,...]\n"
          "                    verdicts that fail (default: lost,growing, and unfreed in\n"
          "                    processes without Python)\n"
          "  --strict          --fail-on lost,growing,unfreed\n"
          "  --max-leaked SIZE pass while all failing sites together hold no more (0)\n"
          "  --max-peak SIZE   fail when a process uses more than this of a GPU\n"
          "  --suppressions FILE\n"
          "                    lines leak:PATTERN: a site with a matching frame passes; may\n"
          "                    be repeated\n"
          "  --no-builtin      do not use the built-in suppressions\n"
          "  --print-suppressions\n"
          "                    print the built-in suppressions and exit\n"
          "  --baseline FILE   leaks listed in it pass, unless they grew\n"
          "  --write-baseline FILE\n"
          "                    accept the leaks of this run: write them to FILE\n"
          "  --own PATTERN     your own code: frames whose function, file or module match\n"
          "  --classes FILE    more caches and CUDA libraries (see vramtrace-report(1))\n"
          "  --source-root DIR show file names relative to DIR (the working folder)\n"
          "  --stable          leave out what differs between runs: pids, times, addresses\n"
          "  --allow-no-cuda   pass even if there was no CUDA call\n"
          "  --ignore-status   with run: judge even if the command failed\n",
          out);
    fputs("  --format NAME     the output, one of:\n", out);
    for (const struct vt_gate_format *f = vt_gate_formats; f->name; f++)
        fprintf(out, "      %-6s %s\n", f->name, f->help);
    fputs("  --report FORMAT=FILE\n"
          "                    also write this format to this file; may be repeated\n",
          out);
}

void vt_check_start(struct vt_check *check, const struct vt_model_builder *builder) {
    *check = (struct vt_check){
        .builder = builder, .gate = {.max_peak = VT_UNKNOWN}, .format = vt_gate_formats};
}

void vt_check_free(struct vt_check *check) {
    vt_suppress_free(&check->suppressions);
    vt_baseline_free(&check->baseline);
    free(check->reports);
    free(check->user_code.items);
    vt_string_free(&check->words);
    *check = (struct vt_check){0};
}

/* --- values --- */

static int set_fail_on(struct vt_check *check, const char *command, const char *list) {
    static const enum vt_verdict may[] = {VT_VERDICT_LOST, VT_VERDICT_GROWING, VT_VERDICT_UNFREED};
    memset(check->gate.fails, 0, sizeof check->gate.fails);
    check->gate.chosen = true;
    for (const char *at = list;;) {
        size_t length = strcspn(at, ","), i = 0;
        while (i < 3 && (strlen(vt_verdict_names[may[i]]) != length ||
                         strncmp(vt_verdict_names[may[i]], at, length)))
            i++;
        if (i == 3)
            return vt_usage(command,
                            "--fail-on: expected lost, growing or unfreed, found '%.*s' (cache, "
                            "runtime and freed never fail)",
                            (int)length, at);
        check->gate.fails[may[i]] = true;
        if (!at[length])
            return 0;
        at += length + 1;
    }
}

static int set_size(const char *command, const char *name, const char *value, uint64_t *size) {
    if (!vt_text_read_size(value, size) && *size != VT_UNKNOWN)
        return 0;
    return vt_usage(command, "--%s: expected a size such as 1048576, 512M or 1.5G, found '%s'",
                    name, value);
}

static const char *format_names(void) {
    static char names[128];
    size_t at = 0;
    for (const struct vt_gate_format *f = vt_gate_formats; f->name; f++)
        at += (size_t)snprintf(names + at, sizeof names - at, "%s%s", at ? ", " : "", f->name);
    return names;
}

static int add_report(struct vt_check *check, const char *command, const char *value) {
    const char *equals = strchr(value, '=');
    VT_SCOPED char *name = vt_strndup(value, equals ? (size_t)(equals - value) : strlen(value));
    const struct vt_gate_format *format = vt_gate_format_find(name);
    if (!format || !equals || !equals[1])
        return vt_usage(command, "--report: expected FORMAT=FILE with FORMAT one of %s, found '%s'",
                        format_names(), value);
    VT_GROW(check->reports, check->report_count, check->report_room);
    check->reports[check->report_count++] = (struct vt_check_report){format, equals + 1};
    return vt_usage_output(command, "--report", equals + 1);
}

static int add_suppressions(struct vt_check *check, const char *path) {
    struct vt_string message = {0};
    return vt_error_status(vt_suppress_read(&check->suppressions, path, &message), &message);
}

int vt_check_option(struct vt_check *check, const char *command, int option, const char *value) {
    check->given = true;
    check->last = vt_check_options[option - VT_CHECK_BASE].name;
    if (option != O_FORMAT && option != O_REPORT && option != O_MAX_PEAK && option != O_PRINT)
        vt_string_format(&check->words, "%s--%s%s%s", check->words.length ? "\n" : "", check->last,
                         value ? "=" : "", value ? value : "");
    switch (option) {
    case O_FAIL_ON:
        return set_fail_on(check, command, value);
    case O_STRICT:
        return set_fail_on(check, command, "lost,growing,unfreed");
    case O_MAX_LEAKED:
        return set_size(command, check->last, value, &check->gate.max_leaked);
    case O_MAX_PEAK:
        return set_size(command, check->last, value, &check->gate.max_peak);
    case O_SUPPRESSIONS:
        return add_suppressions(check, value);
    case O_NO_BUILTIN:
        check->no_builtin = true;
        return 0;
    case O_PRINT:
        check->print_suppressions = true;
        return 0;
    case O_BASELINE:
        check->baseline_file = value;
        return 0;
    case O_WRITE_BASELINE:
        if (!*value)
            return vt_usage(command, "--write-baseline: expected a file, found nothing");
        check->write_baseline = value;
        return vt_usage_output(command, "--write-baseline", value);
    case O_STABLE:
        check->how.stable = true;
        return 0;
    case O_SOURCE_ROOT:
        check->how.source_root = value;
        return access(value, F_OK)
                   ? vt_usage(command, "--source-root: %s: %s", value, strerror(errno))
                   : 0;
    case O_CLASSES:
        check->classes = value;
        return 0;
    case O_OWN:
        vt_texts_add(&check->user_code, value);
        return 0;
    case O_ALLOW_NO_CUDA:
        check->allow_no_cuda = true;
        return 0;
    case O_IGNORE_STATUS:
        check->ignore_status = true;
        return 0;
    case O_FORMAT:
        check->format = vt_gate_format_find(value);
        return check->format ? 0
                             : vt_usage(command, "--format: expected one of %s, found '%s'",
                                        format_names(), value);
    default:
        return add_report(check, command, value);
    }
}

int vt_check_ready(struct vt_check *check) {
    struct vt_string message = {0};
    int error = 0;
    if (!check->no_builtin)
        vt_suppress_add_builtin(&check->suppressions);
    check->gate.suppressions = &check->suppressions;
    if (check->baseline_file) {
        error = vt_baseline_read(check->baseline_file, &check->baseline, &message);
        check->gate.baseline = &check->baseline;
    }
    return vt_error_status(error, &message);
}

/* --- judging --- */

/* Writes the current leaks as the baseline, and judges by it. */
static int accept_all(struct vt_check *check, const struct vt_model *model, struct vt_gate *gate) {
    struct vt_string message = {0};
    struct vt_baseline today;
    vt_gate_baseline(gate, &today);
    int error = vt_baseline_write(&today, check->write_baseline, &message);
    int status = vt_error_status(error, &message);
    vt_baseline_free(&check->baseline);
    check->baseline = today;
    check->gate.baseline = &check->baseline;
    check->how.written = error ? NULL : check->write_baseline;
    for (uint32_t i = 0; i < check->suppressions.count; i++)
        check->suppressions.rules[i].sites = check->suppressions.rules[i].bytes = 0;
    vt_gate_free(gate);
    vt_gate_judge(model, &check->gate, gate);
    return status;
}

/* Writes a report to `file`; "-": to `out`. */
static int write_one(const struct vt_check *check, const struct vt_gate *gate,
                     const struct vt_gate_format *format, const char *file, FILE *out) {
    struct vt_gate_format_options how = check->how;
    bool to_file = strcmp(file, "-") != 0;
    FILE *to = to_file ? fopen(file, "we") : out;
    int error = to ? 0 : -errno;
    how.colour = to && vt_wants_colour(fileno(to));
    errno = 0;
    if (to)
        error = format->write(gate, &how, to);
    if (to && (fflush(to) || ferror(to)) && !error)
        error = errno ? -errno : -EIO;
    if (to && to_file && fclose(to) && !error)
        error = -errno;
    if (!error || (error == -EPIPE && !to_file))
        return 0;
    vt_error("cannot write the %s report to %s: %s", format->name, to_file ? file : "the output",
             strerror(-error));
    return VT_STATUS_USAGE;
}

/* A log without usable data must not pass as if nothing leaked. */
static int check_judged(const struct vt_model *model) {
    for (uint32_t i = 0; i < model->process_count; i++) {
        const struct vt_process *p = &model->processes[i];
        if (p->events || !p->dropped_events)
            continue;
        vt_error("%s: nothing to judge: all %llu events were dropped", p->log,
                 (unsigned long long)p->dropped_events);
        return VT_STATUS_USAGE;
    }
    return 0;
}

int vt_check_run(struct vt_check *check, char *const *logs, uint32_t count, FILE *out) {
    struct vt_model_options options = {
        .device = -1, .user_code = check->user_code.items, .classes = check->classes};
    struct vt_model model;
    struct vt_gate gate;
    struct vt_string message = {0};
    if (check->builder->build((const char *const *)logs, count, &options, &model, &message))
        return vt_error_status(1, &message);
    vt_progress_end();
    int status = check_judged(&model), error;
    if (status) {
        check->builder->free(&model);
        return status;
    }
    vt_gate_judge(&model, &check->gate, &gate);
    if (check->write_baseline)
        status = accept_all(check, &model, &gate);
    error = write_one(check, &gate, check->format, "-", out);
    for (uint32_t i = 0; i < check->report_count; i++) {
        int bad = write_one(check, &gate, check->reports[i].format, check->reports[i].file, out);
        error = error ? error : bad;
    }
    /* a failed gate takes priority over a report that cannot be written */
    status = gate.failed ? VT_STATUS_GATE : status ? status : error;
    if (!status && gate.open)
        status = VT_STATUS_USAGE;
    vt_gate_free(&gate);
    check->builder->free(&model);
    return status;
}
