/* SPDX-License-Identifier: MIT */
/*
 * Compares snapshots of owners with the live allocations of the replay (see owned.h). Called by replay.c.
 */
#include "owned.h"

#include "walk.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* The driver allocations that are segments, by vt_address_key. */
static struct vt_map list_segments(const struct vt_replay *r) {
    struct vt_map keys = {0};
    struct vt_region region;
    size_t at = 0;
    while (r->segments && vt_segments_region(r->segments, &at, &region))
        vt_map_put(&keys, region.key, 0);
    return keys;
}

/* Whether an allocation counts, as all do except a caching allocator's segments. */
static bool counts(const struct vt_replay *r, const struct vt_map *segments,
                   const struct vt_address *entry) {
    const struct vt_replay_site *site = vt_replay_site_of(r, entry);
    if (site->layer == VT_LAYER_FRAMEWORK || !site->segments)
        return true;
    /* mapped pieces form one region, which has the key of only one of them */
    return entry->kind != VT_KIND_PHYSICAL && vt_map_get(segments, entry->key) == VT_MAP_NONE;
}

static int compare_sums(const void *a, const void *b) {
    const struct vt_owned_sum *x = a, *y = b;
    return VT_ORDER({x->site, y->site}, {x->further, y->further}, {x->step, y->step},
                    {x->roles, y->roles}, {x->others[0], y->others[0]},
                    {x->others[1], y->others[1]}, {x->others[2], y->others[2]});
}

/* Adds up equal sums. Returns the number left. */
static size_t merge_sums(struct vt_owned_sum *sums, size_t count) {
    size_t kept = 0;
    vt_sort(sums, count, sizeof *sums, compare_sums);
    for (size_t i = 0; i < count; i++) {
        if (kept && !compare_sums(&sums[kept - 1], &sums[i])) {
            sums[kept - 1].bytes += sums[i].bytes;
            sums[kept - 1].count += sums[i].count;
            sums[kept - 1].unseen += sums[i].unseen;
            if (sums[i].largest > sums[kept - 1].largest)
                sums[kept - 1].largest = sums[i].largest;
        } else {
            sums[kept++] = sums[i];
        }
    }
    return kept;
}

/* A snapshot's sums under construction. Most blocks of a site have the same owner, and their sum is found by its
 * hash; duplicates that this misses are merged at the end. */
struct sums {
    struct vt_owned_sum *all;
    size_t count, room;
    struct vt_map by_hash;
};

static void add_sum(struct sums *sums, const struct vt_owned_sum *sum) {
    uint64_t words[offsetof(struct vt_owned_sum, bytes) / sizeof(uint64_t)], hash = 0;
    memcpy(words, sum, sizeof words);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        hash = vt_mix(hash ^ words[i]);
    uint32_t known = vt_map_get(&sums->by_hash, hash);
    if (known != VT_MAP_NONE && !compare_sums(&sums->all[known], sum)) {
        sums->all[known].bytes += sum->bytes;
        sums->all[known].count += sum->count;
        sums->all[known].unseen += sum->unseen;
        if (sum->largest > sums->all[known].largest)
            sums->all[known].largest = sum->largest;
        return;
    }
    vt_map_put(&sums->by_hash, hash, (uint32_t)sums->count);
    *VT_ADD(sums->all, sums->count, sums->room) = *sum;
}
static_assert(offsetof(struct vt_owned_sum, bytes) % sizeof(uint64_t) == 0, "no padding");

/* Counts live allocations, and adds those without an entry: those not in `seen`. */
static void add_live(const struct vt_replay *r, const struct vt_map *segments, const uint8_t *seen,
                     struct sums *sums, struct vt_replay_snapshot *s) {
    const struct vt_address *entry;
    for (size_t at = 0; (entry = vt_addresses_next(&r->live, &at));) {
        unsigned layer = vt_replay_site_of(r, entry)->layer;
        uint64_t size = entry->size;
        s->driver_bytes += layer == VT_LAYER_DRIVER ? size : 0;
        s->driver_count += layer == VT_LAYER_DRIVER;
        if (!counts(r, segments, entry))
            continue;
        if (layer == VT_LAYER_DRIVER || layer == VT_LAYER_FRAMEWORK) {
            s->live_bytes += size;
            s->live_count++;
        }
        if (seen[at / 8] >> at % 8 & 1)
            continue;
        add_sum(sums, &(struct vt_owned_sum){.site = vt_replay_site_index(r, entry),
                                             .step = VT_MAP_NONE,
                                             .others = {VT_MAP_NONE, VT_MAP_NONE, VT_MAP_NONE},
                                             .bytes = size,
                                             .count = 1,
                                             .largest = size});
    }
}

/* The entries of a snapshot: *count of vt_log.owned, from the result on. */
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

