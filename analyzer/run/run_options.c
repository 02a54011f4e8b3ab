/* SPDX-License-Identifier: MIT */
/*
 * The options table of `vramtrace run` (see run_options.h). A row's variable passes the value to
 * the tracer. The tracer can only warn about a bad value, so it is refused here, before anything
 * starts.
 */
#include "run_options.h"

#include "base/base.h"
#include "vramtrace/text.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* A check returns NULL, or for a bad value which values are allowed. */
typedef const char *check(const char *value);

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
    if (!strncmp(value, "--", 2)) /* the value was forgotten, and the next option taken for it */
        return "a path, which begins with ./ if its name begins with --";
    for (const char *s = value; (s = strchr(s, '%')); s++) {
        s++;
        if (*s == 'q' && s[1] == '{' && s[2] != '}' && strchr(s, '}'))
            s = strchr(s, '}');
        else if (!*s || !strchr("pherj%", *s))
            return allowed;
    }
    return NULL;
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
    unsigned moments;
    return vt_text_read_moments(value, &moments) ? VT_TEXT_MOMENTS : NULL;
}

static const char *check_bounds(const char *value) {
    uint64_t ns, bytes;
    return vt_text_read_bounds(value, &ns, &bytes) ? VT_TEXT_BOUNDS : NULL;
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
    char *size = vt_strndup(value, comma ? (size_t)(comma - value) : strlen(value));
    bool good = is_size(size) && (!comma || read_number(comma + 1, 1, 64));
    free(size);
    return good ? NULL : "SIZE or SIZE,N: the memory of each simulated GPU, and 1 to 64 of them";
}

enum { FLAG = no_argument, VALUE = required_argument, MAYBE = optional_argument };

static const struct row {
    const char *name;
    char letter; /* 0: none */
    int takes;
    const char *argument; /* as the help shows it */
    const char *variable; /* the tracer's; NULL: none */
    check *check;
    const char *help;
} table[VT_RUN_OPTIONS] = {
    [VT_RUN_OUTPUT] =
        {"output", 'o', VALUE, "PATH", "VRAMTRACE_OUTPUT", check_output,
         "a folder for the logs, or a log's path (with an extension, as x.vtl): %p pid, "
         "%h host, %e program, %r rank, %j job, %q{VAR}"},
    [VT_RUN_QUIET] = {"quiet", 'q', FLAG, NULL, NULL, NULL, "print nothing at the end"},
    [VT_RUN_DEPTH] = {"depth", 0, VALUE, "N", "VRAMTRACE_DEPTH", check_depth,
                      "keep at most N native frames of a call stack (64)"},
    [VT_RUN_PYTHON] = {"python", 0, VALUE, "auto|off", "VRAMTRACE_PYTHON", check_switch,
                       "whether call stacks include Python frames (auto)"},
    [VT_RUN_FRAMEWORK] = {"framework", 0, VALUE, "auto|off", "VRAMTRACE_FRAMEWORK", check_switch,
                          "whether to record the blocks of caching allocators (auto)"},
    [VT_RUN_ASK] = {"ask", 0, VALUE, "on|off", "VRAMTRACE_ASK", check_on_off,
                    "ask the driver for each device's name and size once, and for its free memory "
                    "after refusals and new peaks (on)"},
    [VT_RUN_LIMIT] = {"limit", 0, VALUE, "SIZE", "VRAMTRACE_LIMIT", check_size,
                      "at most this much device memory per process and GPU; above it the driver "
                      "returns out-of-memory (none)"},
    [VT_RUN_INJECT] = {"inject", 0, VALUE, "N|N+|each", "VRAMTRACE_INJECT", check_inject,
                       "make the Nth driver allocation, or every one from the Nth on, fail with "
                       "out-of-memory (none); each: run the command once for each site that "
                       "allocates; report crashes, hangs and leaks"},
    [VT_RUN_ALARM] = {"alarm", 0, VALUE, "SIZE|N%", "VRAMTRACE_ALARM", check_alarm,
                      "print a line each time a GPU's use rises above this (none)"},
    [VT_RUN_SNAPSHOT] = {"snapshot", 0, VALUE, "end|oom|phase:NAME[,...]|off", "VRAMTRACE_SNAPSHOT",
                         check_snapshot, "when to look for the owners of memory (end,oom)"},
    [VT_RUN_SNAPSHOT_LIMIT] = {"snapshot-limit", 0, VALUE, "TIME,SIZE", "VRAMTRACE_SNAPSHOT_LIMIT",
                               check_bounds,
                               "what a search for owners may take for each 4 GiB of the process: "
                               "processor time, memory, or both (2s,256M)"},
    [VT_RUN_SIM] = {"sim", 0, MAYBE, "SIZE[,N]", NULL, check_sim,
                    "run on N simulated GPUs (1) of this size (24G)"},
    [VT_RUN_UNCACHED] = {"uncached", 0, FLAG, NULL, NULL, NULL,
                         "turn off the caching allocators of known frameworks: sets these "
                         "variables where you have not set them:"},
    [VT_RUN_CHECK] = {"check", 0, FLAG, NULL, NULL, NULL,
                      "apply the leak gate when the command ends; the options of "
                      "vramtrace-check(1) are accepted too"},
    [VT_RUN_MAX_RUNS] = {"max-runs", 0, VALUE, "N", NULL, check_max_runs,
                         "with --inject each: at most this many runs (all)"},
    [VT_RUN_TIMEOUT] = {"timeout", 0, VALUE, "SECONDS", NULL, check_timeout,
                        "with --inject each: a run that takes longer counts as hung (ten times the "
                        "first run, at least 60)"},
    [VT_RUN_HELP] = {"help", 'h', FLAG, NULL, NULL, NULL, "print this text"},
};

