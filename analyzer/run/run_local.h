/* SPDX-License-Identifier: MIT */
/*
 * Logs whose folder is on a remote file system: while the command runs they are in the folder of the run's lists, so that no
 * process waits for a server, in a folder of each user's own; the library makes it. At the end they are copied to the place that
 * the command line named, with that user's rights. For cmd_run.c.
 */
#ifndef VRAMTRACE_ANALYZER_RUN_LOCAL_H
#define VRAMTRACE_ANALYZER_RUN_LOCAL_H

#include "run_logs.h"

struct vt_run_local {
    char *folder; /* of the run; NULL: the logs are written where they belong */
    char *remote; /* how their names begin there: a folder, with a slash */
};

/* Looks where VRAMTRACE_OUTPUT leads. Onto a remote file system: sets VRAMTRACE_OUTPUT to an absolute name and
 * VRAMTRACE_RUN_REMOTE to its beginning, and writes a note into the folder of the list, which says so if `run` is killed. */
void vt_run_local_start(struct vt_run_local *local, const char *list);

/* After the command has ended: waits until its logs are copied; `logs` get their names there. Says which are not, where they
 * are, and why. A signal that ends a program ends the waiting; the copying goes on. */
void vt_run_local_finish(const struct vt_run_local *local, const char *list,
                         struct vt_run_logs *logs);

void vt_run_local_free(struct vt_run_local *local);

#endif
