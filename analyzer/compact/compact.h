/* SPDX-License-Identifier: MIT */
/*
 * Public header of compact/: writes a log's summary (logfile/summary.h), and gives the log's process back the chunks that it covers.
 *
 * Invariants: the process never waits for it. What is given back is on the disk in the summary. It may be killed at any moment:
 * the next one goes on (include/vramtrace/log_chunk.h). Uses base, log and replay.
 *
 *     compact.c    when, and in which order
 *     give_back.c  the chunks
 */
#ifndef VRAMTRACE_ANALYZER_COMPACT_H
#define VRAMTRACE_ANALYZER_COMPACT_H

#include "base/base.h"

/* The compactor of one log; no other one may have it. */
struct vt_compactor;

/* Opens it. 0, or -errno with `message`: -EBUSY: it has one; -EOPNOTSUPP: this log cannot be compacted. */
int vt_compactor_open(const char *log, struct vt_compactor **compactor, struct vt_string *message);

/* Writes a summary of what the log has now, and gives back what it covers. Returns 0, or -errno with `message`; -EFBIG:
 * the summary would be larger than it may be. The log can be read after an error as before. */
int vt_compactor_compact(struct vt_compactor *compactor, struct vt_string *message);

/* To be called again and again while its process runs, after a wait of vt_compactor_wait_ms: compacts when enough was written.
 * Returns as vt_compactor_compact, but waits for room where the disk is full, which it says once on stderr; *ended: the process has ended, and there is nothing more to do. */
unsigned vt_compactor_wait_ms(const struct vt_compactor *compactor);
int vt_compactor_go_on(struct vt_compactor *compactor, bool *ended, struct vt_string *message);

/* What was done so far. */
struct vt_compacted {
    uint64_t until_ns;      /* events before are in the summary; 0: none are */
    uint64_t summary_bytes; /* of the last one */
    uint64_t chunks;        /* that were given back */
    uint64_t log_bytes;     /* of the file */
};
struct vt_compacted vt_compactor_done(const struct vt_compactor *compactor);

void vt_compactor_close(struct vt_compactor *compactor); /* NULL: nothing */

/* Writes the summary of a log that was opened: what its last one says and what was read since, up to the time from which more
 * may come. The header does not name it yet. Returns 0, or -errno with `message`; -EFBIG: it has more than `most` bytes. */
struct vt_log;
int vt_compact_summarize(struct vt_log *log, uint64_t most, struct vt_string *message);

/* Whether a log is to be compacted while its process runs: it has a bound, and is mapped. */
struct vt_log_header;
bool vt_compact_wanted(const struct vt_log_header *header);

#endif
