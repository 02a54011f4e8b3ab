/* SPDX-License-Identifier: MIT */
/*
 * Public header of logfile/: turns a log's bytes into records and names, in order of time.
 *
 * Invariants: the file is never trusted. Whatever its contents, and even while it is being written or
 * truncated, every pointer and length that leaves this module lies within bytes that were read and
 * checked. Uses base.
 *
 *     log_reader.h    opens a log: its header, its chunks, and everything in it except the events
 *     short_records.h short records
 *     records.h       the layout of each record type, from records.def
 *     merge.h         the events of all threads, in order of time
 *     nvml_file.h     the samples of LOG.nvml
 *     summary.h       LOG.summary: the state of a log's reader and replay at some moment
 *     pack.h          packs; opens the files of packed and unpacked logs
 *     clock.h         ticks <-> nanoseconds
 *     sites.h         call sites and their ids
 *     hooks.h         the names of the hooked functions
 *     request.h       asks a running process for a snapshot
 *     find_logs.h     chooses the logs that a command reads
 *     log_runs.h      groups logs into runs
 */
#ifndef VRAMTRACE_ANALYZER_LOGFILE_H
#define VRAMTRACE_ANALYZER_LOGFILE_H

#include "clock.h"
#include "find_logs.h"
#include "hooks.h"
#include "log_reader.h"
#include "log_runs.h"
#include "merge.h"
#include "nvml_file.h"
#include "pack.h"
#include "records.h"
#include "request.h"
#include "short_records.h"
#include "sites.h"
#include "summary.h"

#endif
