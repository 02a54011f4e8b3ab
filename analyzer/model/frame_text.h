/* SPDX-License-Identifier: MIT */
/*
 * A frame in words: "train.py:41 in train_step", and the text of its source line. For the formats
 * that people read.
 */
#ifndef VRAMTRACE_ANALYZER_FRAME_TEXT_H
#define VRAMTRACE_ANALYZER_FRAME_TEXT_H

#include "model.h"

#include <stdio.h>

/* A source file, to be closed by the caller. NULL: it is not there, or was written after the run
 * began. */
FILE *vt_frame_text_open_source(const struct vt_process *process, const char *file);

/* All that follow return memory that the caller frees. */

/* The function without C++ parameters, template arguments and result. NULL: unknown. */
char *vt_frame_text_function(const struct vt_frame *frame);

/* "train.py:41 in train_step"; "f in libx.so"; "libx.so+0x1f30"; "generated code"; "unknown". At
 * most `width` columns: paths lose their beginning, functions their scopes, then their end. `frame`
 * NULL: "unknown (no stack)". */
char *vt_frame_text(const struct vt_process *process, const struct vt_frame *frame, unsigned width);

/* The source line, without the blanks around it; at most `width` columns. NULL: the file is not
 * there, or was written after the run began. */
char *vt_frame_text_source(const struct vt_process *process, const struct vt_frame *frame,
                           unsigned width);

/* Columns that a text takes on a terminal: its characters, wide ones counted as one; other bytes
 * count each. */
unsigned vt_frame_text_columns(const char *text);

#endif
