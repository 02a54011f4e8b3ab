/* SPDX-License-Identifier: MIT */
/*
 * A row of a merged file as a struct, and its columns (merged_columns.def). merged.c and merged_read.c both use this
 * table.
 */
#ifndef VRAMTRACE_ANALYZER_MERGED_RECORD_H
#define VRAMTRACE_ANALYZER_MERGED_RECORD_H

#include "model/job_data.h"

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

/* A row's values; its kind determines which are used. */
struct vt_merged_record {
    const char *row; /* the kind's name */
    struct vt_job_process process;
    uint64_t run;            /* the id of the run's first process */
    const char *host, *boot; /* of the host */
    unsigned device_number;  /* the device's ordinal, in rows that have a device */
    struct vt_levels levels; /* of a series */
    struct vt_job_line line; /* in rows without a line only the layer is set */
    struct vt_job_device device;
    struct vt_job_cell cell;
    struct vt_job_owner owner;
    struct vt_job_owned owned;
    struct vt_job_leak leak;
    struct vt_job_oom oom;
};

enum vt_merged_form {
    VT_MERGED_TEXT,
    VT_MERGED_NUMBER,
    VT_MERGED_HEX,
    VT_MERGED_TIME,
    VT_MERGED_FLAG,
    VT_MERGED_LIST,
    VT_MERGED_WORD, /* a number in the struct, but a word in the file */
};

/* How the values of a column are written, and the type of its fields. */
struct vt_merged_type {
    enum vt_merged_form form;
    const char *empty; /* a value of this type, for the first row of a file */
    /* for numbers: */
    size_t size;      /* bytes of the field, 4 or 8; 0: not a number */
    uint64_t most;    /* largest accepted value */
    bool null;        /* whether null may be written */
    uint64_t unknown; /* the field's value for null */
    const char *const *words;
    bool optional; /* `unknown` if a row lacks the column, though null is never written */
};

struct vt_merged_column {
    const char *name;
    unsigned rows; /* bits of vt_merged_kind */
    const struct vt_merged_type *type;
    size_t offset; /* in vt_merged_record */
};
extern const struct vt_merged_column vt_merged_columns[];
extern const size_t vt_merged_column_count;

/* The field of a row for this column, and the number in the field. */
static inline void *vt_merged_field(const struct vt_merged_record *record,
                                    const struct vt_merged_column *column) {
    return (char *)record + column->offset;
}
static inline uint64_t vt_merged_number(const struct vt_merged_column *column, const void *field) {
    size_t size = column->type->size;
    return size == 4 ? *(const uint32_t *)field : size == 8 ? *(const uint64_t *)field : 0;
}

#endif
