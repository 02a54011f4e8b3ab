/* SPDX-License-Identifier: MIT */
/*
 * Asks a running process for a snapshot of its owners, through the header of its log: the process
 * is not stopped, and answers at its next event (preload/log/log_due.c).
 */
#ifndef VRAMTRACE_ANALYZER_REQUEST_H
#define VRAMTRACE_ANALYZER_REQUEST_H

#include "base/base.h"

enum vt_answer {
    VT_ANSWER_TAKEN,
    VT_ANSWER_REFUSED, /* snapshots are off there, or nothing is live */
    VT_ANSWER_NONE,    /* in that time */
    VT_ANSWER_ENDED,   /* the process ended before */
};

/* The log that a running process writes; free it. NULL, with `message`: there is none. */
char *vt_request_log(unsigned pid, struct vt_string *message);

/* Asks, and waits for the answer. 0, or -errno with `message`: nothing could be asked. A request
 * that was not answered is taken back, also once another thread sets *stop (NULL: nobody does). */
int vt_request_snapshot(unsigned pid, const char *log, unsigned timeout_ms, const bool *stop,
                        enum vt_answer *answer, struct vt_string *message);

#endif
