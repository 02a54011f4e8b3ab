/* SPDX-License-Identifier: MIT */
/*
 * What `vramtrace run` preloads: where the tracer's library and the simulated GPU's are, and
 * LD_PRELOAD with them in it. For cmd_run.c.
 */
#ifndef VRAMTRACE_ANALYZER_RUN_PRELOAD_H
#define VRAMTRACE_ANALYZER_RUN_PRELOAD_H

#include "base/base.h"

#define VT_RUN_SIM_LIBRARIES 3

struct vt_run_libraries {
    char *tracer;                    /* absolute */
    char *sim[VT_RUN_SIM_LIBRARIES]; /* absolute, NULL where not asked for */
    char *sim_folder;                /* likewise */
};

/* Finds the libraries: the tracer's in VRAMTRACE_LIBRARY, beside this program or in ../lib; the
 * simulated GPU's (with `simulated`) in sim/ beside this program or the tracer's, or in
 * ../lib/vramtrace/sim. 0, or VT_STATUS_CANNOT_TRACE and why in `message`. Free with
 * vt_run_preload_free in any case. */
int vt_run_preload_find(bool simulated, struct vt_run_libraries *libraries,
                        struct vt_string *message);
void vt_run_preload_free(struct vt_run_libraries *libraries);

/* LD_PRELOAD's value: the tracer, what the user preloads (`user`, NULL: nothing; those that are
 * ours already are left out), the simulated GPU. In that order the user's own interposers stand
 * between the program and CUDA, as they do without us. Free it. */
char *vt_run_preload_value(const struct vt_run_libraries *libraries, const char *user);

#endif
