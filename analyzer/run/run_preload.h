/* SPDX-License-Identifier: MIT */
/*
 * The preloads of `vramtrace run`: finds the libraries of the tracer and the simulated GPU, and makes
 * the value of LD_PRELOAD. For cmd_run.c.
 */
#ifndef VRAMTRACE_ANALYZER_RUN_PRELOAD_H
#define VRAMTRACE_ANALYZER_RUN_PRELOAD_H

#include "base/base.h"

struct vt_run_libraries {
    char *tracer;     /* absolute */
    char **sim;       /* the simulated GPU's, absolute, the driver first; NULL: not requested */
    size_t sim_count; /* how many */
    char *sim_folder; /* absolute; NULL: not requested */
};

/* Finds the tracer's library in VRAMTRACE_LIBRARY, or where run_places.h looks; with `simulated`, also
 * the simulated GPU's. Returns 0, or VT_STATUS_CANNOT_TRACE with `message`. Free with
 * vt_run_preload_free in either case. */
int vt_run_preload_find(bool simulated, struct vt_run_libraries *libraries,
                        struct vt_string *message);
void vt_run_preload_free(struct vt_run_libraries *libraries);

/* The value for LD_PRELOAD: the tracer, then the user's own libraries (`user`; NULL: none) except those of
 * vramtrace, then the simulated GPU. In this order the user's interposers are between the program and CUDA. Free it. */
char *vt_run_preload_value(const struct vt_run_libraries *libraries, const char *user);

#endif
