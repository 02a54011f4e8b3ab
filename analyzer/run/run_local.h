/* SPDX-License-Identifier: MIT */
/*
 * Logs whose folder is on a remote file system. While the command runs, they are kept in the folder of the run's lists,
 * in a subfolder for each user, made by the library. So no process waits for a server. At the end they are copied to
 * the folder given on the command line, with that user's rights. For cmd_run.c.
 */
#ifndef VRAMTRACE_ANALYZER_RUN_LOCAL_H
#define VRAMTRACE_ANALYZER_RUN_LOCAL_H

#include "run_logs.h"

struct vt_run_local {
    char *folder; /* of the run; NULL: logs are written directly to the folder given */
    char *remote; /* the beginning of their remote names: a folder, with a slash */
};

/* Checks the folder of VRAMTRACE_OUTPUT. If it is on a remote file system, makes VRAMTRACE_OUTPUT absolute, sets
 * VRAMTRACE_RUN_REMOTE to its beginning, and writes a note into the list's folder, in case `run` is killed. */
void vt_run_local_start(struct vt_run_local *local, const char *list);

/* After the command has ended: waits until its logs are copied; `logs` gets their remote names. Reports logs that
 * could not be copied. A terminating signal ends the wait; the copying continues. */
void vt_run_local_finish(const struct vt_run_local *local, const char *list,
                         struct vt_run_logs *logs);

void vt_run_local_free(struct vt_run_local *local);

#endif
