/* SPDX-License-Identifier: MIT */
/*
 * Logs whose folder is on a remote file system: while the command runs they are files in memory, so that it never waits for a
 * server, and a process beside it brings them to their folder (run_copies.h). For cmd_run.c.
 */
#ifndef VRAMTRACE_ANALYZER_RUN_MEMORY_H
#define VRAMTRACE_ANALYZER_RUN_MEMORY_H

#include "run_beside.h"
#include "run_logs.h"

struct vt_run_memory {
    char *folder; /* NULL: the logs are written where they belong */
};

/* Looks where VRAMTRACE_OUTPUT leads. Onto a remote file system, and there is memory: makes a folder in memory, and sets
 * VRAMTRACE_OUTPUT, VRAMTRACE_MAX_LOG and VRAMTRACE_RUN_MEMORY (the folder). */
void vt_run_memory_start(struct vt_run_memory *memory);
bool vt_run_memory_is_remote(const char *path);

/* After the command has ended: waits until its logs are on the disk. `logs` get their names there. The first time, a signal
 * that ends a program ends the waiting. */
void vt_run_memory_finish(const struct vt_run_memory *memory, const struct vt_run_beside *beside,
                          const char *list, struct vt_run_logs *logs);

void vt_run_memory_free(struct vt_run_memory *memory);

#endif
