/* SPDX-License-Identifier: MIT */
/*
 * The gate's options, and the steps from logs to reports (see check_options.h). model/failing_verdicts.c has the
 * verdicts that fail by default.
 */
#include "check_options.h"

#include "gate_formats.h"

#include "base/base.h"
#include "vramtrace/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void vt_check_start(struct vt_check *check, const struct vt_model_builder *builder) {
    *check = (struct vt_check){.builder = builder,
                               .gate = {.max_peak = VT_UNKNOWN, .max_increase = -1},
                               .format = vt_gate_formats};
}

void vt_check_free(struct vt_check *check) {
    vt_suppress_free(&check->suppressions);
    vt_baseline_free(&check->baseline);
    vt_earlier_free(&check->earlier);
    free(check->reports);
    free(check->user_code.items);
    vt_string_free(&check->words);
    *check = (struct vt_check){0};
}

/* --- values --- */

static int set_fail_on(struct vt_check *check, const char *command, const char *list) {
    static const enum vt_verdict may[] = {VT_VERDICT_LOST, VT_VERDICT_GROWING, VT_VERDICT_SUSPECT,
                                          VT_VERDICT_UNFREED};
    enum { MAY = sizeof may / sizeof *may };
    memset(check->gate.fails, 0, sizeof check->gate.fails);
    check->gate.chosen = true;
    for (const char *at = list;;) {
        size_t length = strcspn(at, ","), i = 0;
        while (i < MAY && (strlen(vt_verdict_names[may[i]]) != length ||
                           strncmp(vt_verdict_names[may[i]], at, length)))
            i++;
        if (i == MAY)
            return vt_usage(command,
                            "--fail-on: expected lost, growing, suspect or unfreed, found '%.*s' "
                            "(held, cache, runtime and freed never fail)",
                            (int)length, at);
        check->gate.fails[may[i]] = true;
        if (!at[length])
            return 0;
        at += length + 1;
    }
}

static int parse_fail_on(const struct vt_given_option *given) {
    return set_fail_on(given->field, given->command, given->value);
}

static int parse_strict(const struct vt_given_option *given) {
    return set_fail_on(given->field, given->command, "lost,growing,suspect,unfreed");
}

static const char *check_size(const char *value) {
    uint64_t size;
    return !vt_text_read_size(value, &size) && size != VT_UNKNOWN
               ? NULL
               : "a size such as 1048576, 512M or 1.5G";
}

static int parse_size(const struct vt_given_option *given) {
    return vt_text_read_size(given->value, given->field);
}

/* "3%", "2.5" */
static const char *check_increase(const char *value) {
    size_t length = strspn(value, "0123456789.");
    return *value >= '0' && *value <= '9' && (!value[length] || !strcmp(value + length, "%"))
               ? NULL
               : "a share such as 3% or 0%";
}

static int parse_increase(const struct vt_given_option *given) {
    *(double *)given->field = strtod(given->value, NULL) / 100;
    return 0;
}

static int parse_suppressions(const struct vt_given_option *given) {
    struct vt_string message = {0};
    return vt_error_status(vt_suppress_read(given->field, given->value, &message), &message);
}

static int parse_written(const struct vt_given_option *given) {
    return *given->value
               ? vt_parse_output(given)
               : vt_usage(given->command, "--write-baseline: expected a file, found nothing");
}

static int parse_source_root(const struct vt_given_option *given) {
    *(const char **)given->field = given->value;
    return access(given->value, F_OK)
               ? vt_usage(given->command, "--source-root: %s: %s", given->value, strerror(errno))
               : 0;
}

static const char *format_names(void) {
    static char names[128];
    size_t at = 0;
    for (const struct vt_gate_format *f = vt_gate_formats; f->name; f++)
        at += (size_t)snprintf(names + at, sizeof names - at, "%s%s", at ? ", " : "", f->name);
    return names;
}

static int parse_format(const struct vt_given_option *given) {
    const struct vt_gate_format **format = given->field;
    *format = vt_gate_format_find(given->value);
    return *format ? 0
                   : vt_usage(given->command, "--format: expected one of %s, found '%s'",
                              format_names(), given->value);
}

static int parse_report(const struct vt_given_option *given) {
    struct vt_check *check = given->field;
    const char *equals = strchr(given->value, '=');
    size_t length = equals ? (size_t)(equals - given->value) : strlen(given->value);
    VT_SCOPED char *name = vt_strndup(given->value, length);
    const struct vt_gate_format *format = vt_gate_format_find(name);
    if (!format || !equals || !equals[1])
        return vt_usage(given->command,
                        "--report: expected FORMAT=FILE with FORMAT one of %s, found '%s'",
                        format_names(), given->value);
    VT_GROW(check->reports, check->report_count, check->report_room);
    check->reports[check->report_count++] = (struct vt_check_report){format, equals + 1};
    return vt_option_output(given, equals + 1);
}

