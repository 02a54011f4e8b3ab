/* SPDX-License-Identifier: MIT */
/*
 * The door of base/: the ground that every room of the analyzer stands on.
 *
 * Law: base uses libc alone, and knows nothing of logs, models or CUDA. What cannot fail here does
 * not: without memory the program says so and ends.
 *
 * Tables, in every room: vt_map holds those keyed by a number, because the replay asks it for
 * each event. uthash holds those keyed by text or by a struct. There are no others, but the
 * replay's table of live allocations (replay/addresses.h), whose entries are the values.
 *
 *     util.h      sizes and times as text, memory, strings and arrays that grow, the map, hashes
 *     json.h      a JSON writer
 *     errors.h    exit statuses, and how an error is said
 */
#ifndef VRAMTRACE_ANALYZER_BASE_H
#define VRAMTRACE_ANALYZER_BASE_H

#include "errors.h"
#include "json.h"
#include "util.h"

#endif
