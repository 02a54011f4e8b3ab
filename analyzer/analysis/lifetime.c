/* SPDX-License-Identifier: MIT */
/*
 * Lifetimes: how long a site's blocks usually live, and how old the live ones are. They reveal a single block forgotten
 * among thousands that were freed, even if the site does not grow.
 */
#include "steps.h"

void vt_lifetime_measure(const struct vt_sources *from, struct vt_process *p) {
    const struct vt_replay *r = from->replay;
    for (uint32_t i = 0; i < r->site_count; i++) {
        if (from->index[i] == VT_NO_SITE)
            continue;
        struct vt_site *site = &p->sites[from->index[i]];
        site->longest_life = site->oldest_age = VT_UNKNOWN;
        for (unsigned j = 0; j < VT_REPLAY_AGES; j++)
            if (r->sites[i].lives >> j & 1 && !site->before)
                site->longest_life = vt_clock_ns(from->clock, r->age_unit << j);
    }
    const struct vt_address *entry;
    for (size_t at = 0; (entry = vt_addresses_next(&r->live, &at));) {
        uint32_t own = from->index[vt_replay_site_index(r, entry)];
        if (own == VT_NO_SITE)
            continue;
        struct vt_site *site = &p->sites[own];
        uint64_t allocated_at = entry->allocated_at * r->age_unit;
        uint64_t age =
            allocated_at < from->end ? vt_clock_ns(from->clock, from->end - allocated_at) : 0;
        if (!site->before && (site->oldest_age == VT_UNKNOWN || age > site->oldest_age))
            site->oldest_age = age;
    }
}
