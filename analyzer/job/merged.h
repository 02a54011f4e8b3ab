/* SPDX-License-Identifier: MIT */
/*
 * A merged file: a job as one small file that other tools read by themselves. It is gzip'd JSON, a row a
 * line (.jsonl.gz): DuckDB, pandas and Spark make one table of it. vramtrace-merge(1) describes it for
 * users; merged_columns.def is the list of columns.
 *
 * Rows are flat, and each says of which process it is and where that ran, so that no table has to be joined
 * to another. The first row, `schema`, has every column with an empty value of its type: tools that infer
 * types from the first rows then know those of rows that come late, or are in no file yet.
 *
 * The same logs give the same bytes, in whatever order they were read, and whether they were merged at once
 * or in groups whose files were merged. Rows of one line stand together, by process: neighbours are alike,
 * so gzip makes them small.
 *
 * merged.c writes it, merged_read.c reads it; cmd_merge.c and the builder call them.
 */
#ifndef VRAMTRACE_ANALYZER_MERGED_H
#define VRAMTRACE_ANALYZER_MERGED_H

#include "model/job_data.h"

/* Writes a finished job. Returns 0 or -errno; the caller checks ferror(out). */
int vt_merged_write(const struct vt_job *job, FILE *out);

/* Adds the processes of a merged file, which vt_job_finish has yet to sort. Returns 0, or -errno with
 * `message`: file, row, what was expected and what was found; then nothing was added. */
int vt_merged_read(const char *path, struct vt_job *job, struct vt_string *message);

#endif
