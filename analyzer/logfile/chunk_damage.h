/* SPDX-License-Identifier: MIT */
/*
 * Detects chunks that the disk lost, wholly or in part. Called by log_passes.c for logs that are no longer written.
 */
#ifndef VRAMTRACE_ANALYZER_CHUNK_DAMAGE_H
#define VRAMTRACE_ANALYZER_CHUNK_DAMAGE_H

#include "log_reader.h"

/* Whether the process itself wrote the log's end. That is its last write, so each chunk is as its thread left it. */
bool vt_chunk_has_ended(const struct vt_log *log);

/* The number of chunks, the file header included, that must have their numbers; 0: unknown, as after a refusal of
 * space, when a number may have no chunk yet. */
uint64_t vt_chunk_placed(const struct vt_log *log);

/* Whether a chunk has lost its magic: a thread that takes a chunk writes the magic before its records. */
bool vt_chunk_lost_header(const struct vt_log *log, const struct vt_chunk_header *head,
                          uint32_t number, const uint8_t *chunk, uint32_t have);

/* Whether records are missing after byte `end`, where a word is zero. `announced`: slots that announce an event. */
bool vt_chunk_ends_early(const struct vt_log *log, const struct vt_chunk_header *head,
                         size_t announced, const uint8_t *chunk, uint32_t end, uint32_t have);

#endif
