/* SPDX-License-Identifier: MIT */
/*
 * Places the processes of several hosts on one time line. Called by finish.c.
 */
#ifndef VRAMTRACE_ANALYZER_CLOCKS_H
#define VRAMTRACE_ANALYZER_CLOCKS_H

#include "model/model.h"

/* Sets vt_job_host.clock_offset and clock_step, and vt_job_process.started_at. */
void vt_job_set_clocks(struct vt_job *job);

/* Sets vt_job_host.later_by and later_than; peers are known. */
void vt_job_compare_clocks(struct vt_job *job);

#endif
