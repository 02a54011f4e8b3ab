/* SPDX-License-Identifier: MIT */
/*
 * The columns of a merged file, as a table (see merged_record.h).
 */
#include "merged_record.h"

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

/* Column types. Other tools read signed numbers, so no value may be larger. */
/* clang-format off */
static const struct vt_merged_type
    TEXT     = {VT_MERGED_TEXT, "\"\"", 0, 0, true, 0, NULL, false},
    TIME     = {VT_MERGED_TIME, "\"1970-01-01T00:00:00.000Z\"", 8, 0, true, 0, NULL, false},
    FLAG     = {VT_MERGED_FLAG, "false", 0, 0, false, 0, NULL, false},
    LEVELS   = {VT_MERGED_LIST, "[0]", 0, 0, false, 0, NULL, false},
    ID       = {VT_MERGED_HEX, "\"\"", 8, UINT64_MAX, true, VT_UNKNOWN, NULL, false},
    NUMBER   = {VT_MERGED_NUMBER, "0", 8, INT64_MAX, true, VT_UNKNOWN, NULL, false},
    COUNT    = {VT_MERGED_NUMBER, "0", 8, INT64_MAX, false, 0, NULL, false},
    COUNT32  = {VT_MERGED_NUMBER, "0", 4, UINT32_MAX, false, 0, NULL, false},
    ALWAYS   = {VT_MERGED_NUMBER, "0", 8, INT64_MAX, false, 0, NULL, true},
    MAYBE    = {VT_MERGED_NUMBER, "0", 8, INT64_MAX, true, VT_UNKNOWN, NULL, false},
    SOME     = {VT_MERGED_NUMBER, "0", 8, INT64_MAX, true, 0, NULL, false},
    SOME32   = {VT_MERGED_NUMBER, "0", 4, UINT32_MAX, true, 0, NULL, false},
    RANK     = {VT_MERGED_NUMBER, "0", 4, INT32_MAX, true, (uint32_t)-1, NULL, false},
    STATUS   = {VT_MERGED_NUMBER, "0", 4, INT32_MAX, true, (uint32_t)VT_NO_STATUS, NULL, false},
    DEVICE   = {VT_MERGED_NUMBER, "0", 4, VT_DEVICE_HOST - 1, true, VT_DEVICE_UNKNOWN, NULL, false},
    END      = {VT_MERGED_WORD, "\"\"", 4, VT_ENDS - 1, false, 0, vt_end_names, false},
    VERDICT  = {VT_MERGED_WORD, "\"\"", 4, VT_VERDICTS - 1, false, 0, vt_verdict_names, false},
    LAYER    = {VT_MERGED_WORD, "\"\"", 4, VT_LAYERS - 1, false, 0, vt_layer_names, false},
    SNAPSHOT = {VT_MERGED_WORD, "\"\"", 4, VT_SNAPSHOT_WHYS - 1, true, 0, vt_snapshot_why_names, false},
    OUTCOME  = {VT_MERGED_WORD, "\"\"", 4, VT_OOM_OUTCOMES - 1, false, 0, vt_oom_outcome_names, false},
    CAUSE    = {VT_MERGED_WORD, "\"\"", 4, VT_CAUSES - 1, true, 0, vt_oom_cause_names, false};
/* clang-format on */

#define COLUMN(rows, name, type, field)                                                            \
    {#name, rows, &type, offsetof(struct vt_merged_record, field)},
const struct vt_merged_column vt_merged_columns[] = {
#include "merged_columns.def"
};
#undef COLUMN
const size_t vt_merged_column_count = sizeof vt_merged_columns / sizeof *vt_merged_columns;
