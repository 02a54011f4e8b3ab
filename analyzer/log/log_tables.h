/* SPDX-License-Identifier: MIT */
/*
 * The reader's tables: everything that is not an event. For log_reader.c and nvml_file.c.
 */
#ifndef VRAMTRACE_ANALYZER_LOG_TABLES_H
#define VRAMTRACE_ANALYZER_LOG_TABLES_H

#include "log_reader.h"

/* Adds a complete record of a type from 0x80 to the log's tables. Ignores a record whose inner
 * lengths exceed `length`, and an unknown type, so that newer tracers can add types. */
void vt_log_take(struct vt_log *log, const uint8_t *record, uint32_t length);

/* Adds a note unless there is an equal one. Takes over `text`, which is freed with the log. */
void vt_log_note(struct vt_log *log, char *text);

/* Adds a VT_REC_PHASE of a thread. A phase's begin and end may come in any order. */
void vt_log_take_phase(struct vt_log *log, const uint8_t *record, uint32_t tid);

/* Adds a VT_REC_SAMPLE: from LOG.nvml, or from the log itself, as early tracers wrote them. */
void vt_log_take_sample(struct vt_log *log, const uint8_t *record);

void vt_log_sort_samples(struct vt_log *log);

void vt_log_sort_modules(struct vt_log *log);

/* Pairs begins with ends and sorts the phases. Call it once, after the last record. Ignores what is
 * later than vt_log.frontier. */
void vt_log_pair_phases(struct vt_log *log);
void vt_log_free_tables(struct vt_log *log);

#endif
