/* SPDX-License-Identifier: MIT */
/*
 * Evicts call sites when a summary with all of them would be too large (see walk.h). For each call, layer and device,
 * they are merged into the site for allocations without a stack. Their stacks are removed from the log's tables, so
 * later allocations with these stacks' numbers also count there.
 *
 * These sites are kept: sites with live memory, with memory released by a context's end, or with segments of caching
 * allocators; sites that held memory at a peak or a failure; sites that a snapshot, a map or a test refers to.
 */
#include "walk.h"

#include <stdlib.h>
#include <string.h>

/* The eviction from one table: first which items stay, then the new index of each. */
struct moves {
    size_t count;
    bool *stays;
    uint32_t *now; /* NULL: still choosing the items that stay */
};

static void visit(const struct moves *m, uint32_t *index) {
    if (*index >= m->count) /* none */
        return;
    if (m->now)
        *index = m->now[*index];
    else
        m->stays[*index] = true;
}

static void visit_map(const struct moves *m, struct vt_address_map *map) {
    for (uint32_t i = 0; i < map->region_count; i++)
        visit(m, &map->regions[i].site);
    for (uint32_t i = 0; i < map->piece_count; i++)
        visit(m, &map->pieces[i].site);
}

/* All references to a site, except those of origins, samples and steps. */
static void visit_sites(const struct moves *m, struct vt_walk *w) {
    struct vt_replay *r = w->r;
    for (size_t i = 0; i < r->fail_count; i++) {
        struct vt_replay_fail *f = &r->fails[i];
        for (uint32_t k = 0; k < f->holder_count; k++)
            visit(m, &f->holders[k]);
        for (uint32_t k = 0; k < f->pin_count; k++)
            visit(m, &f->pins[k].site);
        for (uint32_t k = 0; k < f->held_count; k++)
            visit(m, &f->held[k].site);
    }
    for (size_t i = 0; i < r->snapshot_count; i++)
        for (size_t k = 0; k < r->snapshots[i].sum_count; k++)
            visit(m, &r->snapshots[i].sums[k].site);
    for (uint32_t i = 0; i < r->pytest.block_count; i++)
        visit(m, &r->pytest.blocks[i].site);
    for (uint32_t i = 0; w->pictures && i < w->pictures->map_count; i++)
        visit_map(m, &w->pictures->maps[i].map);
    for (size_t i = 0; w->history && i < w->history->freed_count; i++)
        visit(m, &w->history->freed[i].site);
}

static void visit_stacks(const struct moves *m, struct vt_replay *r) {
    for (size_t i = 0; i < r->site_count; i++)
        visit(m, &r->sites[i].stack);
    for (uint32_t i = 0; i < r->origin_count; i++)
        visit(m, &r->origins[i].stack);
    for (size_t i = 0; i < r->object_count; i++)
        visit(m, &r->objects[i].stack);
    for (size_t i = 0; i < r->fail_count; i++)
        visit(m, &r->fails[i].stack);
    for (uint32_t i = 0; i < r->error_count; i++)
        visit(m, &r->errors[i].stack);
}

/* --- which sites are evicted --- */

struct candidate {
    uint32_t site;
    bool late; /* it allocated since the last summary, so may allocate again */
    uint64_t bytes, ticks;
};

static int compare_candidates(const void *a, const void *b) {
    const struct candidate *x = a, *y = b;
    return VT_ORDER({x->late, y->late}, {x->bytes, y->bytes}, {x->ticks, y->ticks},
                    {x->site, y->site});
}

/* Clears m->stays for the half of the evictable sites that allocated least; for all if they are few. Returns the
 * number. */
static size_t choose(struct vt_walk *w, const struct moves *m) {
    struct vt_replay *r = w->r;
    size_t count = 0, room = 0;
    VT_SCOPED struct candidate *candidates = NULL;
    const struct vt_address *entry;
    visit_sites(m, w);
    for (size_t at = 0; (entry = vt_addresses_next(&r->live, &at));)
        m->stays[vt_replay_site_index(r, entry)] = true;
    for (uint32_t i = 0; i < r->site_count; i++) {
        struct vt_replay_site *site = &r->sites[i];
        vt_walk_note_peak(site, vt_walk_account(r, site->layer, site->device));
        if (site->bytes_at_peak || site->context_freed_count || site->segments ||
            site->stack == VT_NO_STACK)
            m->stays[i] = true;
        if (m->stays[i])
            continue;
        m->stays[i] = true;
        *VT_ADD(candidates, count, room) = (struct candidate){
            i, site->last_ticks > w->log->until, site->allocated_bytes, site->last_ticks};
    }
    vt_sort(candidates, count, sizeof *candidates, compare_candidates);
    if (count > r->site_count / 8)
        count = (count + 1) / 2;
    for (size_t i = 0; i < count; i++)
        m->stays[candidates[i].site] = false;
    return count;
}

/* --- sites --- */

