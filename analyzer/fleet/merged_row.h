/* SPDX-License-Identifier: MIT */
/*
 * A row of a merged file, with all columns that any row has. For merged.c and merged_read.c, which take
 * what they write and read from one list (merged_columns.def).
 */
#ifndef VRAMTRACE_ANALYZER_FLEET_MERGED_ROW_H
#define VRAMTRACE_ANALYZER_FLEET_MERGED_ROW_H

#include "model/fleet.h"

#define VT_MERGED_SCHEMA  "vramtrace-merged/"
#define VT_MERGED_VERSION 1

/* Bits: the kinds of rows. */
enum vt_merged_kind {
    VT_MERGED_PROCESS = 1,
    VT_MERGED_DEVICE = 2,
    VT_MERGED_SERIES = 4,
    VT_MERGED_LINE = 8,
    VT_MERGED_OWNER = 16,
    VT_MERGED_LEAK = 32,
    VT_MERGED_OOM = 64,
};
#define VT_MERGED_KINDS 7
extern const char *const vt_merged_kinds[VT_MERGED_KINDS]; /* "process", ...: the names, by bit */

struct vt_merged_levels {
    const uint64_t *items;
    uint32_t count;
};

/* NULL, or VT_UNKNOWN: null. */
typedef const char *vt_merged_TEXT;
typedef uint64_t vt_merged_NUMBER, vt_merged_COUNT, vt_merged_ID, vt_merged_TIME;
typedef bool vt_merged_FLAG;
typedef struct vt_merged_levels vt_merged_LEVELS;

struct vt_merged_row {
#define COLUMN(name, type, rows) vt_merged_##type name;
#include "merged_columns.def"
#undef COLUMN
};

enum vt_merged_type {
    VT_MERGED_TEXT,
    VT_MERGED_NUMBER,
    VT_MERGED_COUNT,
    VT_MERGED_ID,
    VT_MERGED_TIME,
    VT_MERGED_FLAG,
    VT_MERGED_LEVELS
};

struct vt_merged_column {
    const char *name;
    enum vt_merged_type type;
    unsigned rows; /* bits of vt_merged_kind */
    size_t offset; /* in vt_merged_row */
};
extern const struct vt_merged_column vt_merged_columns[];
extern const size_t vt_merged_column_count;

/* Columns that are members of the same name of what the fleet has: merged.c writes them from it, merged_read.c
 * reads them into it. */
/* clang-format off */
#define VT_MERGED_OF_PROCESS(F) \
    F(run_id) F(job) F(launch) F(command) F(version) F(pid) F(ppid) F(launcher_restart) \
    F(complete) F(simulated) F(python) F(none_at_end) F(events) F(dropped_events) \
    F(failed_count) F(leak_count) F(oom_count) F(leaked_bytes) F(live_bytes) F(peak_bytes)
#define VT_MERGED_OF_DEVICE(F) \
    F(total_bytes) F(live_bytes) F(peak_bytes) F(driver_used_bytes) F(untracked_bytes) \
    F(other_processes_bytes) F(reserved_bytes) F(idle_bytes)
#define VT_MERGED_OF_LINE(F) \
    F(text) F(function) F(file) F(module) F(api) F(segments) F(recycled) F(rest)
#define VT_MERGED_OF_OWNER(F) \
    F(text) F(name) F(root) F(function) F(file) F(module) F(rest) F(nobody)
#define VT_MERGED_OF_CELL(F) \
    F(live_bytes) F(live_count) F(held_bytes) F(peak_bytes) F(allocated_bytes) \
    F(alloc_count) F(free_count)
#define VT_MERGED_OF_LEAK(F) \
    F(bytes) F(count) F(bytes_per_iteration) F(iterations)
#define VT_MERGED_OF_OOM(F) \
    F(requested_bytes) F(free_bytes) F(total_bytes) F(tracked_bytes)
/* clang-format on */

#define VT_MERGED_COPY_ONE(name) to->name = from->name;
#define VT_MERGED_COPY(KIND, to_, from_)                                                           \
    do {                                                                                           \
        __typeof__(to_) to = (to_);                                                                \
        __typeof__(from_) from = (from_);                                                          \
        VT_MERGED_OF_##KIND(VT_MERGED_COPY_ONE)                                                    \
    } while (0)

/* The value of a column. */
static inline void *vt_merged_value(const struct vt_merged_row *row,
                                    const struct vt_merged_column *column) {
    return (char *)row + column->offset;
}

/* A row in which everything is unknown. */
extern const struct vt_merged_row vt_merged_blank;

#endif