/* What --uncached sets. For PyTorch any value counts. */
static const struct {
    const char *variable, *value;
} switches[] = {
    {"PYTORCH_NO_CUDA_MEMORY_CACHING", "1"},        {"XLA_PYTHON_CLIENT_PREALLOCATE", "false"},
    {"XLA_PYTHON_CLIENT_ALLOCATOR", "platform"},    {"TF_GPU_ALLOCATOR", "cuda_malloc"},
    {"NUMBA_CUDA_MAX_PENDING_DEALLOCS_COUNT", "0"},
};

#define COUNT(array) (sizeof(array) / sizeof(array)[0])
#define LONG_BASE    256 /* getopt's values for rows: above all letters */

const char *vt_run_options_variable(enum vt_run_option option) {
    return table[option].variable;
}

const char *vt_run_options_name(enum vt_run_option option) {
    static char names[VT_RUN_OPTIONS][32];
    snprintf(names[option], sizeof names[option], "--%s", table[option].name);
    return names[option];
}

static int check_value(enum vt_run_option option, const char *value) {
    const struct row *row = &table[option];
    const char *allowed = row->check && value ? row->check(value) : NULL;
    if (!allowed)
        return 0;
    return vt_usage("run", "--%s: expected %s, found '%s'", row->name, allowed, value);
}

static int missing(const char *word) {
    if (optopt >= LONG_BASE && optopt < LONG_BASE + VT_RUN_OPTIONS)
        return vt_usage("run", "--%s: expected a value (%s)", table[optopt - LONG_BASE].name,
                        table[optopt - LONG_BASE].argument);
    return vt_usage("run", "%s: expected a value", word);
}

/* Refuses combinations of options that make no sense. */
static int check_together(const struct vt_run_options *o) {
    bool each = vt_run_options_each(o);
    if (o->check.given && !o->given[VT_RUN_CHECK] && !each)
        return vt_usage("run", "--%s: works only with --check", o->check.last);
    if (!each && (o->given[VT_RUN_MAX_RUNS] || o->given[VT_RUN_TIMEOUT]))
        return vt_usage("run", "--%s: works only with --inject each",
                        o->given[VT_RUN_MAX_RUNS] ? "max-runs" : "timeout");
    if (each && (o->check.report_count || o->check.write_baseline))
        return vt_usage("run", "--inject each: cannot write reports or a baseline");
    return 0;
}

static int parse_one(struct vt_run_options *options, int found) {
    if (found >= VT_CHECK_BASE)
        return vt_check_option(&options->check, "run", found, optarg);
    int option = found - LONG_BASE;
    for (int i = 0; i < VT_RUN_OPTIONS && found < LONG_BASE; i++)
        if (table[i].letter == found)
            option = i;
    int status = check_value((enum vt_run_option)option, optarg);
    if (status)
        return status;
    options->given[option] = true;
    options->value[option] = optarg;
    return 0;
}

/* The rows of both tables for getopt_long. Free it. */
static struct option *long_options(void) {
    size_t more = 0, count = 0;
    while (vt_check_options[more].name)
        more++;
    struct option *longs = vt_alloc(VT_RUN_OPTIONS + more + 1, sizeof *longs);
    for (; count < VT_RUN_OPTIONS; count++)
        longs[count] =
            (struct option){table[count].name, table[count].takes, NULL, LONG_BASE + (int)count};
    for (size_t i = 0; i < more; i++)
        if (strcmp(vt_check_options[i].name, "print-suppressions")) /* `run` has no use for it */
            longs[count++] = vt_check_options[i];
    return longs;
}

