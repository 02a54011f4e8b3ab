/* SPDX-License-Identifier: MIT */
/*
 * LOG.summary: what a reader and a replay knew of a log up to a moment. The log can be read without what was written
 * before then: log_chunk.h says which chunks are given back, and in which order.
 *
 * vt_log_open reads it, if the log's header says that there is one. What the replay adds is not looked at here: it
 * is saved and loaded by the caller's function.
 */
#ifndef VRAMTRACE_ANALYZER_SUMMARY_H
#define VRAMTRACE_ANALYZER_SUMMARY_H

#include "log_reader.h"

/* Writes it, in place of the one before: what was read of the log, and what `more` saves. It is on the disk when it
 * returns. `most`: more than so many bytes are none (-EFBIG). `until`: the events up to that time, in ticks, are known to `more`, and no later ones. Returns 0, or
 * -errno with `message`. */
int vt_summary_write(struct vt_log *log, uint64_t generation, uint64_t until, uint64_t most,
                     void (*more)(void *of, struct vt_state *s), void *of,
                     struct vt_string *message);

/* Its name is on the disk when it returns: whoever wrote it may have died before that was so. Returns 0, or -errno with
 * `message`. */
int vt_summary_sync(const struct vt_log *log, struct vt_string *message);

/* Loads what was saved of the log: only its header was read so far. For vt_log_open. */
int vt_summary_read(struct vt_log *log, struct vt_string *message);

/* Loads what `more` saved; only once: -EINVAL. Of a log without a summary nothing is loaded. */
int vt_summary_take(const struct vt_log *log, void (*more)(void *of, struct vt_state *s), void *of,
                    struct vt_string *message);
void vt_summary_free(struct vt_summary_rest *rest);

/* Whether there is a newer summary than that which the log was opened with. What was read of the log since may be of
 * chunks that were given back meanwhile: it has to be opened again. */
bool vt_summary_is_newer(const struct vt_log *log);

#endif