/* Whether a step's path begins at a root that this version knows. */
static bool has_root(const struct vt_log *log, uint32_t step) {
    unsigned kind = log->steps[log->steps[step].root].kind;
    return kind >= VT_STEP_MODULE && kind <= VT_STEP_CYCLE;
}

static bool is_native(const struct vt_log *log, uint32_t step) {
    unsigned kind = log->steps[log->steps[step].root].kind;
    return kind == VT_STEP_GLOBAL || kind == VT_STEP_THREAD_LOCAL || kind == VT_STEP_NATIVE_STACK;
}

/* Adds the other paths to an entry's allocation; they follow the entry. */
static void add_others(const struct vt_log *log, const struct vt_log_owned *owned, size_t count,
                       struct vt_owned_sum *sum) {
    bool native = !sum->further && sum->step != VT_MAP_NONE && is_native(log, sum->step);
    for (size_t i = 0; i < VT_OWNED_OTHERS; i++)
        sum->others[i] =
            native && i + 1 < count && owned[i + 1].entry.allocation == owned->entry.allocation
                ? owned[i + 1].entry.step
                : VT_MAP_NONE;
}

enum { AHEAD = 16 }; /* look-ups are fetched this many entries ahead */

static uint64_t lost_key(uint64_t allocation) {
    return vt_address_key(vt_lost_address(allocation), vt_lost_space(allocation));
}

/* The slot of a vt_lost_entry's allocation; NULL: it is not live. */
static uint32_t *find_lost(const struct vt_addresses *live, uint64_t allocation) {
    return vt_lost_space(allocation) < VT_SPACES ? vt_addresses_slot(live, lost_key(allocation))
                                                 : NULL;
}

/* Keeps as many snapshots as the log does. */
static void drop_first(struct vt_replay *r) {
    free(r->snapshots[0].sums);
    r->snapshot_count--;
    memmove(r->snapshots, r->snapshots + 1, r->snapshot_count * sizeof *r->snapshots);
}

static void apply_snapshot(struct vt_walk *w, const struct vt_rec_snapshot *record) {
    struct vt_replay *r = w->r;
    if (r->snapshot_count == VT_LOG_SNAPSHOTS)
        drop_first(r);
    struct vt_replay_snapshot *s = VT_ADD(r->snapshots, r->snapshot_count, r->snapshot_room);
    *s = (struct vt_replay_snapshot){.record = *record};
    struct vt_map segments = list_segments(r);
    VT_SCOPED uint8_t *seen = vt_addresses_bits(&r->live);
    struct sums sums = {0};
    size_t count;
    const struct vt_log_owned *owned = find_entries(w->log, record->number, &count);
    for (size_t i = 0; i < count; i++) {
        const struct vt_owned *e = &owned[i].entry;
        if (i + AHEAD < count)
            vt_addresses_fetch_line(&r->live, lost_key(owned[i + AHEAD].entry.allocation));
        const uint32_t *slot = find_lost(&r->live, e->allocation);
        const struct vt_address *entry = slot ? vt_addresses_in(&r->live, slot) : NULL;
        if (!entry || e->step == VT_MAP_NONE || !has_root(w->log, e->step) ||
            !counts(r, &segments, entry)) {
            s->stray_count++;
            continue;
        }
        uint32_t number = vt_addresses_number(&r->live, slot);
        bool further = seen[number / 8] >> number % 8 & 1;
        struct vt_owned_sum sum = {
            .site = vt_replay_site_index(r, entry),
            .step = e->step,
            .roles = e->roles,
            .further = further,
            .bytes = entry->size,
            .count = 1,
            .largest = entry->size,
            .unseen = entry->size > owned[i].seen ? entry->size - owned[i].seen : 0,
        };
        add_others(w->log, &owned[i], count - i, &sum);
        add_sum(&sums, &sum);
        vt_addresses_set(seen, number);
    }
    add_live(r, &segments, seen, &sums, s);
    s->sums = sums.all;
    s->sum_count = merge_sums(sums.all, sums.count);
    vt_map_free(&sums.by_hash);
    vt_map_free(&segments);
}

void vt_owned_apply(struct vt_walk *w, uint64_t ticks) {
    const struct vt_log *log = w->log;
    for (; w->snapshot < log->snapshot_count && log->snapshots[w->snapshot].ticks < ticks;
         w->snapshot++)
        if (log->snapshots[w->snapshot].why != VT_SNAPSHOT_EXITED) /* which has no names */
            apply_snapshot(w, &log->snapshots[w->snapshot]);
    w->snapshots_until = ticks;
    vt_owned_find_next(w);
}

