/* SPDX-License-Identifier: MIT */
/*
 * Which logs the live view follows: those that are named, of the processes that are named and their
 * children, and of the newest run in a folder. Logs may appear later. For sample.c, and
 * live.c, which asks whether a process is there.
 */
#ifndef VRAMTRACE_ANALYZER_SOURCES_H
#define VRAMTRACE_ANALYZER_SOURCES_H

#include "base/base.h"

struct vt_source {
    const char *text; /* as the user named it */
    enum { VT_SOURCE_LOG, VT_SOURCE_PID, VT_SOURCE_FOLDER } kind;
    unsigned pid;
    uint32_t found; /* logs */
    char *message;  /* why there is none yet; NULL: there are some */
    bool gone;      /* the process ended without a log: there will be none */
};

/* What a word of the command line is: a folder, the number of a process, else a log, which may not
 * exist yet. Free with vt_sources_close. */
struct vt_source vt_sources_open(const char *text);
void vt_sources_close(struct vt_source *source);

/* Tells `add` of each log that there is now, also of those that it knows; `pid` is 0 if unknown.
 * `add` returns whether it did not know it. */
void vt_sources_look(struct vt_source *source,
                     bool (*add)(void *to, const char *log, unsigned pid, const char *source),
                     void *to);

#endif
