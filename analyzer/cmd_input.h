/* SPDX-License-Identifier: MIT */
/*
 * Options for a command's input and output: the part of the run, the user's code, the output file. Shared by
 * cmd_report.c and cmd_export.c; cmd_merge.c uses some of the fields.
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
    const char *by;     /* a given option for which merged files lack data, or NULL */
    const char *output; /* -o; NULL: stdout */
    bool native;        /* --native */
    bool ranks;         /* several processes are compared: vt_model.job */
    /* with `ranks`: show only processes that have a site whose id begins with this; NULL: any */
    const char *site;
    struct vt_texts user_code;
};

/* Option rows for the part of the run and the user's code (they fill the struct above), and --help. */
extern const struct vt_option vt_input_options[];

/* --device, whose field is an int. */
vt_option_parser vt_input_parse_device;

/* Finds the logs (no argument: the newest run in the current folder) and builds the model. Returns 0, or an exit status
 * after printing an error, for instance that the options exclude everything. Free both after 0. */
int vt_input_build(struct vt_input *input, char *const *arguments, int count, struct vt_logs *logs,
                   struct vt_model *model);

/* Refuses to write binary output to a terminal without `-o FILE` or `-o -`. Returns 0, or an
 * exit status after it printed an error. */
int vt_input_check_output(const struct vt_input *input, const char *format);

/* Opens an output: a file; "-" or NULL: stdout. Returns NULL after printing an error; the exit status is then
 * VT_STATUS_USAGE. */
FILE *vt_output_open(const char *path, struct vt_new_file *file);

/* Closes the output; for stdout `file` is NULL. `error`: the writer's, as -errno. Returns 0, or an exit status after
 * printing an error; a closed pipe is not an error. */
int vt_output_close(const char *path, struct vt_new_file *file, int error);

#endif