void vt_owned_find_next(struct vt_walk *w) {
    const struct vt_log *log = w->log;
    for (w->snapshot = 0; w->snapshot < log->snapshot_count &&
                          log->snapshots[w->snapshot].ticks < w->snapshots_until;)
        w->snapshot++;
    w->snapshot_ticks =
        w->snapshot < log->snapshot_count ? log->snapshots[w->snapshot].ticks : UINT64_MAX;
}

/* The last snapshot at the end; NULL: there is none. */
static const struct vt_rec_snapshot *last_at_end(const struct vt_log *log) {
    for (size_t i = log->snapshot_count; i-- > 0;)
        if (log->snapshots[i].why == VT_SNAPSHOT_END || log->snapshots[i].why == VT_SNAPSHOT_EXITED)
            return &log->snapshots[i];
    return NULL;
}

/* A bit for each live allocation that has an owner in the last snapshot at the end. */
static uint8_t *owned_at_end(const struct vt_log *log, const struct vt_addresses *live) {
    uint8_t *bits = vt_addresses_bits(live);
    const struct vt_rec_snapshot *end = last_at_end(log);
    size_t count = 0;
    bool holds =
        end && !(log->scan.flags & VT_SCAN_WENT_ON); /* else Python ended before the scan */
    const struct vt_log_owned *owned = holds ? find_entries(log, end->number, &count) : NULL;
    for (size_t k = 0; k < count; k++) {
        uint32_t step = owned[k].entry.step;
        const uint32_t *slot = step != VT_MAP_NONE && has_root(log, step)
                                   ? find_lost(live, owned[k].entry.allocation)
                                   : NULL;
        if (slot)
            vt_addresses_set(bits, vt_addresses_number(live, slot));
    }
    return bits;
}

void vt_owned_evict(const struct vt_walk *w, struct vt_log *log) {
    const struct vt_rec_snapshot *end = last_at_end(log);
    VT_SCOPED_MAP waiting = {0};
    uint32_t newest = 0;
    size_t kept = 0;
    for (size_t i = 0; i < log->snapshot_count; i++) {
        const struct vt_rec_snapshot *s = &log->snapshots[i];
        if (s == end || s->ticks >= w->snapshots_until)
            vt_map_add_key(&waiting, s->number);
        if (s->ticks < w->snapshots_until && s->number > newest)
            newest = s->number;
    }
    for (size_t i = 0; i < log->owned_count; i++)
        if (log->owned[i].snapshot > newest ||
            vt_map_get(&waiting, log->owned[i].snapshot) != VT_MAP_NONE)
            log->owned[kept++] = log->owned[i];
    log->owned_count = kept;
}

void vt_owned_apply_lost(struct vt_replay *r, const struct vt_log *log) {
    size_t count = log->scan.word ? log->lost_count : 0;
    uint64_t until = vt_scan_ticks(log->scan.at);
    VT_SCOPED uint8_t *done = owned_at_end(log, &r->live);
    for (size_t i = 0; i < count; i++) {
        if (i + AHEAD < count)
            vt_addresses_fetch_line(&r->live, lost_key(log->lost[i + AHEAD]));
        const uint32_t *slot = find_lost(&r->live, log->lost[i]);
        if (!slot || vt_addresses_set(done, vt_addresses_number(&r->live, slot)))
            continue;
        const struct vt_address *entry = vt_addresses_in(&r->live, slot);
        if (entry->allocated_at * r->age_unit <= until)
            vt_replay_site_of(r, entry)->lost_count++;
    }
}

void vt_owned_drop(struct vt_replay *replay) {
    for (size_t i = 0; i < replay->snapshot_count; i++) {
        free(replay->snapshots[i].sums);
        replay->snapshots[i].sums = NULL;
        replay->snapshots[i].sum_count = 0;
    }
}

static void state_step(uint32_t step, const struct vt_log *log, struct vt_state *s) {
    if (step != VT_MAP_NONE)
        vt_state_within(s, step, log->step_count, "steps");
}

void vt_owned_state(struct vt_replay *r, const struct vt_log *log, struct vt_state *s) {
    VT_STATE_SECTION(s, "snapshots", struct vt_owned_sum);
    VT_STATE_ROWS(s, r->snapshots, r->snapshot_count, r->snapshot_room);
    for (size_t i = 0; i < r->snapshot_count; i++) {
        struct vt_replay_snapshot *snapshot = &r->snapshots[i];
        size_t room;
        VT_STATE_BUT(s, *snapshot, sums);
        VT_STATE_ARRAY(s, snapshot->sums, snapshot->sum_count, room);
        for (size_t k = 0; s->loading && k < snapshot->sum_count; k++) {
            const struct vt_owned_sum *sum = &snapshot->sums[k];
            vt_state_within(s, sum->site, r->site_count, "sites");
            state_step(sum->step, log, s);
            for (unsigned n = 0; n < VT_OWNED_OTHERS; n++)
                state_step(sum->others[n], log, s);
        }
    }
}
