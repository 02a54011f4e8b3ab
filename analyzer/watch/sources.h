/* SPDX-License-Identifier: MIT */
/*
 * The logs that the live view follows: named logs, the logs of named processes and their children, and the logs of the
 * newest run in a folder. Logs may appear later. For sample.c, and for live.c, which checks whether a process exists.
 */
#ifndef VRAMTRACE_ANALYZER_SOURCES_H
#define VRAMTRACE_ANALYZER_SOURCES_H

#include "base/base.h"

struct vt_source {
    const char *text; /* as given by the user */
    enum { VT_SOURCE_LOG, VT_SOURCE_PID, VT_SOURCE_FOLDER } kind;
    unsigned pid;
    uint32_t found; /* number of logs */
    char *message;  /* why there is none yet; NULL: there are some */
    bool gone;      /* the process ended without a log, so there will be none */
};

/* Interprets an argument of the command line: a folder, a process number, or else a log, which may not exist yet.
 * Free with vt_sources_close. */
struct vt_source vt_sources_open(const char *text);
void vt_sources_close(struct vt_source *source);

/* Calls `add` for each existing log, including known ones; `pid` is 0 if unknown. `add` returns whether the log was
 * new. */
void vt_sources_look(struct vt_source *source,
                     bool (*add)(void *to, const char *log, unsigned pid, const char *source),
                     void *to);

#endif
