/* SPDX-License-Identifier: MIT */
/*
 * The door of run/: starts a program traced, watches it, and says what came of it.
 *
 * Law: the command gets what it would get without us: its arguments, files, signals and exit
 * status. What would keep the tracer out is said before anything starts. Uses base, log, model,
 * replay and gate; models are made by the builder that cmd_run.c hands in.
 *
 *     run_options.h    the options
 *     run_program.h    which file a command is, and whether it can be traced
 *     run_elf.h        what its headers say
 *     run_preload.h    what is preloaded
 *     run_child.h      the command as a process
 *     run_nvml.h       what the driver says meanwhile
 *     run_logs.h       the logs that it left, and the lines at the end
 *     run_check.h      --check: the gate at the end
 *     run_inject.h     --inject each: one run for each place that allocates
 */
#ifndef VRAMTRACE_ANALYZER_RUN_H
#define VRAMTRACE_ANALYZER_RUN_H

#include "run_check.h"
#include "run_child.h"
#include "run_elf.h"
#include "run_inject.h"
#include "run_logs.h"
#include "run_nvml.h"
#include "run_options.h"
#include "run_preload.h"
#include "run_program.h"

#endif
