/* SPDX-License-Identifier: MIT */
/* Writes what run_copy.h copied of a log to the disk, where that may hang. For run_copies.c. */
#ifndef VRAMTRACE_ANALYZER_RUN_DISK_H
#define VRAMTRACE_ANALYZER_RUN_DISK_H

#include "run_copy.h"

/* Returns 0, or -errno. The first time it makes the log, under a name that no file has, and its folders. After that of an ended
 * process all is on the disk; it is not only with the system. */
int vt_run_disk_write(const struct vt_run_take *take);

#endif
