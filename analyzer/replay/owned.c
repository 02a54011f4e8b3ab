/* SPDX-License-Identifier: MIT */
/*
 * Snapshots of owners, held against what is live in the replay (see owned.h). replay.c calls.
 */
#include "owned.h"

#include "walk.h"

#include <stdlib.h>

/* The driver allocations that are segments, by vt_address_key. */
static struct vt_map list_segments(const struct vt_replay *r) {
    struct vt_map keys = {0};
    struct vt_region region;
    size_t at = 0;
    while (r->segments && vt_segments_region(r->segments, &at, &region))
        vt_map_put(&keys, region.key, 0);
    return keys;
}

/* Whether an allocation is memory of its own, and no caching allocator's segment. */
static bool counts(const struct vt_replay *r, const struct vt_map *segments,
                   const struct vt_address *entry) {
    const struct vt_replay_site *site = vt_replay_site_of(r, entry);
    if (site->layer == VT_LAYER_FRAMEWORK || !site->segments)
        return true;
    /* mapped pieces are one region together, which has the key of only one of them */
    return entry->kind != VT_KIND_PHYSICAL && vt_map_get(segments, entry->key) == VT_MAP_NONE;
}

static int compare_sums(const void *a, const void *b) {
    const struct vt_owned_sum *x = a, *y = b;
    return VT_ORDER({x->site, y->site}, {x->further, y->further}, {x->step, y->step},
                    {x->hop, y->hop}, {x->roles, y->roles}, {x->others[0], y->others[0]},
                    {x->others[1], y->others[1]}, {x->others[2], y->others[2]});
}

/* Adds up equal ones. Returns how many are left. */
static size_t merge_sums(struct vt_owned_sum *sums, size_t count) {
    size_t kept = 0;
    vt_sort(sums, count, sizeof *sums, compare_sums);
    for (size_t i = 0; i < count; i++) {
        if (kept && !compare_sums(&sums[kept - 1], &sums[i])) {
            sums[kept - 1].bytes += sums[i].bytes;
            sums[kept - 1].count += sums[i].count;
        } else {
            sums[kept++] = sums[i];
        }
    }
    return kept;
}

/* Counts what is live now, and adds what no entry named. `room`: of s->sums. */
static void add_live(const struct vt_replay *r, const struct vt_map *segments,
                     const struct vt_map *seen, size_t room, struct vt_replay_snapshot *s) {
    const struct vt_address *entry;
    for (size_t at = 0; (entry = vt_addresses_next(&r->live, &at));) {
        if (!counts(r, segments, entry))
            continue;
        unsigned layer = vt_replay_site_of(r, entry)->layer;
        uint64_t size = entry->size;
        if (layer == VT_LAYER_DRIVER || layer == VT_LAYER_FRAMEWORK) {
            s->live_bytes += size;
            s->live_count++;
        }
        if (vt_map_get(seen, entry->key) != VT_MAP_NONE)
            continue;
        VT_GROW(s->sums, s->sum_count, room);
        s->sums[s->sum_count++] =
            (struct vt_owned_sum){.site = vt_replay_site_index(r, entry),
                                  .step = VT_MAP_NONE,
                                  .hop = VT_MAP_NONE,
                                  .others = {VT_MAP_NONE, VT_MAP_NONE, VT_MAP_NONE},
                                  .bytes = size,
                                  .count = 1};
    }
}

/* The entries of a snapshot: vt_log.owned from the result on; *count of them. */
static const struct vt_log_owned *find_entries(const struct vt_log *log, uint32_t snapshot,
                                               size_t *count) {
    size_t low = 0, high = log->owned_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (log->owned[middle].snapshot < snapshot)
            low = middle + 1;
        else
            high = middle;
    }
    for (high = low; high < log->owned_count && log->owned[high].snapshot == snapshot;)
        high++;
    *count = high - low;
    return *count ? &log->owned[low] : NULL;
}

/* The step in which a step's way begins. */
static uint32_t root_of(const struct vt_log *log, uint32_t step) {
    while (log->steps[step].parent != VT_MAP_NONE)
        step = log->steps[step].parent;
    return step;
}

/* The step that says what an allocation was last seen in, which owns nothing: an object that nothing
 * known leads to, where a step's way begins, or memory of which no more is known. VT_MAP_NONE: none. */
