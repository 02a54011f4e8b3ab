/* SPDX-License-Identifier: MIT */
/*
 * The tables of a job, for reduce.c and merged_read.c, which fill them: each text, line, owner and host is stored
 * once, and rows refer to it by index.
 */
#ifndef VRAMTRACE_ANALYZER_TABLES_H
#define VRAMTRACE_ANALYZER_TABLES_H

#include "model/model.h"

/* The job's own copy of a text, as valid UTF-8; NULL stays NULL. Lives as long as the job. */
const char *vt_job_text(struct vt_job *job, const char *text);

/* The index of this line, owner or host; adds it if new. The caller keeps its texts; `key` is computed here. Members
 * outside the key come from the variant that is first in text order, in whatever order variants arrive. */
uint32_t vt_job_add_line(struct vt_job *job, struct vt_job_line line);
uint32_t vt_job_add_owner(struct vt_job *job, struct vt_job_owner owner);
uint32_t vt_job_add_host(struct vt_job *job, const char *name, const char *boot);

/* Adds a process; the caller keeps its texts. False: the job has a process with this id, and no rows may follow.
 * Else rows added next belong to the new process. A process with more data (its log was read again later) replaces
 * the older one. */
bool vt_job_add_process(struct vt_job *job, struct vt_job_process process);

/* Removes the processes from this index on, the last ones added. */
void vt_job_remove_from(struct vt_job *job, uint32_t first);

/* Removes replaced processes with their rows. For finish.c, before it sorts. */
void vt_job_remove_dropped(struct vt_job *job);

/* Moves rows to their processes' new indices, given by old index in `places`; VT_JOB_NONE: removed. Rows of one
 * process keep their order. */
void vt_job_move_rows(struct vt_job *job, const uint32_t *places);

/* The order of a process's lines, the largest first. `x_key`, `y_key`: the lines' keys. */
int vt_job_compare_cells(const struct vt_job_cell *x, uint64_t x_key, const struct vt_job_cell *y,
                         uint64_t y_key);

/* The kinds of rows. */
enum vt_job_rows {
    VT_DEVICE_ROWS, /* struct vt_job_device; the job takes over its levels */
    VT_CELL_ROWS,
    VT_OWNED_ROWS,
    VT_LEAK_ROWS,
    VT_OOM_ROWS,
    VT_ROW_KINDS
};

/* Adds a copy of this row to the process added last; the caller keeps its texts. Returns the job's row, valid until
 * the next row is added. */
void *vt_job_add_row(struct vt_job *job, enum vt_job_rows kind, const void *row);

/* A copy of levels, for a device. */
struct vt_levels vt_job_levels(const struct vt_levels *levels);

#endif
