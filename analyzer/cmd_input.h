/* SPDX-License-Identifier: MIT */
/*
 * Options that say what a command reads and where it writes: the part of the run, the user's code,
 * the output file. cmd_report.c and cmd_export.c have them in common; cmd_merge.c has some of the fields.
 */
#ifndef VRAMTRACE_ANALYZER_CMD_INPUT_H
#define VRAMTRACE_ANALYZER_CMD_INPUT_H

#include "base/base.h"
#include "logfile/logfile.h"
#include "model/model.h"

/* Start it as {.model = {.device = -1}}; free user_code.items. */
struct vt_input {
    struct vt_model_options model;
    const char *run;    /* --run */
    const char *by;     /* the option that asks for what merged files do not have; NULL */
    const char *output; /* -o; NULL: stdout */
    bool native;        /* --native */
    bool ranks;         /* several processes are compared: vt_model.job */
    /* with `ranks`: only processes that have a site whose id begins with this; NULL */
    const char *site;
    struct vt_texts user_code;
};

/* The rows of the part and of the user's code, for the struct above, and --help. */
extern const struct vt_option vt_input_options[];

/* --device, of which the field is an int. */
vt_take vt_input_take_device;

/* Finds the logs (no argument: the newest run here) and builds the model. Returns 0, or an exit
 * status after it printed an error, also where the options leave nothing of the logs. Free both
 * after 0. */
int vt_input_build(struct vt_input *input, char *const *arguments, int count, struct vt_logs *logs,
                   struct vt_model *model);

/* What is no text is not written to a terminal by mistake: it takes a file, or `-o -`. Returns 0, or an
 * exit status after it printed an error. */
int vt_input_check_output(const struct vt_input *input, const char *format);

/* Opens an output: a file; "-" or NULL: stdout. NULL: it printed an error; the status is VT_STATUS_USAGE. */
FILE *vt_output_open(const char *path, struct vt_new_file *file);

/* Closes it; of stdout `file` is NULL. `error`: of what wrote to it, as -errno. Returns an exit status after it printed
 * an error; that nobody reads a pipe any more is none. */
int vt_output_close(const char *path, struct vt_new_file *file, int error);

#endif
