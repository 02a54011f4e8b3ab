/* SPDX-License-Identifier: MIT */
/*
 * What a chunk looks like that a disk has lost, or a part of it. Called by log_passes.c, for logs that are not written to any more.
 */
#ifndef VRAMTRACE_ANALYZER_CHUNK_DAMAGE_H
#define VRAMTRACE_ANALYZER_CHUNK_DAMAGE_H

#include "log_reader.h"

/* The process wrote its end itself, as the last: each chunk is as its thread left it. */
bool vt_chunk_has_ended(const struct vt_log *log);

/* So many chunks, the file header included, have their numbers; 0: that is not known. Where space was refused, a thread waits with a number. */
uint64_t vt_chunk_placed(const struct vt_log *log);

/* Whether a chunk without a magic had one: a thread that takes it writes the magic before its records. */
bool vt_chunk_lost_header(const struct vt_log *log, const struct vt_chunk_header *head,
                          uint32_t number, const uint8_t *chunk, uint32_t have);

/* Whether its records went on behind byte `end`, where there is a word of zeroes. `announced`: slots that announce an event. */
bool vt_chunk_ends_early(const struct vt_log *log, const struct vt_chunk_header *head,
                         size_t announced, const uint8_t *chunk, uint32_t end, uint32_t have);

#endif
