/* SPDX-License-Identifier: MIT */
/*
 * The columns of a merged file, as a table (see merged_row.h).
 */
#include "merged_row.h"

#define NAME(kind, name) [__builtin_ctz(VT_MERGED_##kind)] = name
const char *const vt_merged_kinds[VT_MERGED_KINDS] = {
    NAME(PROCESS, "process"), NAME(DEVICE, "device"), NAME(SERIES, "series"), NAME(LINE, "line"),
    NAME(OWNER, "owner"),     NAME(LEAK, "leak"),     NAME(OOM, "oom")};
#undef NAME

/* The letters of merged_columns.def. */
enum {
    P = VT_MERGED_PROCESS,
    D = VT_MERGED_DEVICE,
    S = VT_MERGED_SERIES,
    L = VT_MERGED_LINE,
    O = VT_MERGED_OWNER,
    K = VT_MERGED_LEAK,
    M = VT_MERGED_OOM,
    EVERY = (1 << VT_MERGED_KINDS) - 1
};

#define COLUMN(name, type, rows)                                                                   \
    {#name, VT_MERGED_##type, rows, offsetof(struct vt_merged_row, name)},
const struct vt_merged_column vt_merged_columns[] = {
#include "merged_columns.def"
};
#undef COLUMN
const size_t vt_merged_column_count = sizeof vt_merged_columns / sizeof *vt_merged_columns;

#define BLANK_TEXT   NULL
#define BLANK_NUMBER VT_UNKNOWN
#define BLANK_COUNT  VT_UNKNOWN
#define BLANK_ID     VT_UNKNOWN
#define BLANK_TIME   VT_UNKNOWN
#define BLANK_FLAG   false
#define BLANK_LEVELS                                                                               \
    { NULL, 0 }
#define COLUMN(name, type, rows) .name = BLANK_##type,
const struct vt_merged_row vt_merged_blank = {
#include "merged_columns.def"
};
#undef COLUMN
