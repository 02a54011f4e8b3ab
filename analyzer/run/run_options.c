/* SPDX-License-Identifier: MIT */
/*
 * The options of `vramtrace run` (see run_options.h). Most are passed to the tracer, in the variable of the same name:
 * --snapshot-limit in VRAMTRACE_SNAPSHOT_LIMIT. The tracer can only warn about a bad value, so bad values are refused
 * here, before anything starts.
 */
#include "run_options.h"

#include "base/base.h"
#include "run_elf.h"
#include "vramtrace/text.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool read_number(const char *text, unsigned long long least, unsigned long long most) {
    char *end;
    if (*text < '0' || *text > '9') /* strtoull accepts blanks and signs */
        return false;
    errno = 0;
    unsigned long long n = strtoull(text, &end, 10);
    return !errno && !*end && n >= least && n <= most;
}

static const char *check_output(const char *value) {
    static const char allowed[] =
        "a path in which % is followed by p, h, e, r, j, q{VARIABLE} or %";
    if (!*value)
        return allowed;
    if (!strncmp(value, "--", 2)) /* the value is missing, and the next option was taken for it */
        return "a path, which begins with ./ if its name begins with --";
    for (const char *s = value; (s = strchr(s, '%')); s++) {
        s++;
        if (*s == 'q' && s[1] == '{' && s[2] != '}' && strchr(s, '}'))
            s = strchr(s, '}');
        else if (!*s || !strchr("pherj%", *s))
            return allowed;
    }
    struct stat st;
    bool special = vt_file_descriptor(value) >= 0 ||
                   (!stat(value, &st) && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode));
    return special ? "a file or a folder, not a device or a pipe" : NULL;
}

static const char *check_depth(const char *value) {
    return read_number(value, 1, 256) ? NULL : "a number of frames from 1 to 256";
}

static const char *check_switch(const char *value) {
    return !strcmp(value, "auto") || !strcmp(value, "off") ? NULL : "auto or off";
}

static const char *check_on_off(const char *value) {
    return !strcmp(value, "on") || !strcmp(value, "off") ? NULL : "on or off";
}

static bool is_size(const char *value) {
    uint64_t bytes;
    return !vt_text_read_size(value, &bytes) && bytes > 0;
}

static const char *check_size(const char *value) {
    return is_size(value) ? NULL : "a size such as 1073741824, 512M or 1.5G";
}

static const char *check_inject(const char *value) {
    static const char allowed[] = "N or N+ (N at least 1), or each";
    if (!strcmp(value, "each"))
        return NULL;
    size_t digits = strspn(value, "0123456789");
    char *end;
    errno = 0;
    bool good = digits && strtoull(value, &end, 10) > 0 && !errno;
    return good && (!value[digits] || !strcmp(value + digits, "+")) ? NULL : allowed;
}

static const char *check_alarm(const char *value) {
    uint32_t share;
    return !vt_text_read_share(value, &share) || is_size(value)
               ? NULL
               : "a size such as 22G, or a share up to 100%";
}

static const char *check_snapshot(const char *value) {
    unsigned triggers;
    return vt_text_read_triggers(value, &triggers) ? VT_TEXT_TRIGGERS : NULL;
}

static const char *check_bounds(const char *value) {
    uint64_t ns, bytes;
    return vt_text_read_bounds(value, &ns, &bytes) ? VT_TEXT_BOUNDS : NULL;
}

static const char *check_max_log(const char *value) {
    uint64_t bytes;
    bool size = !vt_text_read_size(value, &bytes) && bytes >= VT_TEXT_MAX_LOG_LEAST;
    return size || !strcmp(value, "auto") || !strcmp(value, "off") ? NULL : VT_TEXT_MAX_LOG;
}

static const char *check_max_runs(const char *value) {
    return read_number(value, 1, 1000000) ? NULL : "a number of at least 1";
}

static const char *check_timeout(const char *value) {
    return read_number(value, 1, 1000000) ? NULL : "a number of seconds, at least 1";
}

/* "24G", "24G,2" */
static const char *check_sim(const char *value) {
    const char *comma = strchr(value, ',');
    VT_SCOPED char *size = vt_strndup(value, strcspn(value, ","));
    bool good = is_size(size) && (!comma || read_number(comma + 1, 1, 64));
    return good ? NULL : "SIZE or SIZE,N: the memory of each simulated GPU, and 1 to 64 of them";
}

/* --- the rows --- */

