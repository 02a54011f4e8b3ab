/* SPDX-License-Identifier: MIT */
/*
 * The machine's answers to questions about a log: the names at addresses, the lines of sources. A pack (logfile/pack.h)
 * keeps the answers, and replays them on machines without the program's files. symbols/symbolize.c and
 * model/frame_text.c each ask in one place, with one function that both writes an answer and reads it.
 */
#ifndef VRAMTRACE_ANALYZER_ANSWERS_H
#define VRAMTRACE_ANALYZER_ANSWERS_H

#include "util.h"

/* Answers by hashes of the questions. */
struct vt_answers;

/* For recording: no answers yet. Free with vt_answers_close. */
struct vt_answers *vt_answers_open(void);

/* For replaying: takes over the bytes that vt_answers_bytes returned. NULL: they are incomplete, and are freed. */
struct vt_answers *vt_answers_replay(struct vt_string *bytes);
void vt_answers_close(struct vt_answers *answers);

/* Whether answers are replayed instead of asking the machine. `answers` may be NULL. */
bool vt_answers_replays(const struct vt_answers *answers);

/* The recorded answers, for a pack. */
const struct vt_string *vt_answers_bytes(const struct vt_answers *answers);

/* One answer. Its fields are written and read in the same order. */
struct vt_reply {
    struct vt_string written;
    const char *at; /* NULL: writing */
    size_t left;
    bool bad; /* the answer ended too early */
};
void vt_reply_number(struct vt_reply *reply, uint64_t *number); /* bad: 0 */
/* The text may be NULL. Texts that were read stay valid until the answers are closed. */
void vt_reply_text(struct vt_reply *reply, const char **text);

/* Writes or reads all fields of `what`. */
typedef void vt_reply_fields(struct vt_reply *reply, void *what);

/* Keeps an answer if recording; the first answer to a question stays. `answers` may be NULL. */
void vt_answers_keep(struct vt_answers *answers, uint64_t question, vt_reply_fields *fields,
                     void *what);

/* Finds a replayed answer. False: none, or it is incomplete. */
bool vt_answers_find(const struct vt_answers *answers, uint64_t question, vt_reply_fields *fields,
                     void *what);

#endif
