/* SPDX-License-Identifier: MIT */
/*
 * The options of `vramtrace run`: one table to parse, check and explain them, and to set the
 * tracer's environment. For cmd_run.c.
 */
#ifndef VRAMTRACE_ANALYZER_RUN_OPTIONS_H
#define VRAMTRACE_ANALYZER_RUN_OPTIONS_H

#include "gate/gate.h"

enum vt_run_option {
    VT_RUN_OUTPUT,
    VT_RUN_QUIET,
    VT_RUN_DEPTH,
    VT_RUN_PYTHON,
    VT_RUN_FRAMEWORK,
    VT_RUN_ASK,
    VT_RUN_LIMIT,
    VT_RUN_INJECT,
    VT_RUN_ALARM,
    VT_RUN_SNAPSHOT,
    VT_RUN_SNAPSHOT_LIMIT,
    VT_RUN_SIM,
    VT_RUN_UNCACHED,
    VT_RUN_CHECK,
    VT_RUN_MAX_RUNS,
    VT_RUN_TIMEOUT,
    VT_RUN_HELP,
    VT_RUN_OPTIONS
};

struct vt_run_options {
    bool given[VT_RUN_OPTIONS];
    const char *value[VT_RUN_OPTIONS]; /* points into argv; NULL: no value */
    struct vt_check check;             /* the leak gate's options */
    int command;                       /* index in argv of the command; argc: none */
};

/* Parses and checks the options, up to "--" or the first word that is no option. Returns 0, or an
 * exit status after it printed an error. Free with vt_run_options_free in either case. */
int vt_run_options_parse(int argc, char **argv, const struct vt_model_builder *builder,
                         struct vt_run_options *options);

void vt_run_options_free(struct vt_run_options *options);

/* Whether --inject each was given. */
bool vt_run_options_each(const struct vt_run_options *options);

/* --max-runs, and --timeout in milliseconds; 0: not given. */
uint32_t vt_run_options_max_runs(const struct vt_run_options *options);
uint32_t vt_run_options_timeout(const struct vt_run_options *options);

/* Prints the help text to stdout. */
void vt_run_options_help(void);

/* The tracer's variable that an option sets; NULL: none. A constant. */
const char *vt_run_options_variable(enum vt_run_option option);

/* "--name". A constant. */
const char *vt_run_options_name(enum vt_run_option option);

/* Sets variables in this process's environment: those of the given options, of the simulated GPU,
 * and with --uncached the frameworks' switches that the user has not set. */
void vt_run_options_set(const struct vt_run_options *options);

#endif