static void list_formats(void) {
    for (const struct vt_gate_format *f = vt_gate_formats; f->name; f++)
        printf("      %-6s %s\n", f->name, f->help);
}

#define AT(field) .at = offsetof(struct vt_check, field)

const struct vt_option vt_check_options[] = {
    {"fail-on", " lost|growing|suspect|unfreed[,...]",
     "verdicts that fail (default: lost,growing, and unfreed in processes without Python)",
     parse_fail_on, .at = 0},
    {"strict", NULL, "--fail-on lost,growing,suspect,unfreed", parse_strict, .at = 0},
    {"max-leaked", " SIZE", "pass while all failing sites together hold at most this (0)",
     parse_size, AT(gate.max_leaked), .check = check_size},
    {"max-peak", " SIZE", "fail when a process uses more than this of a GPU", parse_size,
     AT(gate.max_peak), .check = check_size},
    {"suppressions", " FILE",
     "lines leak:PATTERN: a site with a matching frame passes; may be repeated", parse_suppressions,
     AT(suppressions)},
    {"no-builtin", NULL, "do not use the built-in suppressions", vt_parse_flag, AT(no_builtin)},
    {"print-suppressions", NULL, "print the built-in suppressions and exit", vt_parse_flag,
     AT(print_suppressions)},
    {"baseline", " FILE", "leaks listed in it pass, unless they grew", vt_parse_text,
     AT(baseline_file)},
    {"write-baseline", " FILE", "accept the leaks of this run: write them to FILE", parse_written,
     AT(write_baseline)},
    {"against", " DIR", "compare with the earlier runs in DIR: leaks, peak and held memory",
     vt_parse_text, AT(against)},
    {"max-increase", " N%", "with --against: fail when peak or held memory is larger by more",
     parse_increase, AT(gate.max_increase), .check = check_increase},
    {"own", " PATTERN", "your own code: frames whose function, file or module match",
     vt_parse_texts, AT(user_code)},
    {"classes", " FILE", "more caches and CUDA libraries (see vramtrace-report(1))", vt_parse_text,
     AT(classes)},
    {"source-root", " DIR", "show file names relative to DIR (the working folder)",
     parse_source_root, AT(how.source_root)},
    {"stable", NULL, "leave out what differs between runs: pids, times, addresses", vt_parse_flag,
     AT(how.stable)},
    {"allow-no-cuda", NULL, "pass even if no CUDA call succeeded", vt_parse_flag,
     AT(allow_no_cuda)},
    {"ignore-status", NULL, "with run: judge even if the command failed", vt_parse_flag,
     AT(ignore_status)},
    {"format", " NAME", "the output, one of:", parse_format, AT(format), .list = list_formats},
    {"report", " FORMAT=FILE", "also write this format to this file; may be repeated", parse_report,
     .at = 0},
    {.name = NULL},
};

/* Whether the pytest plugin also takes this option: all but outputs, limits for the whole process, and comparisons with
 * other runs. */
static bool judges_tests(const struct vt_option *option) {
    return option->parse != parse_format && option->parse != parse_report &&
           option->at != offsetof(struct vt_check, gate.max_peak) &&
           option->parse != parse_increase && option->at != offsetof(struct vt_check, against) &&
           option->at != offsetof(struct vt_check, print_suppressions);
}

void vt_check_note(void *to, const struct vt_option *option, const char *value) {
    struct vt_check *check = to;
    check->last = option->name;
    if (judges_tests(option))
        vt_string_format(&check->words, "%s--%s%s%s", check->words.length ? "\n" : "", option->name,
                         value ? "=" : "", value ? value : "");
}

int vt_check_ready(struct vt_check *check) {
    struct vt_string message = {0};
    int error = 0;
    if (check->gate.max_increase >= 0 && !check->against)
        return vt_usage("check", "--max-increase: works only with --against");
    if (!check->no_builtin)
        vt_suppress_add_builtin(&check->suppressions);
    check->gate.suppressions = &check->suppressions;
    if (check->baseline_file) {
        error = vt_baseline_read(check->baseline_file, &check->baseline, &message);
        check->gate.baseline = &check->baseline;
    }
    return vt_error_status(error, &message);
}

