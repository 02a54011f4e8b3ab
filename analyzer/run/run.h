/* SPDX-License-Identifier: MIT */
/*
 * Public header of run/: starts a traced program, watches it, and reports at its end.
 *
 * Invariants: the command gets the same arguments, files, signals and exit status as without vramtrace. Obstacles to
 * tracing are reported before anything starts. Uses base, logfile, model, replay and gate; models come from the builder
 * that cmd_run.c passes.
 *
 *     run_options.h    the options
 *     run_program.h    finds a command's file, and checks whether it can be traced
 *     run_elf.h        the ELF headers of that file
 *     run_preload.h    the libraries to preload
 *     run_plan.h       the plan made from all these
 *     run_child.h      the command as a process
 *     run_beside.h     processes that work on the logs while the command runs
 *     run_nvml.h       samples from NVML while the command runs
 *     run_compact.h    compacts the logs while the command runs
 *     run_list.h       the lists of the run's logs
 *     run_local.h      logs whose folder is on a remote file system, copied at the end
 *     run_logs.h       the logs written, and the lines at the end
 *     run_check.h      --check: the gate at the end
 *     run_pytest.h     --check: makes pytest load the plugin that judges each test
 *     run_inject.h     --inject each: one run for each call site that allocates
 */
#ifndef VRAMTRACE_ANALYZER_RUN_H
#define VRAMTRACE_ANALYZER_RUN_H

#include "run_beside.h"
#include "run_check.h"
#include "run_child.h"
#include "run_compact.h"
#include "run_elf.h"
#include "run_inject.h"
#include "run_list.h"
#include "run_local.h"
#include "run_logs.h"
#include "run_nvml.h"
#include "run_options.h"
#include "run_places.h"
#include "run_plan.h"
#include "run_preload.h"
#include "run_program.h"
#include "run_pytest.h"

#endif
