/* SPDX-License-Identifier: MIT */
/*
 * The reader's tables of owners: the steps of the ways by which memory is held, and what each
 * snapshot says of the allocations. For log_tables.c, which takes the records, and log_reader.c.
 */
#ifndef VRAMTRACE_ANALYZER_OWNER_TABLES_H
#define VRAMTRACE_ANALYZER_OWNER_TABLES_H

#include "log_reader.h"

void vt_log_take_step(struct vt_log *log, const uint8_t *record);
void vt_log_take_around(struct vt_log *log, const uint8_t *record);
void vt_log_take_hop(struct vt_log *log, const uint8_t *record);
void vt_log_take_owned(struct vt_log *log, const uint8_t *record);
void vt_log_take_snapshot(struct vt_log *log, const uint8_t *record);
void vt_log_take_missed(struct vt_log *log, const uint8_t *record);

/* Orders the tables and links the steps. Call it once, after the last record. */
void vt_log_link_owners(struct vt_log *log);

void vt_log_free_owners(struct vt_log *log);

#endif
