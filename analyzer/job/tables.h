/* SPDX-License-Identifier: MIT */
/*
 * The tables of a job, for those who fill it (reduce.c, merged_read.c): each text, line, owner and
 * host is stored once, and rows of processes name it by its index.
 */
#ifndef VRAMTRACE_ANALYZER_TABLES_H
#define VRAMTRACE_ANALYZER_TABLES_H

#include "model/model.h"

/* The job's own copy of a text, as valid UTF-8; NULL stays NULL. Lives as long as the job. */
const char *vt_job_text(struct vt_job *job, const char *text);

/* The index of a line, owner or host like this one, which is added if it is new. Their texts may be
 * anyone's; `key` is made here. What of them is no part of the key is that of the first one in the order of
 * texts, whichever comes first. */
uint32_t vt_job_add_line(struct vt_job *job, struct vt_job_line line);
uint32_t vt_job_add_owner(struct vt_job *job, struct vt_job_owner owner);
uint32_t vt_job_add_host(struct vt_job *job, const char *name, const char *boot);

/* Adds a process, whose texts may be anyone's; false: there is one with its id already, and no rows may
 * follow. Rows that are added next are its. One that knows more of the same process takes its place: its
 * log was read again after it went on. */
bool vt_job_add_process(struct vt_job *job, struct vt_job_process process);

/* Takes back the processes from this index on, the last ones added. */
void vt_job_remove_from(struct vt_job *job, uint32_t first);

/* Removes those whose place another one took, with their rows. For finish.c, before it sorts. */
void vt_job_remove_dropped(struct vt_job *job);

/* Moves the rows to where their processes are now: `places` by where they were, VT_JOB_NONE: gone. Rows of one process
 * stay in their order. */
void vt_job_move_rows(struct vt_job *job, const uint32_t *places);

/* The order of a process's lines: the largest first; `key`s: of their lines. */
int vt_job_compare_cells(const struct vt_job_cell *x, uint64_t x_key, const struct vt_job_cell *y,
                         uint64_t y_key);

/* The kinds of rows. */
enum vt_job_rows {
    VT_DEVICE_ROWS, /* struct vt_job_device, whose levels are the job's from then on */
    VT_CELL_ROWS,
    VT_OWNED_ROWS,
    VT_LEAK_ROWS,
    VT_OOM_ROWS,
    VT_ROW_KINDS
};

/* Adds a row like this one, whose texts may be anyone's, to the process added last. Returns the job's, which is valid
 * until the next is added. */
void *vt_job_add_row(struct vt_job *job, enum vt_job_rows kind, const void *row);

/* A copy, for a device. */
struct vt_levels vt_job_levels(const struct vt_levels *levels);

#endif