/* Adds a site's counts to the site without a stack, and returns the latter. */
static uint32_t add_to_other(struct vt_walk *w, struct vt_replay_site site) {
    uint32_t index = vt_walk_stackless_site(w, site.hook, site.layer, site.device);
    struct vt_replay_site *other = &w->r->sites[index];
    uint64_t peak = other->peak_bytes < site.peak_bytes ? site.peak_bytes : other->peak_bytes;
    vt_site_figures_add(&other->figures, &site.figures);
    other->peak_bytes =
        peak; /* the sum of thousands of peaks would far exceed the bytes at any moment */
    if (other->first_ticks > site.first_ticks)
        other->first_ticks = site.first_ticks;
    if (other->last_ticks < site.last_ticks)
        other->last_ticks = site.last_ticks;
    other->lives |= site.lives;
    other->pooled |= site.pooled;
    other->graph |= site.graph;
    other->other |= site.other;
    if (w->history)
        vt_history_of(w->history, index)->joined = true;
    return index;
}

static void move_parallel(struct vt_walk *w, const struct moves *m) {
    struct vt_history *h = w->history;
    struct vt_pictures *p = w->pictures;
    size_t kept = 0;
    for (size_t i = 0; h && i < h->site_room; i++) {
        struct vt_site_history site = h->sites[i];
        h->sites[i] = (struct vt_site_history){0};
        if (i >= m->count || m->stays[i]) {
            h->sites[kept++] = site;
        } else {
            h->sample_count -= site.count;
            free(site.samples);
        }
    }
    if (!p)
        return;
    for (size_t i = kept = 0; i < p->site_count; i++)
        if (i >= m->count || m->stays[i])
            p->sites[kept++] = p->sites[i];
    p->site_count = kept;
    for (size_t i = kept = 0; i < p->step_count; i++) {
        struct vt_picture_step step = p->steps[i];
        if (!m->stays[step.site]) /* now in the site without a stack */
            continue;
        visit(m, &step.site);
        p->steps[kept++] = step;
    }
    p->step_count = kept;
}

static void merge_sites(struct vt_walk *w, struct moves *m) {
    struct vt_replay *r = w->r;
    size_t kept = 0;
    uint32_t *now = vt_alloc(m->count, sizeof *now);
    for (size_t i = 0; i < m->count; i++)
        if (!m->stays[i])
            now[i] = add_to_other(w, r->sites[i]);
    VT_SCOPED uint32_t *place = vt_alloc(r->site_count, sizeof *place);
    vt_map_free(&w->by_id);
    for (size_t i = 0; i < r->site_count; i++) {
        if (i < m->count && !m->stays[i])
            continue;
        place[i] = (uint32_t)kept;
        vt_map_put(&w->by_id, r->sites[i].id, (uint32_t)kept);
        r->sites[kept++] = r->sites[i];
    }
    r->site_count = kept;
    for (size_t i = 0; i < m->count; i++)
        now[i] = place[m->stays[i] ? i : now[i]];
    m->now = now;
    visit_sites(m, w);
    move_parallel(w, m);
}

/* --- origins and stacks --- */

/* Evicts origins without live allocations, if their site has no stack: the record's word leads to that site again.
 * Marks their stacks in `stacks` for eviction. */
static void evict_origins(struct vt_walk *w, const struct moves *sites, struct moves *stacks) {
    struct vt_replay *r = w->r;
    struct vt_address *entry;
    uint32_t kept = 0;
    VT_SCOPED uint32_t *now = vt_alloc(r->origin_count, sizeof *now);
    for (size_t at = 0; (entry = vt_addresses_next(&r->live, &at));)
        now[entry->origin] = 1;
    for (uint32_t i = 0; i < r->origin_count; i++) {
        struct vt_replay_origin origin = r->origins[i];
        visit(sites, &origin.site);
        if (!now[i] && r->sites[origin.site].stack == VT_NO_STACK) {
            if (origin.stack != VT_NO_STACK)
                stacks->stays[origin.stack] = false;
            continue;
        }
        now[i] = kept;
        r->origins[kept++] = origin;
    }
    r->origin_count = kept;
    for (size_t at = 0; (entry = vt_addresses_next(&r->live, &at));)
        entry->origin = now[entry->origin];
    vt_walk_enter_origins(w);
}

static void evict_stacks(struct vt_walk *w, struct vt_log *log, struct moves *m) {
    visit_stacks(m, w->r);
    for (size_t i = 0; i < m->count; i++) {
        const struct vt_log_stack *stack = &log->stacks[i];
        for (unsigned callers = 0; m->stays[i] && callers < VT_LOG_CALLERS; callers++) {
            stack = vt_log_stack(log, stack->caller);
            if (!stack)
                break;
            m->stays[stack - log->stacks] = true;
        }
    }
    m->now = vt_log_keep_stacks(log, m->stays);
    visit_stacks(m, w->r);
}

bool vt_walk_evict_sites(struct vt_walk *w, struct vt_log *log) {
    struct moves sites = {.count = w->r->site_count}, stacks = {.count = log->stack_count};
    if (w->before_origins)
        return false;
    sites.stays = vt_alloc(sites.count, sizeof *sites.stays);
    size_t count = choose(w, &sites);
    if (count) {
        w->r->evicted_sites += count;
        stacks.stays = vt_alloc(stacks.count, sizeof *stacks.stays);
        memset(stacks.stays, true, stacks.count);
        merge_sites(w, &sites);
        evict_origins(w, &sites, &stacks);
        evict_stacks(w, log, &stacks);
    }
    free(sites.stays);
    free(sites.now);
    free(stacks.stays);
    free(stacks.now);
    return count > 0;
}
