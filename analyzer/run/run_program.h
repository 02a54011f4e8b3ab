/* SPDX-License-Identifier: MIT */
/*
 * Which file a command is, and whether the tracer can be preloaded into it. Looked at before
 * anything starts, because the loader drops a preload without a word. For cmd_run.c, run_child.c.
 */
#ifndef VRAMTRACE_ANALYZER_RUN_PROGRAM_H
#define VRAMTRACE_ANALYZER_RUN_PROGRAM_H

#include "base/base.h"

/* Finds a command as execvp does: a name with a slash as it stands, another one in the folders of
 * `search` (PATH's value; NULL: the system's default). 0 and *path (free it), or an exit status
 * (VT_STATUS_NOT_FOUND, VT_STATUS_NOT_EXECUTABLE) and why in `message`. */
int vt_run_program_find(const char *command, const char *search, char **path,
                        struct vt_string *message);

/* Whether the program at `path` can be traced; with `simulated`, also whether the simulated GPU can
 * carry it. "#!" lines are followed. 0, or an exit status (VT_STATUS_CANNOT_TRACE,
 * VT_STATUS_NOT_EXECUTABLE) and why in `message`. A file that cannot be read is not judged: 0. */
int vt_run_program_inspect(const char *path, bool simulated, struct vt_string *message);

#endif
