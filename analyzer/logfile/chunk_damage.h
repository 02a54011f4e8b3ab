/* SPDX-License-Identifier: MIT */
/*
 * Detects chunks that a disk has lost, wholly or in part. Called by log_passes.c, for logs that are no longer written.
 */
#ifndef VRAMTRACE_ANALYZER_CHUNK_DAMAGE_H
#define VRAMTRACE_ANALYZER_CHUNK_DAMAGE_H

#include "log_reader.h"

/* Whether the process wrote the log's end itself, which comes last: then each chunk is as its thread left it. */
bool vt_chunk_has_ended(const struct vt_log *log);

/* How many chunks, the file header included, have their numbers; 0: unknown. If space was refused, a thread waits with a number. */
uint64_t vt_chunk_placed(const struct vt_log *log);

/* Whether a chunk has lost its magic: the thread that takes it writes the magic before its records. */
bool vt_chunk_lost_header(const struct vt_log *log, const struct vt_chunk_header *head,
                          uint32_t number, const uint8_t *chunk, uint32_t have);

/* Whether records are missing after byte `end`, where there is a word of zeroes. `announced`: slots that announce an event. */
bool vt_chunk_ends_early(const struct vt_log *log, const struct vt_chunk_header *head,
                         size_t announced, const uint8_t *chunk, uint32_t end, uint32_t have);

#endif
