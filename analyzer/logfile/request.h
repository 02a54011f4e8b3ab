/* SPDX-License-Identifier: MIT */
/*
 * Asks a running process for a snapshot of its memory's owners, through the header of its log. The process is not
 * stopped, and answers at its next event (preload/log/log_due.c).
 */
#ifndef VRAMTRACE_ANALYZER_REQUEST_H
#define VRAMTRACE_ANALYZER_REQUEST_H

#include "base/base.h"

enum vt_answer {
    VT_ANSWER_TAKEN,
    VT_ANSWER_REFUSED, /* snapshots are off, or nothing is live */
    VT_ANSWER_NONE,    /* timeout: the process is idle, since any event would answer */
    VT_ANSWER_LATE,    /* timeout: the snapshot began, but did not finish */
    VT_ANSWER_ENDED,   /* the process ended first */
};

/* The log of a running process; free it. NULL, with `message`: none. */
char *vt_request_log(unsigned pid, struct vt_string *message);

/* How to wait for an answer. */
struct vt_request {
    unsigned timeout_ms; /* 0: none */
    const bool *stop;    /* ends the wait once set, by another thread or a signal; may be NULL */
    void (*idle)(
        unsigned
            pid); /* called once, if the request is still pending after a second; may be NULL */
};

/* Makes a request, and waits for the answer. Returns 0, or -errno with `message` if the request could not be made. A
 * request that was not taken up is withdrawn. */
int vt_request_snapshot(unsigned pid, const char *log, const struct vt_request *request,
                        enum vt_answer *answer, struct vt_string *message);

#endif
