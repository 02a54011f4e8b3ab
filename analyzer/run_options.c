/* SPDX-License-Identifier: MIT */
/*
 * The options table of `vramtrace run` (see run_options.h). A row with a variable is handed to the
 * tracer through it; what the tracer would only warn about is refused here, before anything starts.
 */
#include "run_options.h"

#include "commands.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

/* Checks read a value; they return what is allowed where it is not, else NULL. */
typedef const char *check(const char *value);

static bool read_number(const char *text, unsigned long long least, unsigned long long most) {
    char *end;
    if (*text < '0' || *text > '9') /* strtoull takes blanks and signs */
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

static bool is_size(const char *value) {
    uint64_t bytes;
    return !vt_parse_size(value, &bytes) && bytes > 0;
}

static const char *check_size(const char *value) {
    return is_size(value) ? NULL : "a size such as 1073741824, 512M or 1.5G";
}

static const char *check_inject(const char *value) {
    static const char allowed[] = "N or N+, with N a number from 1";
    size_t digits = strspn(value, "0123456789");
    char *end;
    errno = 0;
    bool good = digits && strtoull(value, &end, 10) > 0 && !errno;
    return good && (!value[digits] || !strcmp(value + digits, "+")) ? NULL : allowed;
}

static const char *check_alarm(const char *value) {
    size_t length = strlen(value);
    if (length && value[length - 1] == '%') {
        char *end;
        double percent = *value >= '0' && *value <= '9' ? strtod(value, &end) : 0;
        if (percent > 0 && percent <= 100 && end == value + length - 1)
            return NULL;
    } else if (is_size(value)) {
        return NULL;
    }
    return "a size such as 22G, or a percentage up to 100%";
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
    const char *variable; /* the tracer's, NULL: none */
    check *check;
    const char *help;
} table[VT_RUN_OPTIONS] = {
    [VT_RUN_OUTPUT] = {"output", 'o', VALUE, "PATH", "VRAMTRACE_OUTPUT", check_output,
                       "where the logs go: %p pid, %h host, %e program, %r rank, %j job,\n"
                       "%q{VAR}; a folder: a default name in it (vramtrace.%h.%p.vtl)"},
    [VT_RUN_QUIET] = {"quiet", 'q', FLAG, NULL, NULL, NULL, "print no lines at the end"},
    [VT_RUN_DEPTH] = {"depth", 0, VALUE, "N", "VRAMTRACE_DEPTH", check_depth,
                      "the most native frames kept of a call stack (64)"},
    [VT_RUN_PYTHON] = {"python", 0, VALUE, "auto|off", "VRAMTRACE_PYTHON", check_switch,
                       "whether Python's frames are put into call stacks (auto)"},
    [VT_RUN_FRAMEWORK] = {"framework", 0, VALUE, "auto|off", "VRAMTRACE_FRAMEWORK", check_switch,
                          "whether to see inside caching allocators (auto)"},
    [VT_RUN_MAX_LOG] = {"max-log", 0, VALUE, "SIZE", "VRAMTRACE_MAX_LOG", check_size,
                        "bound on the size of a log (none)"},
    [VT_RUN_LIMIT] = {"limit", 0, VALUE, "SIZE", "VRAMTRACE_LIMIT", check_size,
                      "at most this much device memory for each process on each GPU:\n"
                      "past it the driver answers out-of-memory (none)"},
    [VT_RUN_INJECT] = {"inject", 0, VALUE, "N|N+", "VRAMTRACE_INJECT", check_inject,
                       "make the Nth driver allocation, or every one from it on, answer\n"
                       "out-of-memory (none)"},
    [VT_RUN_ALARM] = {"alarm", 0, VALUE, "SIZE|N%", "VRAMTRACE_ALARM", check_alarm,
                      "a line each time the use of a GPU rises above this (none)"},
    [VT_RUN_SIM] = {"sim", 0, MAYBE, "SIZE[,N]", NULL, check_sim,
                    "run on the simulated GPU: N of them (1), each of that size (24G)"},
    [VT_RUN_UNCACHED] = {"uncached", 0, FLAG, NULL, NULL, NULL,
                         "turn off the caching allocators of known frameworks by their own\n"
                         "switches, where they are not set already:"},
    [VT_RUN_HELP] = {"help", 'h', FLAG, NULL, NULL, NULL, "this text"},
};

/* What --uncached sets. PyTorch looks at the variable's presence only. */
static const struct {
    const char *variable, *value;
} switches[] = {
    {"PYTORCH_NO_CUDA_MEMORY_CACHING", "1"},        {"XLA_PYTHON_CLIENT_PREALLOCATE", "false"},
    {"XLA_PYTHON_CLIENT_ALLOCATOR", "platform"},    {"TF_GPU_ALLOCATOR", "cuda_malloc"},
    {"NUMBA_CUDA_MAX_PENDING_DEALLOCS_COUNT", "0"},
};

/* Options of the contract that this version does not have: said so, rather than "unknown". */
static const char *const later[] = {"check", "report"};

#define COUNT(array) (sizeof(array) / sizeof(array)[0])
#define LONG_BASE    256 /* getopt's value of a row: above every letter */

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
    if (option == VT_RUN_INJECT && !strcmp(value, "each"))
        return vt_usage("run", "--inject each: this version has only N and N+");
    const char *allowed = row->check && value ? row->check(value) : NULL;
    if (!allowed)
        return 0;
    return vt_usage("run", "--%s: expected %s, found '%s'", row->name, allowed, value);
}

