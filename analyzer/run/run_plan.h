/* SPDX-License-Identifier: MIT */
/*
 * The command line of `vramtrace run` after it was checked: what its steps need. cmd_run.c makes it.
 */
#ifndef VRAMTRACE_ANALYZER_RUN_PLAN_H
#define VRAMTRACE_ANALYZER_RUN_PLAN_H

#include "run_options.h"
#include "run_preload.h"

struct vt_run_plan {
    struct vt_run_options options;
    struct vt_run_libraries libraries;
    char *program; /* path of the command */
    char **argv;   /* the command's */
    bool quiet;    /* print nothing at the end but errors */
};

#endif
