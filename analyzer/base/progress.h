/* SPDX-License-Identifier: MIT */
/*
 * A line on stderr that says how far a command is, if it takes long: "reading train.vtl  43 %". The log
 * reader says how far it is, once a chunk; commands allow it and have it erased before they write.
 */
#ifndef VRAMTRACE_ANALYZER_PROGRESS_H
#define VRAMTRACE_ANALYZER_PROGRESS_H

#include <stdint.h>

/* From now on the line is shown, where stderr is a terminal. */
void vt_progress_allow(void);

/* `what` is done with a file up to `done` of `whole`. Shown after a second, and ten times a second. */
void vt_progress_at(const char *what, const char *path, uint64_t done, uint64_t whole);

/* From now on the line says so, too: it is this file of so many. */
void vt_progress_of(uint64_t number, uint64_t files);

/* Erases the line. */
void vt_progress_end(void);

#endif