/* What getopt did not know. */
static int refuse(char **argv, int seen) {
    if (optopt && optopt < LONG_BASE && optopt != seen)
        return vt_usage("run", "unknown option '-%c'", optopt);
    const char *word = argv[optind - 1];
    size_t length = strcspn(word, "=");
    for (size_t i = 0; i < COUNT(later); i++)
        if (length == strlen(later[i]) + 2 && !strncmp(word + 2, later[i], length - 2))
            return vt_usage("run", "--%s: this version does not have it", later[i]);
    return vt_usage("run", "unknown option '%s'", word);
}

static int missing(const char *word) {
    if (optopt >= LONG_BASE)
        return vt_usage("run", "--%s: expected a value (%s)", table[optopt - LONG_BASE].name,
                        table[optopt - LONG_BASE].argument);
    return vt_usage("run", "%s: expected a value", word);
}

int vt_run_options_parse(int argc, char **argv, struct vt_run_options *options) {
    struct option longs[VT_RUN_OPTIONS + 1] = {0};
    char shorts[2 + 3 * VT_RUN_OPTIONS] = "+:"; /* stop at the command; tell what is missing */
    char *at = shorts + 2;
    for (int i = 0; i < VT_RUN_OPTIONS; i++) {
        longs[i] = (struct option){table[i].name, table[i].takes, NULL, LONG_BASE + i};
        if (!table[i].letter)
            continue;
        *at++ = table[i].letter;
        if (table[i].takes == VALUE)
            *at++ = ':';
    }
    *options = (struct vt_run_options){0};
    optind = 0; /* glibc: start anew */
    opterr = 0;
    for (int found; (found = getopt_long(argc, argv, shorts, longs, NULL)) != -1;) {
        if (found == '?' && optopt >= LONG_BASE)
            return vt_usage("run", "--%s: takes no value, found '%s'",
                            table[optopt - LONG_BASE].name, argv[optind - 1]);
        if (found == '?')
            return refuse(argv, found);
        if (found == ':')
            return missing(argv[optind - 1]);
        int option = found - LONG_BASE;
        for (int i = 0; i < VT_RUN_OPTIONS && found < LONG_BASE; i++)
            if (table[i].letter == found)
                option = i;
        int status = check_value((enum vt_run_option)option, optarg);
        if (status)
            return status;
        options->given[option] = true;
        options->value[option] = optarg;
    }
    options->command = optind;
    return 0;
}

void vt_run_options_help(void) {
    puts("usage: vramtrace run [option ...] [--] command [argument ...]\n"
         "\n"
         "Runs a command with the GPU memory of all its processes traced into logs, one for each\n"
         "process that uses CUDA. Exits with the command's status; see vramtrace-run(1).\n");
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
        for (const char *line = row->help; line; line = strchr(line, '\n')) {
            line += *line == '\n';
            printf("  %-26s%.*s\n", left, (int)strcspn(line, "\n"), line);
            left[0] = 0;
        }
        for (size_t j = 0; j < COUNT(switches) && i == VT_RUN_UNCACHED; j++)
            printf("  %-28s%s=%s\n", "", switches[j].variable, switches[j].value);
    }
    puts("\nAn option wins over the VRAMTRACE_ variable that it stands for (see libvramtrace(7)).");
}

void vt_run_options_set(const struct vt_run_options *options) {
    for (int i = 0; i < VT_RUN_OPTIONS; i++)
        if (options->value[i] && table[i].variable)
            setenv(table[i].variable, options->value[i], 1);
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
