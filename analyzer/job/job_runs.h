/* SPDX-License-Identifier: MIT */
/*
 * Finds the processes of a job that form one run, or are restarts of one rank. Called by finish.c.
 */
#ifndef VRAMTRACE_ANALYZER_JOB_RUNS_H
#define VRAMTRACE_ANALYZER_JOB_RUNS_H

#include "model/model.h"

/* Numbers the runs by their first start: sets vt_job_process.run. */
void vt_job_find_runs(struct vt_job *job);

/* Sets vt_job_process.restart and next_start; processes must be in the job's order. */
void vt_job_count_restarts(struct vt_job *job);

/* Whether a process's end is unknown: it is still running, or was killed. */
bool vt_job_is_running(const struct vt_job_process *process);

#endif
