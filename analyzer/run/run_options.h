/* SPDX-License-Identifier: MIT */
/*
 * The options of `vramtrace run`: one table serves to parse, check and explain them, and to set the tracer's
 * environment. For cmd_run.c.
 */
#ifndef VRAMTRACE_ANALYZER_RUN_OPTIONS_H
#define VRAMTRACE_ANALYZER_RUN_OPTIONS_H

#include "gate/gate.h"

struct vt_run_options {
    /* the values of the tracer's variables; NULL: not given */
    const char *output, *depth, *python, *framework, *ask, *limit, *inject, *alarm, *snapshot,
        *snapshot_limit, *max_log;
    const char *sim; /* "24G,2"; NULL: no size given */
    bool simulated, quiet, uncached, judged, help;
    uint32_t max_runs, timeout_s; /* 0: not given */
    struct vt_check check;        /* the leak gate's options */
    int command;                  /* index in argv of the command; argc: none */
};

/* Parses and checks the options, up to "--" or the first word that is no option. Returns 0, or an exit status after
 * printing an error. Free with vt_run_options_free in either case. */
int vt_run_options_parse(int argc, char **argv, const struct vt_model_builder *builder,
                         struct vt_run_options *options);

void vt_run_options_free(struct vt_run_options *options);

/* Whether --inject each was given. */
bool vt_run_options_each(const struct vt_run_options *options);

/* Prints the help text to stdout. */
void vt_run_options_help(void);

/* Checks whether the tracer knows all given options: it may be older than this program, and would silently ignore an
 * unknown one. Returns 0, or an exit status after printing an error. */
int vt_run_options_check_known(const struct vt_run_options *options, const char *tracer);

/* Sets variables in this process's environment: for the given options, for the simulated GPU, and with --uncached
 * the frameworks' switches that the user has not set. */
void vt_run_options_set(const struct vt_run_options *options);

#endif
