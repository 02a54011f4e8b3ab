/* SPDX-License-Identifier: MIT */
/*
 * Public header of base/: the ground that every module of the analyzer stands on.
 *
 * Invariants: base uses libc, zlib and zstd alone, and knows nothing of logs, models or CUDA. Running out of memory is no
 * error for callers: these functions print a message and exit.
 *
 * Tables, in every module: vt_map is keyed by a number, because the replay looks into it for each
 * event. uthash holds tables keyed by text or by a struct. The only other table is the replay's, of
 * live allocations (replay/addresses.h).
 *
 *     util.h      sizes and times as text, memory, strings and arrays that grow, the map, sets,
 *                 hashes
 *     answers.h   what the machine said of a log, recorded and replayed
 *     json.h      a JSON writer
 *     files.h     opens regular files
 *     new_file.h  every file that is written
 *     gzip.h      compressed output; how a compressed file begins
 *     python_file.h   file names of Python code that name no file: notebook cells, generated code
 *     rights.h    whose rights a path is followed with
 *     exit_status.h   exit statuses, error messages
 *     options.h   the options of a command
 *     progress.h  a line on stderr for what takes long
 *     state.h     what a part knows, saved for another process
 *     vramtrace/library.h   which file names are a known library's
 *     terminal.h  the width of the reader's terminal, and whether it shows UTF-8
 */
#ifndef VRAMTRACE_ANALYZER_BASE_H
#define VRAMTRACE_ANALYZER_BASE_H

#include "vramtrace/library.h"

#include "answers.h"
#include "exit_status.h"
#include "files.h"
#include "gzip.h"
#include "json.h"
#include "new_file.h"
#include "options.h"
#include "progress.h"
#include "python_file.h"
#include "rights.h"
#include "state.h"
#include "terminal.h"
#include "util.h"

#endif
