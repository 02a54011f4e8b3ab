/* SPDX-License-Identifier: MIT */
/*
 * The checked command line of `vramtrace run`, in the form that the steps need. Made by cmd_run.c.
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
    bool quiet;    /* at the end, print only errors */
};

#endif
