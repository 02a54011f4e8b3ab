/* SPDX-License-Identifier: MIT */
/*
 * The reader's tables: everything that is not an event. For log_reader.c and nvml_file.c.
 */
#ifndef VRAMTRACE_ANALYZER_LOG_TABLES_H
#define VRAMTRACE_ANALYZER_LOG_TABLES_H

#include "log_reader.h"

/* Adds a complete record of a type from 0x80 to the log's tables. Ignores a record whose inner
 * lengths exceed `length`, and an unknown type, so that newer tracers can add types. */
void vt_log_add_record(struct vt_log *log, const uint8_t *record, uint32_t length);

/* Called by vt_log_add_record, one for each VT_ENTRY of records.def; the program does not link if one is missing. */
#define VT_ENTRY(number, NAME, name, bytes, fields)                                                \
    void vt_log_add_##name(struct vt_log *log, const uint8_t *record);
#include "vramtrace/records.def"

/* Adds a note unless an equal one exists. Takes over `text`, which is freed with the log. */
void vt_log_note(struct vt_log *log, char *text);

/* Adds a VT_REC_PHASE of a thread. A phase's begin and end may come in any order. */
void vt_log_add_phase(struct vt_log *log, const uint8_t *record, uint32_t tid);

/* Adds a VT_REC_SAMPLE: from LOG.nvml, or from the log itself, as early tracers wrote them. */
void vt_log_add_sample(struct vt_log *log, const uint8_t *record);

void vt_log_sort_samples(struct vt_log *log);

void vt_log_sort_modules(struct vt_log *log);

/* Pairs begins with ends; those after vt_log.frontier wait for the next call. */
void vt_log_pair_phases(struct vt_log *log);
void vt_log_free_tables(struct vt_log *log);

/* --- log_passes.c --- */

/* Reads all parts of the log that no earlier pass read. Returns 0, or -errno with `message`. */
int vt_log_pass(struct vt_log *log, struct vt_string *message);

/* Results: the newest time of all passes; the smallest time that a thread announced in the last pass (UINT64_MAX:
 * none); whether an announced event is missing. */
struct vt_log_passed {
    uint64_t newest, oldest_entered;
    bool in_flight;
};
struct vt_log_passed vt_log_passed(const struct vt_log *log);
void vt_log_end_passes(struct vt_log *log);
/* Notes which chunks a summary up to that time covers: vt_log_is_covered. */
void vt_log_leave_covered(struct vt_log *log, uint64_t until);
/* Called by vt_log_keep_stacks after stacks that wait for their events have moved. */
void vt_log_move_waiting(struct vt_log *log, const uint32_t *now);
void vt_log_passes_state(struct vt_log *log, uint64_t until, struct vt_state *s);

/* --- log_state.c --- */

/* Saves the state of a log, without events up to `until` (ticks), which are no longer needed; or loads it into a log
 * whose header was read. After loading, vt_log_pass reads the rest. */
void vt_log_state(struct vt_log *log, uint64_t until, struct vt_state *s);

/* --- owner_tables.c: results of snapshots --- */

/* Orders the tables and links the steps. */
void vt_log_link_owners(struct vt_log *log);

void vt_log_free_owners(struct vt_log *log);

/* --- module_index.c: the module at an address at a time --- */

struct vt_module_index;

/* The modules must stay where they are. Never NULL. */
struct vt_module_index *vt_module_index_make(const struct vt_log_module *modules, size_t count);

/* The last module seen up to `ticks` that covers the address. If there is none, the first one seen later, because
 * the tracer looks for modules only when a stack has an address outside the known modules. VT_MAP_NONE: no module
 * covers it. */
uint32_t vt_module_index_at(const struct vt_module_index *index, uint64_t address, uint64_t ticks);

void vt_module_index_free(struct vt_module_index *index);

#endif
