/* SPDX-License-Identifier: MIT */
/*
 * The columns of a merged file, as a table (see merged_row.h).
 */
#include "merged_row.h"

const char *const vt_merged_kinds[VT_MERGED_KINDS] = {"process", "device", "series", "line",
                                                      "owner",   "leak",   "oom"};

enum { P = 1, D = 2, S = 4, L = 8, O = 16, K = 32, M = 64, EVERY = 127 };

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
