/* SPDX-License-Identifier: MIT */
/*
 * Which logs a command is about: files as named, a folder's newest run, the newest run here.
 */
#ifndef VRAMTRACE_ANALYZER_FIND_LOGS_H
#define VRAMTRACE_ANALYZER_FIND_LOGS_H

#include "base/base.h"

struct vt_logs {
    char **paths;
    uint32_t count, room;
    char *said; /* how they were chosen, one line; NULL: they were named */
};

/* Fills `logs` from the command's arguments (none: the current folder). `run`: NULL for the newest
 * run of a folder, "all", or the beginning of a run's id. 0, or -errno with `message`. Free with
 * vt_logs_free in either case. */
int vt_logs_find(char *const *arguments, int count, const char *run, struct vt_logs *logs,
                 struct vt_string *message);
void vt_logs_free(struct vt_logs *logs);

#endif
