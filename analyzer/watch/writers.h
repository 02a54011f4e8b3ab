/* SPDX-License-Identifier: MIT */
/*
 * A frame for scripts: plain text, JSON, and Prometheus's text format. Each writes the whole frame; the caller checks
 * ferror(out).
 */
#ifndef VRAMTRACE_ANALYZER_WRITERS_H
#define VRAMTRACE_ANALYZER_WRITERS_H

#include "frame.h"

#include "report/report.h"

/* watch_json.c: keys of a struct vt_watch_device without its device's, vt_watch_line, vt_process_figures. */
extern const struct vt_key vt_watch_device_keys[], vt_watch_line_keys[], vt_watch_process_keys[];

/* Like the screen, 80 columns wide. `top`: lines of a process. */
void vt_plain_write(const struct vt_watch_frame *frame, uint32_t top, FILE *out);

/* `in_one_line`: for a stream of frames; else indented. `top`: lines of a process; 0: all. */
void vt_watch_json_write(const struct vt_watch_frame *frame, uint32_t top, bool in_one_line,
                         FILE *out);

/* Writes a new file and replaces the old one by it, so that a reader sees a complete file. Returns NULL, or an error
 * message; free it. */
char *vt_prometheus_write(const struct vt_watch_frame *frame, uint32_t top, const char *path);

#endif
