/* SPDX-License-Identifier: MIT */
/*
 * What the log's header counts: events that are not recorded, by reason, and flags; also before there is a log.
 * Called by every room.
 */
#include "log_file.h"
#include "base/base.h"

struct vt_log_header vt_log_early;
struct vt_log_header *volatile vt_log_counters = &vt_log_early;

void vt_log_flag(uint32_t flag) {
    vt_or(&vt_log_counters->flags, flag);
}

VT_COLD void vt_log_drop(enum vt_drop reason) {
    if (vt_drop_is_event(reason)) {
        /* Not older than what the thread has announced. */
        uint64_t first, at = (vt_tls.busy && vt_tls.entered ? vt_tls.entered : vt_log_ticks()) | 1;
        while ((first = vt_get(&vt_log_counters->first_drop)) == 0 || at < first)
            if (vt_claim(&vt_log_counters->first_drop, first, at))
                break;
    }
    vt_add(&vt_log_counters->dropped[reason], 1);
}

/* Missing events. Reasons that are not about events are left out. */
uint64_t vt_log_dropped(void) {
    uint64_t n = 0;
    for (unsigned r = 0; r < VT_DROP_REASONS; r++)
        n += vt_drop_is_event(r) ? vt_get(&vt_log_counters->dropped[r]) : 0;
    return n;
}
