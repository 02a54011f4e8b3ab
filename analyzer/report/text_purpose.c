/* SPDX-License-Identifier: MIT */
/*
 * What a device's memory is for, in the text report: a line about all of it, and one under each row
 * of the map.
 *
 * The map is the device at its peak, while purposes are known from snapshots. So a site's memory at
 * the peak is told apart only if nearly all that a snapshot saw of it is for one purpose, or the
 * snapshot saw nearly as much of it as there was at the peak.
 */
#include "fmt_text.h"

#include <stdlib.h>
#include <string.h>

struct vt_site_purposes *vt_text_site_purposes(const struct vt_process *p) {
    struct vt_site_purposes *all = vt_alloc(p->site_count, sizeof *all);
    struct vt_site_purposes *now = vt_alloc(p->site_count, sizeof *now);
    for (uint32_t i = 0; i < p->snapshot_count; i++) {
        const struct vt_snapshot *s = &p->snapshots[i];
        memset(now, 0, p->site_count * sizeof *now);
        for (uint32_t k = 0; k < s->owner_count; k++)
            for (uint32_t j = 0; j < s->owners[k].site_count; j++) {
                const struct vt_owned_site *of = &s->owners[k].sites[j];
                now[of->site].bytes[s->owners[k].purpose] += of->bytes;
                now[of->site].all += of->bytes;
            }
        for (uint32_t k = 0; k < p->site_count; k++)
            if (now[k].all > all[k].all)
                all[k] = now[k];
    }
    free(now);
    return all;
}

void vt_text_add_purposes(const struct vt_site_purposes *site, uint64_t at_peak, uint64_t bytes,
                          uint64_t sums[VT_PURPOSES]) {
    unsigned main = 0;
    for (unsigned i = 1; i < VT_PURPOSES; i++)
        main = site->bytes[i] > site->bytes[main] ? i : main;
    if (!site->all)
        return;
    if (site->bytes[main] >= site->all / 20 * 19)
        sums[main] += bytes;
    else if (site->all >= at_peak / 20 * 19)
        for (unsigned i = 0; i < VT_PURPOSES; i++)
            sums[i] += (uint64_t)((double)bytes * (double)site->bytes[i] / (double)site->all);
}
