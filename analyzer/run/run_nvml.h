/* SPDX-License-Identifier: MIT */
/*
 * Samples the driver's figures during a run, through NVML, into a file beside each log, LOG.nvml. For cmd_run.c.
 */
#ifndef VRAMTRACE_ANALYZER_RUN_NVML_H
#define VRAMTRACE_ANALYZER_RUN_NVML_H

#include "run_beside.h"

/* Starts sampling for the processes whose logs the lists name (run_list.h), now or later. `sim_folder`: the folder
 * of the simulated GPU, whose NVML is then used; NULL: the real NVML. Without NVML, does and prints nothing. */
void vt_run_nvml_start(struct vt_run_beside *nvml, const char *list, const char *sim_folder);

/* For processes on the simulated GPU: creates the file through which they report their memory to the simulated NVML,
 * and sets VRAMTRACE_SIM_SHARE. Returns its path; the caller frees the path and unlinks the file. NULL: not created,
 * because an outer run has a file or no folder allows one. */
char *vt_run_nvml_share(void);

#endif
