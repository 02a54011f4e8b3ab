/* SPDX-License-Identifier: MIT */
/*
 * Between the files of log/: log.c (the file and its chunks), log_name.c (its name), log_header.c
 * (what the header says of the process), log_environment.c.
 */
#ifndef VT_PRELOAD_LOG_FILE_H
#define VT_PRELOAD_LOG_FILE_H

#include "log.h"

#define VT_PATH_MAX 4096u

/* One moment on two clocks. */
struct vt_clock_pair {
    uint64_t ticks, monotonic_ns;
};

/* Opens a new file for this process and leaves its name in `path`. A file descriptor, or negative
 * errno. */
int vt_log_name_open(char *path, size_t size);
/* Rank and job as the launcher's variables say, NULL: none. The environment's memory. */
const char *vt_log_name_rank(void);
const char *vt_log_name_job(void);

/* Writes the variables of the environment that decide how GPU memory is taken, as the thread's next
 * records. */
void vt_log_environment_write(struct vt_thread *t);

/* Fills in all that does not change later. */
void vt_log_header_fill(struct vt_log_header *h, const struct vt_clock_pair *start, uint32_t clock);

#endif