static uint32_t hop_of(const struct vt_log *log, uint32_t step) {
    if (step == VT_MAP_NONE || log->steps[step].kind == VT_STEP_SEEN)
        return step;
    uint32_t root = root_of(log, step);
    return log->steps[root].kind == VT_STEP_UNREACHED ? root : VT_MAP_NONE;
}

static bool is_native(const struct vt_log *log, uint32_t step) {
    unsigned kind = log->steps[root_of(log, step)].kind;
    return kind == VT_STEP_GLOBAL || kind == VT_STEP_THREAD_LOCAL || kind == VT_STEP_NATIVE_STACK;
}

/* The other ways to the allocation of an entry, which follow it. */
static void add_others(const struct vt_log *log, const struct vt_log_owned *owned, size_t count,
                       struct vt_owned_sum *sum) {
    bool native = !sum->further && sum->step != VT_MAP_NONE && is_native(log, sum->step);
    for (size_t i = 0; i < VT_OWNED_OTHERS; i++)
        sum->others[i] =
            native && i + 1 < count && owned[i + 1].entry.allocation == owned->entry.allocation
                ? owned[i + 1].entry.step
                : VT_MAP_NONE;
}

static void take(struct vt_walk *w, const struct vt_rec_snapshot *record) {
    struct vt_replay *r = w->r;
    VT_GROW(r->snapshots, r->snapshot_count, r->snapshot_room);
    struct vt_replay_snapshot *s = &r->snapshots[r->snapshot_count++];
    *s = (struct vt_replay_snapshot){.record = record};
    struct vt_map segments = list_segments(r), seen = {0};
    size_t count;
    const struct vt_log_owned *owned = find_entries(w->log, record->number, &count);
    s->sums = vt_alloc(count, sizeof *s->sums);
    for (size_t i = 0; i < count; i++) {
        const struct vt_owned *e = &owned[i].entry;
        unsigned space = vt_lost_space(e->allocation);
        const struct vt_address *entry =
            space < VT_SPACES
                ? vt_addresses_find(&r->live, vt_address_key(vt_lost_address(e->allocation), space))
                : NULL;
        if (!entry || e->step == VT_MAP_NONE || !counts(r, &segments, entry)) {
            s->stray_count++;
            continue;
        }
        bool further = vt_map_get(&seen, entry->key) != VT_MAP_NONE;
        uint32_t hop = hop_of(w->log, e->step);
        if (further && hop != VT_MAP_NONE)
            continue;
        s->sums[s->sum_count++] = (struct vt_owned_sum){
            .site = vt_replay_site_index(r, entry),
            .step = hop == VT_MAP_NONE ? e->step : VT_MAP_NONE,
            .hop = hop,
            .roles = e->roles,
            .further = further,
            .bytes = entry->size,
            .count = 1,
        };
        add_others(w->log, &owned[i], count - i, &s->sums[s->sum_count - 1]);
        vt_map_put(&seen, entry->key, 0);
    }
    add_live(r, &segments, &seen, count, s);
    s->sum_count = merge_sums(s->sums, s->sum_count);
    vt_map_free(&segments);
    vt_map_free(&seen);
}

void vt_owned_take(struct vt_walk *w, uint64_t ticks) {
    const struct vt_log *log = w->log;
    while (w->snapshot < log->snapshot_count && log->snapshots[w->snapshot].ticks < ticks)
        take(w, &log->snapshots[w->snapshot++]);
    w->snapshot_ticks =
        w->snapshot < log->snapshot_count ? log->snapshots[w->snapshot].ticks : UINT64_MAX;
}

struct vt_map vt_owned_at_end(const struct vt_log *log) {
    struct vt_map keys = {0};
    for (size_t i = log->snapshot_count; i-- > 0;) {
        size_t count;
        if (log->snapshots[i].why != VT_SNAPSHOT_END)
            continue;
        const struct vt_log_owned *owned = find_entries(log, log->snapshots[i].number, &count);
        for (size_t k = 0; k < count; k++)
            if (owned[k].entry.step != VT_MAP_NONE &&
                hop_of(log, owned[k].entry.step) == VT_MAP_NONE)
                vt_map_put(&keys, owned[k].entry.allocation, 0);
        break;
    }
    return keys;
}

void vt_owned_drop(struct vt_replay *replay) {
    for (size_t i = 0; i < replay->snapshot_count; i++)
        free(replay->snapshots[i].sums);
    replay->snapshot_count = 0;
}

void vt_owned_free(struct vt_replay *replay) {
    vt_owned_drop(replay);
    free(replay->snapshots);
}
