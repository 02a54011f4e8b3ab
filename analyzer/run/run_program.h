/* SPDX-License-Identifier: MIT */
/*
 * Finds a command's file, and checks whether the tracer can be preloaded into it. This is checked before anything
 * starts, because the loader drops a preload silently. For cmd_run.c and run_child.c.
 */
#ifndef VRAMTRACE_ANALYZER_RUN_PROGRAM_H
#define VRAMTRACE_ANALYZER_RUN_PROGRAM_H

#include "base/base.h"

/* Finds a command like execvp: a name without a slash in the folders of `search` (the value of
 * PATH; NULL: the system's default). Returns 0 with *path (free it), or an exit status
 * (VT_STATUS_NOT_FOUND, VT_STATUS_NOT_EXECUTABLE) with `message`. */
int vt_run_program_find(const char *command, const char *search, char **path,
                        struct vt_string *message);

/* Checks whether the program at `path` can be traced; with `simulated`, also whether it can run on
 * the simulated GPU. Follows "#!" lines. Returns 0, or an exit status (VT_STATUS_CANNOT_TRACE,
 * VT_STATUS_NOT_EXECUTABLE) with `message`. Also 0 for a file that cannot be read. */
int vt_run_program_inspect(const char *path, bool simulated, struct vt_string *message);

#endif
