/* SPDX-License-Identifier: MIT */
/*
 * The part of the reader that keeps what is not an event: for log_reader.c alone.
 */
#ifndef VRAMTRACE_ANALYZER_LOG_TABLES_H
#define VRAMTRACE_ANALYZER_LOG_TABLES_H

#include "log_reader.h"

/* Takes a record of a type from 0x80, `length` bytes, whole and within bounds, into the log's
 * tables. A record whose inner lengths do not fit it is left out; an unknown type is passed over,
 * so that newer tracers can add some. */
void vt_log_take(struct vt_log *log, const uint8_t *record, uint32_t length);

/* Adds a note, which the log frees, unless it is there already. */
void vt_log_note(struct vt_log *log, char *text);

/* Takes a VT_REC_PHASE of a thread. Its begin and its end may come in any order. */
void vt_log_take_phase(struct vt_log *log, const uint8_t *record, uint32_t tid);

/* Takes a VT_REC_SAMPLE: of LOG.nvml, or of the log itself, where early tracers had them. */
void vt_log_take_sample(struct vt_log *log, const uint8_t *record);

/* By time. */
void vt_log_sort_samples(struct vt_log *log);

void vt_log_sort_modules(struct vt_log *log);

/* Pairs begins with ends and puts phases in order; once, when all are taken. What happened behind
 * vt_log.frontier has not happened yet. */
void vt_log_pair_phases(struct vt_log *log);
void vt_log_free_tables(struct vt_log *log);

#endif
