/* SPDX-License-Identifier: MIT */
/*
 * What the machine answered when it was asked about a log: the names at addresses, the lines of sources. A pack
 * (logfile/pack.h) keeps the answers, and replays them where the program's files are not. Who asks (symbols/symbolize.c,
 * model/frame_text.c) does it in one place each, with one function that both writes an answer and reads it.
 */
#ifndef VRAMTRACE_ANALYZER_ANSWERS_H
#define VRAMTRACE_ANALYZER_ANSWERS_H

#include "util.h"

/* Answers by hashes of the questions. */
struct vt_answers;

/* For recording: no answers yet. Free with vt_answers_close. */
struct vt_answers *vt_answers_open(void);

/* For replaying: those that vt_answers_bytes gave, which it takes. NULL: they are not whole, and are freed. */
struct vt_answers *vt_answers_replay(struct vt_string *bytes);
void vt_answers_close(struct vt_answers *answers);

/* Whether they are replayed: then the machine is not asked. `answers` may be NULL. */
bool vt_answers_replays(const struct vt_answers *answers);

/* What a pack keeps of those that were recorded. */
const struct vt_string *vt_answers_bytes(const struct vt_answers *answers);

/* One answer, while its fields are written or read, in the same order. */
struct vt_reply {
    struct vt_string written;
    const char *at; /* NULL: it is written */
    size_t left;
    bool bad; /* it ended too early */
};
void vt_reply_number(struct vt_reply *reply, uint64_t *number); /* bad: 0 */
/* May be NULL. One that is read lives as long as the answers. */
void vt_reply_text(struct vt_reply *reply, const char **text);

/* Writes or reads all fields of `what`. */
typedef void vt_reply_fields(struct vt_reply *reply, void *what);

/* Keeps an answer, where they are recorded; the first one to a question stays. `answers` may be NULL. */
void vt_answers_keep(struct vt_answers *answers, uint64_t question, vt_reply_fields *fields,
                     void *what);

/* Finds one that is replayed. False: there is none that is whole. */
bool vt_answers_find(const struct vt_answers *answers, uint64_t question, vt_reply_fields *fields,
                     void *what);

#endif
