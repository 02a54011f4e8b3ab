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
    VT_ANSWER_NONE,    /* in that time: the process is idle, as any event answers */
    VT_ANSWER_LATE,    /* it began to look in that time, and was not done */
    VT_ANSWER_ENDED,   /* the process ended before */
};

/* The log that a running process writes; free it. NULL, with `message`: there is none. */
char *vt_request_log(unsigned pid, struct vt_string *message);

/* How to wait for an answer. */
struct vt_request {
    unsigned timeout_ms; /* 0: for ever */
    const bool
        *stop; /* set by another thread or a signal, it ends the waiting; NULL: nobody does */
    void (*idle)(
        unsigned pid); /* called once, a second after nobody took the request up; NULL: not */
};

/* Asks, and waits for the answer. 0, or -errno with `message`: nothing could be asked. A request that nobody took
 * up is taken back. */
int vt_request_snapshot(unsigned pid, const char *log, const struct vt_request *request,
                        enum vt_answer *answer, struct vt_string *message);

#endif
