/* SPDX-License-Identifier: MIT */
/*
 * Brings the logs of a run from memory to the disk: once a second what changed, and the rest when their processes have ended. What
 * touches the disk is one thread, so that nobody else hangs where the disk does. For run_compact.c.
 *
 * The list of logs gets lines about it, where N is the place of a log in the list, from 0:
 *     =N NAME     the log's name on the disk
 *     +N          all of it is there, and no longer in memory
 *     -N ERRNO    it could not be written: it stays in memory
 *     #done       after VT_RUN_OVER: there is nothing to wait for. What still runs is on the disk as it is now.
 */
#ifndef VRAMTRACE_ANALYZER_RUN_COPIES_H
#define VRAMTRACE_ANALYZER_RUN_COPIES_H

#include "base/base.h"

#define VT_RUN_DONE "#done"

struct vt_run_copies;

/* `folder`: in memory, with the logs. Made before the process is there that calls the others. */
struct vt_run_copies *vt_run_copies_make(const char *folder, const char *list);

/* The next log of the list. Returns false if it is elsewhere: nobody writes it out. */
bool vt_run_copies_add(struct vt_run_copies *copies, const char *log);

/* The run is over, or was killed. */
void vt_run_copies_over(struct vt_run_copies *copies);

/* What is due. Returns when to call it again (ns); ends this process when the run is over and its logs are written. No log may
 * be compacted meanwhile. */
uint64_t vt_run_copies_work(struct vt_run_copies *copies, uint64_t now);

#endif