/* The switches for --uncached. For PyTorch any value counts. */
static const struct {
    const char *variable, *value;
} switches[] = {
    {"PYTORCH_NO_CUDA_MEMORY_CACHING", "1"},        {"XLA_PYTHON_CLIENT_PREALLOCATE", "false"},
    {"XLA_PYTHON_CLIENT_ALLOCATOR", "platform"},    {"TF_GPU_ALLOCATOR", "cuda_malloc"},
    {"NUMBA_CUDA_MAX_PENDING_DEALLOCS_COUNT", "0"},
};
#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static void list_switches(void) {
    for (size_t i = 0; i < COUNT(switches); i++)
        printf("  %-28s%s=%s\n", "", switches[i].variable, switches[i].value);
}

static int parse_variable(const struct vt_given_option *given) {
    return vt_parse_text(given);
}

static int parse_sim(const struct vt_given_option *given) {
    struct vt_run_options *options = given->field;
    options->simulated = true;
    options->sim = given->value;
    return 0;
}

static int parse_number(const struct vt_given_option *given) {
    *(uint32_t *)given->field = (uint32_t)strtoul(given->value, NULL, 10);
    return 0;
}

#define AT(field) .at = offsetof(struct vt_run_options, field)

static const struct vt_option rows[] = {
    {"output", "=PATH",
     "a folder for the logs, or a log's path (with an extension, as x.vtl): %p pid, %h host, %e "
     "program, %r rank, %j job, %q{VAR}",
     parse_variable, AT(output), .letter = 'o', .check = check_output},
    {"quiet", NULL, "print nothing at the end", vt_parse_flag, AT(quiet), .letter = 'q'},
    {"depth", "=N", "keep at most N native frames of a call stack (64)", parse_variable, AT(depth),
     .check = check_depth},
    {"python", "=auto|off", "whether call stacks include Python frames (auto)", parse_variable,
     AT(python), .check = check_switch},
    {"framework", "=auto|off", "whether to record the blocks of caching allocators (auto)",
     parse_variable, AT(framework), .check = check_switch},
    {"ask", "=on|off",
     "ask the driver for each device's name and size once, and for its free memory after refusals "
     "and new peaks (on)",
     parse_variable, AT(ask), .check = check_on_off},
    {"limit", "=SIZE",
     "at most this much device memory per process and GPU; above it the driver returns "
     "out-of-memory (none)",
     parse_variable, AT(limit), .check = check_size},
    {"inject", "=N|N+|each",
     "make the Nth driver allocation, or every one from the Nth on, fail with out-of-memory "
     "(none); each: run the command once for each site that allocates; report crashes, hangs and "
     "leaks",
     parse_variable, AT(inject), .check = check_inject},
    {"alarm", "=SIZE|N%", "print a line each time a GPU's use rises above this (none)",
     parse_variable, AT(alarm), .check = check_alarm},
    {"max-log", "=SIZE|auto|off",
     "the size of a process's log from which on single events are not recorded (auto: a tenth of "
     "what the file system has free, 1G to 16G)",
     parse_variable, AT(max_log), .check = check_max_log},
    {"snapshot", "=end|oom|phase:NAME[,...]|off", "when to take a snapshot of the owners (end,oom)",
     parse_variable, AT(snapshot), .check = check_snapshot},
    {"snapshot-limit", "=TIME,SIZE",
     "what a search for owners may take for each 4 GiB of the process: processor time, memory, or "
     "both (2s,256M)",
     parse_variable, AT(snapshot_limit), .check = check_bounds},
    {"sim", "[=SIZE[,N]]", "run on N simulated GPUs (1) of this size (24G)", parse_sim, .at = 0,
     .check = check_sim},
    {"uncached", NULL,
     "turn off the caching allocators of known frameworks: sets these variables where you have "
     "not set them:",
     vt_parse_flag, AT(uncached), .list = list_switches},
    {"check", NULL,
     "apply the leak gate when the command ends; also accepts the options of vramtrace-check(1)",
     vt_parse_flag, AT(judged)},
    {"max-runs", "=N", "with --inject each: at most this many runs (all)", parse_number,
     AT(max_runs), .check = check_max_runs},
    {"timeout", "=SECONDS",
     "with --inject each: a run that takes longer counts as hung (ten times the first run, at "
     "least 60)",
     parse_number, AT(timeout_s), .check = check_timeout},
    {"help", NULL, "print this text", vt_parse_flag, AT(help), .letter = 'h'},
    {.name = NULL},
};

