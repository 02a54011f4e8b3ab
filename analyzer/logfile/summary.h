/* SPDX-License-Identifier: MIT */
/*
 * LOG.summary: the state of a log's reader and replay at one moment. With it, the log can be read without its older
 * records. log_chunk.h describes in which order chunks are released.
 *
 * vt_log_open reads the summary that the log's header names, if any. The replay's part is opaque here: the caller's
 * function saves and loads it.
 */
#ifndef VRAMTRACE_ANALYZER_SUMMARY_H
#define VRAMTRACE_ANALYZER_SUMMARY_H

#include "log_reader.h"

/* Replaces the summary with the log's state and the state that `more` saves, and syncs it to the disk. `most`: the
 * summary's largest size in bytes (-EFBIG). `until`, in ticks: `more` includes exactly the events up to then.
 * Returns 0, or -errno with `message`. */
int vt_summary_write(struct vt_log *log, uint64_t generation, uint64_t until, uint64_t most,
                     void (*more)(void *of, struct vt_state *s), void *of,
                     struct vt_string *message);

/* Syncs the summary's name to the disk: its writer may have died before that. Returns 0, or -errno with `message`. */
int vt_summary_sync(const struct vt_log *log, struct vt_string *message);

/* Loads the log's saved state, when only its header was read. For vt_log_open. */
int vt_summary_read(struct vt_log *log, struct vt_string *message);

/* Loads the state that `more` saved, if there is a summary. A second call is an error (-EINVAL). */
int vt_summary_load(const struct vt_log *log, void (*more)(void *of, struct vt_state *s), void *of,
                    struct vt_string *message);
void vt_summary_free(struct vt_summary_rest *rest);

/* Whether a newer summary exists than the one that the log was opened with. Then the log must be reopened: records
 * read since may be from chunks that were released meanwhile. */
bool vt_summary_is_newer(const struct vt_log *log);

#endif
