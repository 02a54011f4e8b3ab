/* SPDX-License-Identifier: MIT */
/*
 * Counts missing events by reason, and sets flags, in the log's header; works before the log is opened. Called by every
 * module; vt_log_drop is in log_record.c.
 */
#include "log_file.h"
#include "base/base.h"

struct vt_log_header vt_log_early;
struct vt_log_header *volatile vt_log_counters = &vt_log_early;

void vt_log_flag(uint32_t flag) {
    vt_or(&vt_log_counters->flags, flag);
}

/* The number of missing events; counters of other things are excluded. */
uint64_t vt_log_dropped(void) {
    uint64_t n = 0;
    for (unsigned r = 0; r < VT_DROP_REASONS; r++)
        n += vt_drop_is_event(r) ? vt_get(&vt_log_counters->dropped[r]) : 0;
    return n;
}
