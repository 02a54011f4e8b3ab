/* SPDX-License-Identifier: MIT */
/*
 * Options that say what a command reads and where it writes: the part of the run, the user's code,
 * the output file. cmd_report.c and cmd_export.c have them in common; cmd_merge.c has some of them.
 */
#ifndef VRAMTRACE_ANALYZER_CMD_INPUT_H
#define VRAMTRACE_ANALYZER_CMD_INPUT_H

#include "cmd_options.h"
#include "log/log.h"
#include "model/model.h"

/* Start it as {.model = {.device = -1}}; free user_code.items. */
struct vt_input {
    const char *command; /* "report": its messages name it */
    struct vt_model_options model;
    const char *run;    /* --run */
    const char *by;     /* the option that asks for what merged files do not have; NULL */
    const char *output; /* -o; NULL: stdout */
    bool native;        /* --native */
    bool ranks;         /* several processes are compared: vt_model.fleet */
    /* with `ranks`: only processes that have a site whose id begins like this; NULL */
    const char *site;
    struct vt_texts user_code;
};

enum {
    VT_INPUT_OWN = 512,
    VT_INPUT_NATIVE,
    VT_INPUT_DEVICE,
    VT_INPUT_SINCE,
    VT_INPUT_UNTIL,
    VT_INPUT_PHASE,
    VT_INPUT_RUN,
    VT_INPUT_CLASSES
};

/* Rows of getopt's table: of all that read logs and write a file; of those that show their events, too. */
#define VT_INPUT_FILES                                                                             \
    {"output", required_argument, NULL, 'o'}, {"own", required_argument, NULL, VT_INPUT_OWN},      \
        {"run", required_argument, NULL, VT_INPUT_RUN}, {                                          \
        "classes", required_argument, NULL, VT_INPUT_CLASSES                                       \
    }
#define VT_INPUT_OPTIONS                                                                           \
    VT_INPUT_FILES, {"native", no_argument, NULL, VT_INPUT_NATIVE},                                \
        {"device", required_argument, NULL, VT_INPUT_DEVICE},                                      \
        {"since", required_argument, NULL, VT_INPUT_SINCE},                                        \
        {"until", required_argument, NULL, VT_INPUT_UNTIL}, {                                      \
        "phase", required_argument, NULL, VT_INPUT_PHASE                                           \
    }

/* Their lines of --help. */
#define VT_INPUT_HELP                                                                              \
    "  --native          also show frames inside the Python interpreter\n"                         \
    "  --own PATTERN     your own code: frames whose function, file or module match;\n"            \
    "                    '*' matches anything; may be repeated\n"                                  \
    "  --device N        show only this GPU\n"                                                     \
    "  --since, --until TIME\n"                                                                    \
    "                    show only this part of the run: 90s, 250ms, 2m, 1h, 80%, or\n"            \
    "                    a phase that the program named: epoch#3\n"                                \
    "  --phase NAME      show only this phase; NAME#3: the third of that name\n"                   \
    "  --classes FILE    more caches and CUDA libraries, as lines of\n"                            \
    "                    CLASS WHAT PATTERN [NAME] (see vramtrace-report(1))\n"                    \
    "  --run ID          in a folder: the run whose id begins like this, or all\n"

/* Takes one of these options, whose value is optarg. Returns 0, or an exit status after it printed
 * an error. */
int vt_input_option(struct vt_input *input, int option);

/* Finds the logs (no argument: the newest run here) and builds the model. Returns 0, or an exit
 * status after it printed an error, also where the options leave nothing of the logs. Free both
 * after 0. */
int vt_input_build(struct vt_input *input, char *const *arguments, int count, struct vt_logs *logs,
                   struct vt_model *model);

/* What is no text is not written to a terminal by mistake: it takes a file, or `-o -`. Returns 0, or an
 * exit status after it printed an error. */
int vt_input_check_output(const struct vt_input *input, const char *format);

/* Opens the output. NULL: it printed an error; the status is VT_STATUS_USAGE. */
FILE *vt_input_open(const struct vt_input *input);

/* Closes it. `error`: of what wrote to it, as -errno. Returns an exit status after it printed an
 * error; that nobody reads a pipe any more is none. */
int vt_input_close(const struct vt_input *input, FILE *out, int error);

#endif
