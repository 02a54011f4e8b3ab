/* SPDX-License-Identifier: MIT */
/*
 * What the driver says is used while a run goes on, sampled through NVML into a file beside each
 * log, LOG.nvml. For cmd_run.c.
 */
#ifndef VRAMTRACE_ANALYZER_RUN_NVML_H
#define VRAMTRACE_ANALYZER_RUN_NVML_H

#include "base/base.h"

#include <sys/types.h>

struct vt_run_nvml {
    pid_t pid; /* of the process that samples; 0: none */
};

/* Starts to sample for the processes whose logs the list file names (see run_logs.h), those that
 * are named later too. `sim_folder`: of the simulated GPU, whose own NVML is asked then; NULL: the
 * real one. Where there is no NVML nothing happens, in silence. */
void vt_run_nvml_start(struct vt_run_nvml *nvml, const char *list, const char *sim_folder);
void vt_run_nvml_stop(struct vt_run_nvml *nvml);

/* For processes on the simulated GPU: makes the file in which they tell its NVML what they use, and
 * sets VRAMTRACE_SIM_SHARE to it. Returns its path (free it; the caller unlinks it), NULL: none was
 * made, because an outer run has, or there is no place for it. */
char *vt_run_nvml_share(void);

#endif
