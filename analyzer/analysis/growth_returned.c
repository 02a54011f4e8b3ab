/* SPDX-License-Identifier: MIT */
/*
 * Memory that a program's last loop collects grows to the end like a leak: an evaluation collects predictions and
 * returns their mean. But its function returns before the program ends, so they are freed while the model is still
 * there. This excuses only growth that began late in the run: a training may keep its losses in a function.
 */
#include "growth_search.h"

#include <stdlib.h>

static bool is_programs(const struct search *s, uint32_t site) {
    return s->index[site] != VT_NO_SITE &&
           s->process->sites[s->index[site]].class == VT_CLASS_PROGRAM;
}

void vt_growth_returned_open(struct search *s) {
    const struct vt_history *h = s->history;
    s->returned = vt_alloc(s->replay->site_count, sizeof *s->returned);
    for (uint32_t i = 0; i < s->replay->site_count; i++) {
        uint64_t bytes = s->replay->sites[i].live_bytes, count = s->replay->sites[i].live_count;
        vt_history_held(h, i, &bytes, &count);
        s->held += is_programs(s, i) ? bytes : 0;
    }
    uint64_t left = s->held;
    for (size_t i = 0; i < h->freed_count; i++) {
        const struct vt_freed *f = &h->freed[i];
        if (!is_programs(s, f->site))
            continue;
        left -= f->bytes < left ? f->bytes : left;
        s->returned[f->site].blocks += f->given_up;
        s->returned[f->site].left = left;
    }
}

bool vt_growth_was_returned(const struct search *s, const struct subject *subject,
                            struct found *found) {
    const struct vt_history *h = s->history;
    const struct curve *c = &subject->curve;
    const struct returned *returned = &s->returned[subject->sites[0]];
    uint64_t others = s->held - (c->held < s->held ? c->held : s->held);
    return s->process->python && !c->in_graphs && others && returned->blocks >= c->held_count &&
           (double)returned->left >= RETURNED_BESIDE * (double)others &&
           (double)h->buckets[found->begin].events >=
               RETURNED_LATE * (double)h->events_at_last_alloc;
}
