/* SPDX-License-Identifier: MIT */
/*
 * A progress line on stderr for long commands: "reading train.vtl  43 %". The log reader reports its
 * progress once per chunk; commands enable the line and erase it before they write.
 */
#ifndef VRAMTRACE_ANALYZER_PROGRESS_H
#define VRAMTRACE_ANALYZER_PROGRESS_H

#include <stdint.h>

/* Enables the line if stderr is a terminal. */
void vt_progress_allow(void);

/* `what` ("reading") has processed `done` of `whole` of a file. Shown after a second, ten times a second. */
void vt_progress_at(const char *what, const char *path, uint64_t done, uint64_t whole);

/* Adds the file's number to the line: "3 of 8". */
void vt_progress_of(uint64_t number, uint64_t files);

/* Erases the line. */
void vt_progress_end(void);

#endif
