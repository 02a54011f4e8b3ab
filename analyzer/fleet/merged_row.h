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

/* The value of a column. */
static inline void *vt_merged_value(const struct vt_merged_row *row,
                                    const struct vt_merged_column *column) {
    return (char *)row + column->offset;
}

/* A row in which everything is unknown. */
extern const struct vt_merged_row vt_merged_blank;

#endif