int vt_run_options_parse(int argc, char **argv, const struct vt_model_builder *builder,
                         struct vt_run_options *options) {
    struct option *longs = long_options();
    char shorts[2 + 3 * VT_RUN_OPTIONS] = "+:"; /* stop at the command; report missing values */
    char *at = shorts + 2;
    int status = 0;
    for (int i = 0; i < VT_RUN_OPTIONS; i++) {
        if (!table[i].letter)
            continue;
        *at++ = table[i].letter;
        if (table[i].takes == VALUE)
            *at++ = ':';
    }
    *options = (struct vt_run_options){0};
    vt_check_start(&options->check, builder);
    optind = 0; /* glibc: restart */
    opterr = 0;
    for (int found; !status && (found = getopt_long(argc, argv, shorts, longs, NULL)) != -1;) {
        if (found == '?')
            status = vt_usage_option("run", argv, longs);
        else if (found == ':')
            status = missing(argv[optind - 1]);
        else
            status = parse_one(options, found);
    }
    free(longs);
    options->command = optind;
    return status ? status : check_together(options);
}

void vt_run_options_free(struct vt_run_options *options) {
    vt_check_free(&options->check);
}

bool vt_run_options_each(const struct vt_run_options *options) {
    const char *value = options->value[VT_RUN_INJECT];
    return value && !strcmp(value, "each");
}

static uint32_t number_of(const struct vt_run_options *options, enum vt_run_option option) {
    return options->given[option] ? (uint32_t)strtoul(options->value[option], NULL, 10) : 0;
}

uint32_t vt_run_options_max_runs(const struct vt_run_options *options) {
    return number_of(options, VT_RUN_MAX_RUNS);
}

uint32_t vt_run_options_timeout(const struct vt_run_options *options) {
    return number_of(options, VT_RUN_TIMEOUT) * 1000;
}

/* Prints an option and its help, wrapped at column 80. A long option has a line of its own. */
static void print_wrapped(const char *left, const char *help) {
    enum { LEFT = 26, COLUMNS = 80 - 2 - LEFT };
    if (strlen(left) >= LEFT) {
        printf("  %s\n", left);
        left = "";
    }
    while (*help) {
        size_t length = strlen(help);
        if (length > COLUMNS)
            for (length = COLUMNS; help[length] != ' ';)
                length--;
        printf("  %-*s%.*s\n", LEFT, left, (int)length, help);
        help += length + (help[length] == ' ');
        left = "";
    }
}

void vt_run_options_help(void) {
    puts("usage: vramtrace run [option ...] [--] command [argument ...]\n"
         "\n"
         "Runs a command and traces the GPU memory of all its processes. Each process\n"
         "that uses CUDA writes a log. Exits with the command's own status.\n");
    for (int i = 0; i < VT_RUN_OPTIONS; i++) {
        const struct row *row = &table[i];
        char left[64], letter[8] = "    ";
        if (row->letter)
            snprintf(letter, sizeof letter, "-%c, ", row->letter);
        snprintf(left, sizeof left, "%s--%s%s%s%s", letter, row->name,
                 row->takes == MAYBE   ? "[="
                 : row->takes == VALUE ? "="
                                       : "",
                 row->argument ? row->argument : "", row->takes == MAYBE ? "]" : "");
        print_wrapped(left, row->help);
        for (size_t j = 0; j < COUNT(switches) && i == VT_RUN_UNCACHED; j++)
            printf("  %-28s%s=%s\n", "", switches[j].variable, switches[j].value);
    }
    puts("\nAn option overrides its VRAMTRACE_ variable; see vramtrace-run(1).");
}

/* "runs" is meant as a folder for all processes' logs, unless there is something else of that name; a
 * pattern, or a name with an extension, as one log. */
static void set_output(const char *path) {
    struct stat st;
    const char *name = vt_basename(path);
    bool folder =
        *name && !strchr(path, '%') && !strchr(name, '.') && lstat(path, &st) && errno == ENOENT;
    char *output = vt_formatted("%s%s", path, folder ? "/" : "");
    setenv(table[VT_RUN_OUTPUT].variable, output, 1);
    setenv("VRAMTRACE_OUTPUT_OPTION", "1", 1); /* who gave -o is told of -o where it fails */
    free(output);
}

void vt_run_options_set(const struct vt_run_options *options) {
    for (int i = 0; i < VT_RUN_OPTIONS; i++)
        if (options->value[i] && table[i].variable &&
            !(i == VT_RUN_INJECT && vt_run_options_each(options)))
            setenv(table[i].variable, options->value[i], 1);
    unsetenv("VRAMTRACE_OUTPUT_OPTION");
    if (options->value[VT_RUN_OUTPUT])
        set_output(options->value[VT_RUN_OUTPUT]);
    const char *sim = options->value[VT_RUN_SIM];
    if (sim) {
        const char *comma = strchr(sim, ',');
        char *size = vt_strndup(sim, comma ? (size_t)(comma - sim) : strlen(sim));
        setenv("VRAMTRACE_SIM_MEMORY", size, 1);
        if (comma)
            setenv("VRAMTRACE_SIM_DEVICES", comma + 1, 1);
        free(size);
    }
    for (size_t i = 0; i < COUNT(switches) && options->given[VT_RUN_UNCACHED]; i++)
        setenv(switches[i].variable, switches[i].value, 0);
}
