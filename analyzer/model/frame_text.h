/* SPDX-License-Identifier: MIT */
/*
 * A frame as text, for people: "train.py:41 in train_step"; and its source line.
 */
#ifndef VRAMTRACE_ANALYZER_FRAME_TEXT_H
#define VRAMTRACE_ANALYZER_FRAME_TEXT_H

#include "model.h"

/* The caller frees the results of the following functions. */

/* The function without C++ parameters, template arguments and return type: "f<...>" for "void
 * f<int>(int)". NULL: unknown. */
char *vt_frame_text_function(const struct vt_frame *frame);

/* "train.py:41 in train_step"; "f in libx.so"; "libx.so+0x1f30"; "generated code"; "unknown". At most `width` columns:
 * first the beginning of the path is cut, then the function's scopes, then the end of the text. `frame` NULL: "unknown
 * (no stack)". */
char *vt_frame_text(const struct vt_process *process, const struct vt_frame *frame, unsigned width);

/* Shortens a text of vt_frame_text in the same way to at most `width` columns. */
char *vt_frame_text_fit(const char *text, unsigned width);

/* The source line without surrounding blanks, at most `width` columns. NULL: its file does not exist or changed after
 * the run began, the process hides its sources, or the line is empty. */
char *vt_frame_text_source(const struct vt_process *process, const struct vt_frame *frame,
                           unsigned width);

/* Columns of a text on a terminal: one for each character, even a wide one, and one for each invalid byte. */
unsigned vt_frame_text_columns(const char *text);

/* The text, or its first columns and "..." if it is wider. Free it. */
char *vt_text_cut(const char *text, unsigned width);

#endif
