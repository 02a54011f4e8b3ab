/* SPDX-License-Identifier: MIT */
/*
 * Public header of base/: the foundations of every module of the analyzer.
 *
 * Invariants: base uses only libc, zlib and zstd, and knows nothing of logs, models or CUDA. Callers need not handle
 * failed allocations: these functions print a message and exit.
 *
 * Tables, in every module: vt_map for numeric keys, because the replay looks into it for each event; uthash for keys
 * that are text or structs. The only other table holds the replay's live allocations (replay/addresses.h).
 *
 *     util.h      sizes and times as text, memory, strings and arrays that grow, the map, sets,
 *                 hashes
 *     answers.h   the machine's answers about a log, recorded and replayed
 *     json.h      a JSON writer
 *     files.h     opens regular files
 *     new_file.h  writes files
 *     gzip.h      compressed output; the beginning of a compressed file
 *     python_file.h   file names of Python code without a file: notebook cells, generated code
 *     rights.h    the user whose rights apply to a path
 *     exit_status.h   exit statuses, error messages
 *     options.h   the options of a command
 *     progress.h  a progress line on stderr
 *     saved_state.h serialized state, saved for another process
 *     vramtrace/library.h   file names of known libraries
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
#include "saved_state.h"
#include "terminal.h"
#include "util.h"

#endif
