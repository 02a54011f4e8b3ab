/* SPDX-License-Identifier: MIT */
/*
 * The door of log/: bytes of a log -> records and names, in order of time.
 *
 * Law: trust nothing that the file says. Whatever it holds, and also while it is being written or
 * cut, nothing that leaves this room points outside what was read and checked. Uses base.
 *
 *     log_reader.h    a log opened: its header, chunks, and everything in it but the events
 *     records.h       what records.def says of each type of record
 *     merge.h         the events of all threads, in order of time
 *     nvml_file.h     the samples of LOG.nvml
 *     clock.h         ticks <-> nanoseconds
 *     sites.h         which events are of one call site, and the site's id
 *     hooks.h         the names of the hooked functions
 *     find_logs.h     which files a command is about
 */
#ifndef VRAMTRACE_ANALYZER_LOG_H
#define VRAMTRACE_ANALYZER_LOG_H

#include "clock.h"
#include "find_logs.h"
#include "hooks.h"
#include "log_reader.h"
#include "merge.h"
#include "nvml_file.h"
#include "records.h"
#include "sites.h"

#endif
