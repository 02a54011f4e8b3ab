/* SPDX-License-Identifier: MIT */
/*
 * Public header of compact/: writes a log's summary (logfile/summary.h), and releases the chunks that it covers to
 * the log's process.
 *
 * Invariants: the process never waits for the compactor. Data of released chunks is on the disk in the summary. The
 * compactor may be killed at any moment; the next one resumes its work (include/vramtrace/log_chunk.h). Uses base,
 * logfile and replay.
 *
 *     compact.c    when, and in which order
 *     give_back.c  the chunks
 */
#ifndef VRAMTRACE_ANALYZER_COMPACT_H
#define VRAMTRACE_ANALYZER_COMPACT_H

#include "base/base.h"

/* The only compactor of a log. */
struct vt_compactor;

/* Opens a log's compactor. Returns 0, or -errno with `message`; -EBUSY: the log already has one; -EOPNOTSUPP: the
 * log cannot be compacted. */
int vt_compactor_open(const char *log, struct vt_compactor **compactor, struct vt_string *message);

/* Writes a summary of the log so far, and releases the chunks that it covers. Returns 0, or -errno with `message`;
 * -EFBIG: the summary would exceed its limit. After an error the log is still readable. */
int vt_compactor_compact(struct vt_compactor *compactor, struct vt_string *message);

/* Compacts when enough was written. While the process runs, call it repeatedly, after a wait of
 * vt_compactor_wait_ms. Returns as vt_compactor_compact, but waits while the disk is full, and reports that once on
 * stderr; *ended: the process has ended, and the work is done. */
unsigned vt_compactor_wait_ms(const struct vt_compactor *compactor);
int vt_compactor_go_on(struct vt_compactor *compactor, bool *ended, struct vt_string *message);

/* The work so far. */
struct vt_compacted {
    uint64_t until_ns;      /* earlier events are in the summary; 0: none */
    uint64_t summary_bytes; /* of the last summary */
    uint64_t chunks;        /* released */
    uint64_t log_bytes;     /* size of the file */
};
struct vt_compacted vt_compactor_done(const struct vt_compactor *compactor);

void vt_compactor_close(struct vt_compactor *compactor); /* NULL: nothing */

/* Writes a summary of an open log, from its last summary and the records read since, up to the time before which all
 * events are known. The header does not name it yet. Returns 0, or -errno with `message`; -EFBIG: it would exceed
 * `most` bytes. */
struct vt_log;
int vt_compact_summarize(struct vt_log *log, uint64_t most, struct vt_string *message);

/* Whether a log is compacted while its process runs: if it has a bound, and is mapped. */
struct vt_log_header;
bool vt_compact_wanted(const struct vt_log_header *header);

#endif
