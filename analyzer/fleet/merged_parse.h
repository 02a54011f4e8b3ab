/* SPDX-License-Identifier: MIT */
/*
 * The text of a merged file -> rows, one at a time. It is no general JSON reader: objects whose
 * values are texts, whole numbers, true, false, null, and lists of numbers. Other tools may have written it
 * anew: columns that are not ours are read over; rows may have columns in any order, other spaces and escapes,
 * take several lines, or be a list; whole numbers may be written as 12.0 and 1.2e1. For merged_read.c.
 */
#ifndef VRAMTRACE_ANALYZER_FLEET_MERGED_PARSE_H
#define VRAMTRACE_ANALYZER_FLEET_MERGED_PARSE_H

#include "merged_row.h"

struct vt_merged_parser;

/* Returns 0, or -errno with `message`, which the other functions fill as well. */
int vt_merged_parser_open(const char *path, struct vt_merged_parser **parser,
                          struct vt_string *message);
void vt_merged_parser_close(struct vt_merged_parser *parser);

/* Where each row is found. Its texts are valid until the next row. */
const struct vt_merged_row *vt_merged_parser_row(const struct vt_merged_parser *parser);

/* Reads the next row of a known kind: 1, with a bit of vt_merged_kind, or VT_MERGED_SCHEMA_ROW, which is
 * the first. What the kind has and may not be null is there. 0: the end of the file; -errno. */
#define VT_MERGED_SCHEMA_ROW 0
int vt_merged_parser_next(struct vt_merged_parser *parser, unsigned *kind);

/* Fills the message: file, row, and this text. Returns -EINVAL. */
int vt_merged_parser_fail(struct vt_merged_parser *parser, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
