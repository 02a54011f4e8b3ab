/* SPDX-License-Identifier: MIT */
/*
 * Chooses the logs that a command reads: the named files, the newest run in a named folder, or the
 * newest run in the current folder.
 */
#ifndef VRAMTRACE_ANALYZER_FIND_LOGS_H
#define VRAMTRACE_ANALYZER_FIND_LOGS_H

#include "base/base.h"

struct vt_logs {
    char **paths;
    uint32_t count, room;
    uint32_t *runs; /* for "all" in one folder: each log's run, as a number; else NULL */
    char *said;     /* the chosen run, one line; NULL: no choice was made */
};

/* Fills `logs` from the command's arguments (none: the current folder). `run`: NULL for a folder's
 * newest run, "all", or a prefix of a run id, which needs a folder (-EINVAL). Returns 0, or -errno with `message`.
 * Free with vt_logs_free in either case. */
int vt_logs_find(char *const *arguments, int count, const char *run, struct vt_logs *logs,
                 struct vt_string *message);

/* The same for commands that also read merged files: those of a folder are added if `run` is "all" or the folder has
 * no logs. */
int vt_logs_find_merged(char *const *arguments, int count, const char *run, struct vt_logs *logs,
                        struct vt_string *message);

/* Whether the path is a folder of logs, or a pack of such a folder. Returns 0, or -errno with `message`. */
int vt_logs_are_in(const char *path, bool *folder, struct vt_string *message);

/* Whether the file is a merged file (job/merged.h), by its first bytes. */
bool vt_logs_is_merged(const char *path);

/* Adds the other logs of the same runs in the folders of `logs`. */
void vt_logs_complete(struct vt_logs *logs);
void vt_logs_free(struct vt_logs *logs);

#endif
