/* SPDX-License-Identifier: MIT */
/*
 * A merged file: a job as one small file that other tools can read. It is gzip'd JSON, one row per line (.jsonl.gz);
 * DuckDB, pandas and Spark read it as one table. vramtrace-merge(1) describes it for users; merged_columns.def lists
 * the columns.
 *
 * Rows are flat, and each names its process and host, so no joins are needed. The first row, `schema`, has every column
 * with an empty value of its type: so tools that infer types from the first rows know all columns.
 *
 * The same logs give the same bytes, in any order, whether merged at once or in groups whose files are then merged.
 * Rows of one line are adjacent and ordered by process: they are similar, so gzip compresses them well.
 *
 * merged.c writes it, merged_read.c reads it; cmd_merge.c and the builder call them.
 */
#ifndef VRAMTRACE_ANALYZER_MERGED_H
#define VRAMTRACE_ANALYZER_MERGED_H

#include "model/job_data.h"

/* Writes a finished job. Returns 0 or -errno; the caller checks ferror(out). */
int vt_merged_write(const struct vt_job *job, FILE *out);

/* Adds the processes of a merged file; call vt_job_finish afterwards. Returns 0; or -errno with a `message` (file,
 * row, expected, found), and then nothing was added. */
int vt_merged_read(const char *path, struct vt_job *job, struct vt_string *message);

#endif
