/* SPDX-License-Identifier: MIT */
/*
 * Samples of the driver's figures during a run, through NVML, in a file beside each log, LOG.nvml.
 * For cmd_run.c.
 */
#ifndef VRAMTRACE_ANALYZER_RUN_NVML_H
#define VRAMTRACE_ANALYZER_RUN_NVML_H

#include "run_beside.h"

/* Starts sampling for the processes whose logs the lists name (run_list.h), now or later.
 * `sim_folder`: folder of the simulated GPU, whose NVML is used; NULL: the real one. Without NVML
 * nothing happens, and nothing is printed. */
void vt_run_nvml_start(struct vt_run_beside *nvml, const char *list, const char *sim_folder);

/* For processes on the simulated GPU: creates the file in which they report their memory to its
 * NVML, and sets VRAMTRACE_SIM_SHARE. Returns its path; the caller frees it and unlinks the file.
 * NULL: none was created, because an outer run has one or no folder allows it. */
char *vt_run_nvml_share(void);

#endif
