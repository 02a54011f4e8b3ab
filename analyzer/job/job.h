/* SPDX-License-Identifier: MIT */
/*
 * Public header of job/: reduces processes, one after the other, to a job (model/job_data.h).
 *
 * Invariants: a process is reduced as soon as it is read, so memory is bounded by processes and their lines, not by
 * events; the same logs in any order, or in groups that are merged later, give the same job. Uses base, logfile, model,
 * and the sizes of PyTorch's segments from replay.
 *
 *     tables.h     the tables of a job: texts, lines, owners and hosts, each once
 *     reduce.c     reduces a process of the model to its rows
 *     finish.c     the order of processes and rows
 *     clocks.h     places the processes of several hosts on one time line
 *     job_runs.h   which processes form one run, and which are restarts of a rank
 *     peers.c      which processes do the same work
 *     outliers.c   which processes differ from their peers, and how
 *     choose.c     which processes a report shows in full
 *     by_run.c     reads all runs of a folder for comparison
 *     merged.h     merged files: merged.c writes them, merged_read.c reads them
 */
#ifndef VRAMTRACE_ANALYZER_JOB_H
#define VRAMTRACE_ANALYZER_JOB_H

#include "merged.h"
#include "model/model.h"

/* Never NULL. Free with vt_job_free. */
struct vt_job *vt_job_open(void);
void vt_job_free(struct vt_job *job); /* NULL is allowed */

/* Adds a process; it may be freed afterwards. False: the job already has it, because its log was read under another
 * name or is in two merged files. A process's newer state replaces the older one. */
bool vt_job_add(struct vt_job *job, const struct vt_process *process);

/* Notes a log that could not be read, and why. */
void vt_job_add_unread(struct vt_job *job, const char *why);

/* Sorts everything and finds outliers. Call it once, after the last process was added. */
void vt_job_finish(struct vt_job *job);

/* Adds all runs of a folder, one log at a time, and finishes the job. `choose` gets the model of each log (but not
 * the contents of merged files) and returns whether to add it. Returns 0, or -errno with `message`. */
typedef bool vt_job_choose(void *to, const struct vt_model *one);
int vt_job_read_folder(struct vt_job *job, const char *folder,
                       const struct vt_model_builder *builder,
                       const struct vt_model_options *options, vt_job_choose *choose, void *to,
                       struct vt_string *message);

/* A process's largest peak on any GPU; its device memory at its end (for Python: at its last allocation). */
uint64_t vt_job_peak(const struct vt_job *job, const struct vt_job_process *process);
uint64_t vt_job_held(const struct vt_job *job, const struct vt_job_process *process);

#endif
