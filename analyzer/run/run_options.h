/* SPDX-License-Identifier: MIT */
/*
 * The options of `vramtrace run`: one table, from which they are parsed, checked, put into the
 * environment and explained. For cmd_run.c.
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
    const char *value[VT_RUN_OPTIONS]; /* into argv; NULL: without a value */
    struct vt_check check;             /* the leak gate's options */
    int command;                       /* index in argv of the command's first word; argc: none */
};

/* Parses and checks; options end at the first word that is none, or at "--". 0, or the exit status
 * after an error was said. Free it with vt_run_options_free in either case. */
int vt_run_options_parse(int argc, char **argv, const struct vt_model_builder *builder,
                         struct vt_run_options *options);

void vt_run_options_free(struct vt_run_options *options);

/* Whether it is --inject each. */
bool vt_run_options_each(const struct vt_run_options *options);

/* The number of --max-runs, the milliseconds of --timeout; 0: not given. */
uint32_t vt_run_options_max_runs(const struct vt_run_options *options);
uint32_t vt_run_options_timeout(const struct vt_run_options *options);

/* The help text, to stdout. */
void vt_run_options_help(void);

/* The tracer's variable that an option sets, NULL: none. */
const char *vt_run_options_variable(enum vt_run_option option);

/* "--name" */
const char *vt_run_options_name(enum vt_run_option option);

/* Sets the variables in this process's environment: those of the options given, the simulated
 * GPU's, and the frameworks' own switches of --uncached that the user has not set. */
void vt_run_options_set(const struct vt_run_options *options);

#endif