int vt_check_may_start(const struct vt_check *check) {
    for (uint32_t i = 0; i < check->report_count; i++) {
        const char *file = check->reports[i].file;
        VT_SCOPED char *folder = vt_formatted("%.*s.", (int)(vt_basename(file) - file), file);
        struct stat st;
        bool there = !stat(file, &st);
        int error = there && S_ISDIR(st.st_mode) ? EISDIR
                    : access(there ? file : folder, there ? W_OK : W_OK | X_OK) ? errno
                                                                                : 0;
        if (!error || !strcmp(file, "-"))
            continue;
        vt_error("--report %s=%s: expected a file that can be written, found: %s",
                 check->reports[i].format->name, file, strerror(error));
        return VT_STATUS_USAGE;
    }
    return 0;
}

/* --- judging --- */

/* Resets the counts of an analysis that is not shown. */
static void forget_suppressed(const struct vt_check *check) {
    for (uint32_t i = 0; i < check->suppressions.count; i++)
        check->suppressions.rules[i].sites = 0;
}

/* Writes the current leaks as the baseline, and applies it. */
static int accept_all(struct vt_check *check, const struct vt_model *model, struct vt_gate *gate) {
    struct vt_string message = {0};
    struct vt_baseline today = {0};
    vt_gate_baseline(gate, &today);
    int error = vt_baseline_write(&today, check->write_baseline, &message);
    int status = vt_error_status(error, &message);
    vt_baseline_free(&check->baseline);
    check->baseline = today;
    check->gate.baseline = &check->baseline;
    check->how.written = error ? NULL : check->write_baseline;
    forget_suppressed(check);
    vt_gate_free(gate);
    vt_gate_judge(model, &check->gate, gate);
    return status;
}

/* Reads the runs to compare with. Returns 0, or an exit status after printing an error. Without earlier runs, the
 * current one is analyzed but does not pass. */
static int read_earlier(struct vt_check *check, const struct vt_model_options *options,
                        const struct vt_model *model) {
    struct vt_string message = {0};
    if (!check->against || !model->process_count)
        return 0;
    int error = vt_earlier_read(check->against, model, check->builder, options, &check->gate,
                                &check->earlier, &message);
    check->gate.earlier = &check->earlier;
    forget_suppressed(check);
    if (error == -ENOENT)
        vt_string_add(&message, " (to begin, run it once without --against)");
    int status = vt_error_status(error, &message);
    return error == -ENOENT ? 0 : status;
}

/* Writes a report to `file`; "-": to `out`. */
static int write_one(const struct vt_check *check, const struct vt_gate *gate,
                     const struct vt_gate_format *format, const char *file, FILE *out) {
    struct vt_gate_format_options how = check->how;
    struct vt_new_file new_file = {.out = out};
    bool to_file = strcmp(file, "-") != 0;
    int error = to_file ? vt_new_file_open(&new_file, file, VT_NEW_FILE_GIVEN, 0666) : 0;
    const char *why = new_file.why;
    if (!error) {
        how.colour = vt_wants_colour(fileno(new_file.out));
        errno = 0;
        vt_gate_write(gate, format, &how, new_file.out);
        if (to_file)
            error = vt_new_file_close(&new_file, 0);
        else if (fflush(out) || ferror(out))
            error = errno ? -errno : -EIO;
        why = strerror(-error);
    }
    if (!error || (error == -EPIPE && !to_file))
        return 0;
    vt_error("cannot write the %s report to %s: %s", format->name, to_file ? file : "the output",
             why);
    return VT_STATUS_USAGE;
}

/* A log without usable data must not pass as if nothing leaked. */
static int check_judged(const struct vt_check *check, const struct vt_model *model) {
    const struct vt_process *none = NULL; /* a process without a successful allocation */
    bool judged = check->allow_no_cuda;
    for (uint32_t i = 0; i < model->process_count; i++) {
        const struct vt_process *p = &model->processes[i];
        judged |= p->site_count > 0;
        none = none || !p->nothing_allocated ? none : p;
        if (p->events || !p->quality.missing)
            continue;
        vt_error("%s: nothing to judge: all %llu events were dropped", p->log,
                 (unsigned long long)p->quality.missing);
        return VT_STATUS_USAGE;
    }
    if (judged || !none)
        return 0;
    VT_SCOPED char *text = vt_failed_text(none, none->failed, 1000);
    vt_error("%s: nothing to judge: %s (to pass anyway: --allow-no-cuda)", none->log, text);
    return VT_STATUS_USAGE;
}

int vt_check_run(struct vt_check *check, char *const *logs, uint32_t count, FILE *out) {
    struct vt_model_options options = {
        .device = -1, .user_code = check->user_code.items, .classes = check->classes};
    struct vt_model model;
    struct vt_gate gate;
    struct vt_string message = {0};
    if (check->builder->build((const char *const *)logs, count, &options, &model, &message))
        return vt_error_status(1, &message);
    int status = check_judged(check, &model), error;
    if (!status)
        status = read_earlier(check, &options, &model);
    vt_progress_end();
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
