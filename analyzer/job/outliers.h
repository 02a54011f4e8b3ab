/* SPDX-License-Identifier: MIT */
/*
 * Finds the processes of a job that differ from their peers, and how (see model/job_data.h).
 *
 * Called by finish.c, when processes and rows are in order.
 */
#ifndef VRAMTRACE_ANALYZER_OUTLIERS_H
#define VRAMTRACE_ANALYZER_OUTLIERS_H

#include "model/model.h"

/* Fills job->peers, job->outliers and job->shown. */
void vt_job_find_outliers(struct vt_job *job);

/* --- peers.c --- */

/* Fills job->peers, except `typical`. */
void vt_job_find_peers(struct vt_job *job);

/* --- choose.c --- */

/* Fills job->shown. Call it last. */
void vt_job_find_shown(struct vt_job *job);

#endif