static const struct vt_options table = {
    .command = "run",
    .usage = "usage: vramtrace run [option ...] [--] command [argument ...]\n"
             "\n"
             "Runs a command and traces the GPU memory of all its processes. Each process\n"
             "that uses CUDA writes a log. Exits with the command's own status.\n"
             "\n",
    .after = "\nAn option overrides its VRAMTRACE_ variable; see vramtrace-run(1).\n",
    .column = 28,
    .no_letter = "    ",
    .stops = true,
    .all = {{.rows = rows},
            {.rows = vt_check_options,
             .at = offsetof(struct vt_run_options, check),
             .hidden = true,
             .without = "print-suppressions", /* not useful in `run` */
             .note = vt_check_note}},
};

void vt_run_options_help(void) {
    vt_options_help(&table);
}

/* --- the command line --- */

bool vt_run_options_each(const struct vt_run_options *options) {
    return options->inject && !strcmp(options->inject, "each");
}

/* Refuses combinations of options that make no sense. */
static int check_together(const struct vt_run_options *o) {
    bool each = vt_run_options_each(o);
    if (o->check.last && !o->judged && !each)
        return vt_usage("run", "--%s: works only with --check", o->check.last);
    if (!each && (o->max_runs || o->timeout_s))
        return vt_usage("run", "--%s: works only with --inject each",
                        o->max_runs ? "max-runs" : "timeout");
    if (each && (o->check.report_count || o->check.write_baseline || o->check.against))
        return vt_usage("run", "--inject each: cannot write reports or a baseline, or compare with "
                               "earlier runs");
    return 0;
}

int vt_run_options_parse(int argc, char **argv, const struct vt_model_builder *builder,
                         struct vt_run_options *options) {
    *options = (struct vt_run_options){0};
    vt_check_start(&options->check, builder);
    int status = vt_options_parse(&table, argc, argv, options);
    options->command = optind;
    return status ? status : check_together(options);
}

void vt_run_options_free(struct vt_run_options *options) {
    vt_check_free(&options->check);
}

/* --- the environment --- */

/* The value of an option for the tracer; NULL: none. */
static const char *value_for_tracer(const struct vt_run_options *options,
                                    const struct vt_option *option) {
    return option->parse == parse_variable
               ? *(const char *const *)((const char *)options + option->at)
               : NULL;
}

/* "snapshot-limit": "VRAMTRACE_SNAPSHOT_LIMIT". Free it. */
static char *variable_of(const struct vt_option *option) {
    char *variable = vt_formatted("VRAMTRACE_%s", option->name);
    for (char *c = variable; *c; c++)
        *c = *c == '-' ? '_' : (char)toupper((unsigned char)*c);
    return variable;
}

int vt_run_options_check_known(const struct vt_run_options *options, const char *tracer) {
    VT_SCOPED_FD fd = vt_file_open(tracer, NULL);
    for (const struct vt_option *row = rows; fd >= 0 && row->name; row++) {
        VT_SCOPED char *variable = variable_of(row);
        if (!value_for_tracer(options, row) ||
            vt_run_elf_contains(fd, variable, strlen(variable) + 1))
            continue;
        vt_error("--%s: this version of the tracer (%s) does not support it", row->name, tracer);
        return VT_STATUS_USAGE;
    }
    return 0;
}

/* A name such as "runs" means a folder for all processes' logs, unless it already exists; a pattern, or a name with
 * an extension, means one log. */
static void set_output(const char *path) {
    struct stat st;
    const char *name = vt_basename(path);
    bool folder =
        *name && !strchr(path, '%') && !strchr(name, '.') && lstat(path, &st) && errno == ENOENT;
    VT_SCOPED char *output = vt_formatted("%s%s", path, folder ? "/" : "");
    setenv("VRAMTRACE_OUTPUT", output, 1);
    setenv("VRAMTRACE_OUTPUT_OPTION", "1",
           1); /* so that an error message names -o, not the variable */
}

void vt_run_options_set(const struct vt_run_options *options) {
    for (const struct vt_option *row = rows; row->name; row++) {
        const char *value = value_for_tracer(options, row);
        if (!value || (value == options->inject && vt_run_options_each(options)))
            continue;
        VT_SCOPED char *variable = variable_of(row);
        setenv(variable, value, 1);
    }
    unsetenv("VRAMTRACE_OUTPUT_OPTION");
    if (options->output)
        set_output(options->output);
    if (options->sim) {
        const char *comma = strchr(options->sim, ',');
        VT_SCOPED char *size = vt_strndup(options->sim, strcspn(options->sim, ","));
        setenv("VRAMTRACE_SIM_MEMORY", size, 1);
        if (comma)
            setenv("VRAMTRACE_SIM_DEVICES", comma + 1, 1);
    }
    for (size_t i = 0; i < COUNT(switches) && options->uncached; i++)
        setenv(switches[i].variable, switches[i].value, 0);
}
