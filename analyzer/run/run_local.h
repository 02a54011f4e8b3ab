/* SPDX-License-Identifier: MIT */
/*
 * Logs whose folder is on a remote file system. So that no process waits for a server, they are kept in the folder of the run's
 * lists while the command runs, in a folder for each user, which the library makes. At the end they are copied to the folder
 * that the command line named, with that user's rights. For cmd_run.c.
 */
#ifndef VRAMTRACE_ANALYZER_RUN_LOCAL_H
#define VRAMTRACE_ANALYZER_RUN_LOCAL_H

#include "run_logs.h"

struct vt_run_local {
    char *folder; /* of the run; NULL: the logs are written directly to their place */
    char *remote; /* the beginning of their names there: a folder, with a slash */
};

/* Checks the folder of VRAMTRACE_OUTPUT. If it is on a remote file system, sets VRAMTRACE_OUTPUT to an absolute name and
 * VRAMTRACE_RUN_REMOTE to its beginning, and writes a note into the folder of the list, in case `run` is killed. */
void vt_run_local_start(struct vt_run_local *local, const char *list);

/* After the command has ended: waits until its logs are copied; `logs` get their names there. Reports those that could not
 * be copied. A terminating signal ends the wait; the copying continues. */
void vt_run_local_finish(const struct vt_run_local *local, const char *list,
                         struct vt_run_logs *logs);

void vt_run_local_free(struct vt_run_local *local);

#endif
