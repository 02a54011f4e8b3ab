/* SPDX-License-Identifier: MIT */
/*
 * A frame for scripts: plain text, JSON, and the text format of Prometheus. Each writes the whole
 * frame; write errors stay in `out`.
 */
#ifndef VRAMTRACE_ANALYZER_WRITERS_H
#define VRAMTRACE_ANALYZER_WRITERS_H

#include "frame.h"

/* As the screen has it, 80 columns wide. `top`: lines of a process. */
void vt_plain_write(const struct vt_watch_frame *frame, uint32_t top, FILE *out);

/* `in_one_line`: as a stream of frames has them; else indented. `top`: lines of a process; 0: all. */
void vt_watch_json_write(const struct vt_watch_frame *frame, uint32_t top, bool in_one_line,
                         FILE *out);

/* Writes the file anew and puts it in the place of the old one, so that a reader sees a whole one.
 * Returns NULL, or what went wrong, to be freed. */
char *vt_prometheus_write(const struct vt_watch_frame *frame, uint32_t top, const char *path);

#endif
