/* SPDX-License-Identifier: MIT */
/*
 * Weights that are loaded one by one through staging copies rise like a leak: evenly, with frees in between, and to the
 * end if the program uses them only briefly. A load differs: its loop keeps most of its allocations and ends, and new
 * call sites begin after it. A loop that leaks keeps a small part of its allocations, or autograd graphs hold them.
 */
#include "growth_search.h"

#include <stdlib.h>

/* Adds up a site's samples by bucket. Allocated bytes are estimated: blocks times the site's mean block. */
static void add_site(const struct search *s, uint32_t site, uint64_t mean, struct so_far *all) {
    const struct vt_site_history *h = &s->history->sites[site];
    uint64_t before = 0;
    for (uint32_t i = 0; i < h->count; i++) {
        const struct vt_sample *sample = &h->samples[i];
        struct so_far *sum = &all[sample->bucket + 1];
        sum->blocks += sample->allocs - before;
        sum->bytes += (double)(sample->allocs - before) * (double)mean;
        sum->kept += sample->kept_count;
        sum->kept_bytes += (double)sample->kept_bytes;
        before = sample->allocs;
    }
}

void vt_growth_load_open(struct search *s) {
    struct so_far *all = vt_alloc(s->history->bucket_count + 1, sizeof *all);
    for (uint32_t i = 0; i < s->replay->site_count && i < s->history->site_room; i++) {
        const struct vt_replay_site *site = &s->replay->sites[i];
        if (!site->alloc_count || s->index[i] == VT_NO_SITE ||
            s->process->sites[s->index[i]].class != VT_CLASS_PROGRAM)
            continue;
        add_site(s, i, site->allocated_bytes / site->alloc_count, all);
        if (site->first_ticks > s->newest)
            s->newest = site->first_ticks;
    }
    for (uint32_t i = 1; i <= s->history->bucket_count; i++) {
        all[i].blocks += all[i - 1].blocks;
        all[i].bytes += all[i - 1].bytes;
        all[i].kept += all[i - 1].kept;
        all[i].kept_bytes += all[i - 1].kept_bytes;
    }
    s->so_far = all;
}

bool vt_growth_is_load(const struct search *s, const struct curve *c, double end,
                       const struct rise *rises, uint32_t count) {
    const struct so_far *from = &s->so_far[rises[0].bucket];
    const struct so_far *to = &s->so_far[rises[count - 1].bucket + 1];
    return s->newest > c->last_ticks && !c->in_graphs &&
           end - rises[count - 1].until >= LOADED_USE &&
           (double)(to->kept - from->kept) >= LOADED_BLOCKS * (double)(to->blocks - from->blocks) &&
           to->kept_bytes - from->kept_bytes >= LOADED_BYTES * (to->bytes - from->bytes);
}
