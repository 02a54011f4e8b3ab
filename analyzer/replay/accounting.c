/* SPDX-License-Identifier: MIT */
/*
 * The accounting of every site and device: how allocations, frees, mappings and the ends of contexts
 * change it, and how it restarts at the start of the window (see walk.h).
 *
 * Each site's bytes at the peak, in one pass: a vt_account counts its new peaks, and a site remembers the count at its
 * last change. If the count is higher when the site changes again, the site held the same bytes at the latest peak, so
 * these are recorded before the change. Thus a new peak copies nothing, although every allocation makes a new peak
 * while a program fills the memory.
 */
#include "owned.h"
#include "walk.h"

#include <stdlib.h>
#include <string.h>

/* Call it after a device's memory changed. Blocks lie in driver memory, so their `at_peak` refers to the driver
 * layer's peak: the most bytes in use while the driver layer was at its peak. (When a new segment makes the peak,
 * the block that needs it comes later.) */
static inline void rise(struct vt_replay *r, struct vt_account *account, unsigned layer,
                        unsigned device, uint64_t ticks) {
    struct vt_replay_device *d = &r->devices[device];
    bool peak = account->live_bytes > account->peak_bytes;
    if (peak) {
        account->peak_bytes = account->live_bytes;
        account->peak_ticks = ticks;
        if (ticks < r->sure_until)
            account->sure_peak = account->live_bytes;
    }
    if (layer == VT_LAYER_FRAMEWORK) {
        if (!d->at_peak || account->live_bytes <= d->blocks_at_peak)
            return;
    } else {
        account->peaks += peak;
        if (layer != VT_LAYER_DRIVER)
            return;
        d->at_peak = peak;
        if (!peak)
            return;
    }
    d->blocks_at_peak = d->framework.live_bytes;
    d->framework.peaks++;
}

/* --- the accounting --- */

/* From the first block on, driver memory is tracked by address, to find each block's device. */
static void begin_framework(struct vt_walk *w) {
    struct vt_replay *r = w->r;
    r->segments = vt_segments_open();
    if (w->rehearsal) /* a rehearsal tracks idle memory itself */
        vt_segments_plain(r->segments);
    const struct vt_address *e;
    for (size_t at = 0; (e = vt_addresses_next(&r->live, &at));)
        if (vt_kind_space(e->kind) == VT_SPACE_DEVICE && vt_kind_layer(e->kind) == VT_LAYER_DRIVER)
            vt_segments_add(r->segments, vt_address_of(e), e->size, e->key,
                            vt_replay_site_of(r, e)->device, false, 0);
}

static inline __attribute__((always_inline)) void subtract_now(struct vt_walk *w,
                                                               const struct vt_address *entry) {
    struct vt_replay *r = w->r;
    const struct vt_replay_origin *origin = &r->origins[entry->origin];
    struct vt_replay_site *site = &r->sites[origin->site];
    uint64_t size = entry->size;
    struct vt_account *account = origin->account;
    if (w->rehearsal && origin->layer == VT_LAYER_FRAMEWORK)
        vt_rehearsal_free(w->rehearsal, vt_address_of(entry));
    vt_walk_note_peak(site, account);
    uint64_t bytes = site->live_bytes, count = site->live_count;
    site->live_bytes = bytes - size;
    site->live_count = count - 1;
    site->free_count++;
    if (w->history) {
        struct vt_site_history *history = vt_history_of(w->history, origin->site);
        vt_history_giving(w->history, history, bytes, count);
        vt_history_change(w->history, history, bytes, count, site->alloc_count);
        vt_history_freed(w->history, origin->site, history, entry->sample, size, bytes - size,
                         count - 1);
    }
    if (w->context_end) {
        site->context_freed_bytes += size;
        site->context_freed_count++;
        site->context_end_hook = (uint16_t)vt_word_hook(w->context_end->word);
    } else {
        uint32_t age = (uint32_t)(w->now >> w->age_shift) - entry->allocated_at;
        site->lives |= 1u << (age ? 32 - __builtin_clz(age & 0xffffff) : 0);
    }
    account->live_bytes -= size;
    if (origin->layer == VT_LAYER_DRIVER) {
        w->driver_bytes -= size;
        if (w->sampled)
            vt_walk_reopen_samples(w, site->device);
        r->devices[site->device].at_peak = false;
    }
    w->contexts[origin->context].live -= origin->of_context;
    if (w->pictures)
        vt_pictures_change(w, origin->site, entry, false);
}

/* The same, not inlined, for rare callers. */
static void subtract(struct vt_walk *w, const struct vt_address *entry) {
    subtract_now(w, entry);
}

/* A live block's driver memory was freed. */
static void lose_block(void *context, uint64_t address) {
    struct vt_walk *w = context;
    uint32_t *slot = vt_addresses_slot(&w->r->live, vt_address_key(address, VT_SPACE_BLOCK));
    if (!slot)
        return;
    w->r->lost_blocks++;
    if (w->history)
        vt_walk_count(w, false);
    subtract(w, vt_addresses_in(&w->r->live, slot));
    vt_addresses_remove(&w->r->live, slot);
}

/* A caching allocator uses this driver memory from now on. */
static void begin_segment(void *context, const struct vt_segment *segment) {
    struct vt_walk *w = context;
    const struct vt_address *driver = vt_addresses_find(&w->r->live, segment->key);
    if (!driver)
        return;
    struct vt_replay_site *site = vt_replay_site_of(w->r, driver);
    site->segments = true;
    site->segments_hook = w->block_hook;
}

/* Adds a block to its segment. Returns the segment's device, whatever the framework reports. */
static unsigned place_block(struct vt_walk *w, const struct vt_event *a) {
    struct vt_replay *r = w->r;
    unsigned reported = vt_when_device(a->when);
    uint64_t size = a->size_context & VT_SIZE_MASK;
    struct vt_replay_device *d = &r->devices[reported];
    d->blocks_bytes += size;
    d->reported_allocated += size;
    if (d->has_reported && d->reported_allocated > d->reported_peak)
        d->reported_peak = d->reported_allocated;
    if (!r->segments)
        begin_framework(w);
    const struct vt_rec_blockinfo *info =
        w->info.word && w->info.when == a->when && w->info_tid == w->tid ? &w->info : NULL;
    w->block_hook = (uint16_t)vt_word_hook(a->word);
    w->requested = info && info->requested <= size ? info->requested : size;
    w->stream = 0;
    w->private = 0;
    const struct vt_segment *segment = vt_segments_alloc(
        r->segments, vt_event_address(a), size, vt_when_ticks(a->when), info, begin_segment, w);
    if (!segment) {
        r->strays++;
        return reported;
    }
    w->stream = segment->stream;
    w->private = segment->private;
    return segment->device;
}

/* New driver memory may become a segment, and ends the thread's series of failures. */
static void on_driver_alloc(struct vt_walk *w, const struct vt_event *a, unsigned device) {
    struct vt_replay *r = w->r;
    uint64_t size = a->size_context & VT_SIZE_MASK, ticks = vt_when_ticks(a->when);
    if (r->segments && vt_kind_space(vt_word_kind(a->word)) == VT_SPACE_DEVICE) {
        vt_segments_add(r->segments, vt_event_address(a), size, a->key, device, false, ticks);
        vt_emptied_grow(w, size);
    }
    /* physical memory counts only once mapped: with expandable segments, an allocator releases the parts of a
     * request if one is refused */
    if (w->fails.pending && vt_word_kind(a->word) != VT_KIND_PHYSICAL)
        vt_fails_succeeded(&w->fails, r, w->tid, size, ticks);
}

static bool is_of_context(const struct vt_walk *w, const struct vt_address *entry,
                          unsigned context) {
    return entry && w->r->origins[entry->origin].context == context &&
           vt_kind_owner(entry->kind) == VT_OWNER_CONTEXT;
}

static void list_in_context(struct vt_walk *w, unsigned context, uint64_t key) {
    struct vt_walk_context *c = &w->contexts[context];
    /* drop keys freed meanwhile: rarely, so that an addition stays cheap on average */
    if (c->count == c->room && c->count / 4 > c->live) {
        uint32_t kept = 0;
        for (uint32_t i = 0; i < c->count; i++)
            if (is_of_context(w, vt_addresses_find(&w->r->live, c->keys[i]), context))
                c->keys[kept++] = c->keys[i];
        c->count = kept;
        if (kept > c->room / 2)
            c->keys = vt_realloc(c->keys, c->room *= 2, sizeof *c->keys);
    }
    *VT_ADD(c->keys, c->count, c->room) = key;
}

static void rehearse(struct vt_walk *w, uint64_t address, const struct vt_replay_origin *origin) {
    unsigned device = vt_rehearsal_device(w->rehearsal);
    const struct vt_reserve_device *reserve = vt_segments_device(w->r->segments, device);
    uint64_t reserved = reserve ? reserve->now.reserved_bytes : 0;
    vt_rehearsal_alloc(w->rehearsal, address,
                       &(struct vt_rehearsal_event){
                           .request = {w->requested, w->private, (uint8_t)w->stream},
                           .outside = vt_beyond(w->r->devices[device].driver.live_bytes, reserved),
                           .ticks = w->now,
                           .stack = origin->stack,
                           .site = origin->site});
}

void vt_walk_alloc(struct vt_walk *w, const struct vt_event *a) {
    struct vt_replay *r = w->r;
    unsigned kind = vt_word_kind(a->word), layer = vt_kind_layer(kind);
    unsigned device = vt_when_device(a->when);
    uint64_t size = a->size_context & VT_SIZE_MASK;
    uint64_t key = a->key, address = vt_event_address(a);
    if ((!address || !size) && vt_is_no_memory(address, size, kind))
        return; /* an early tracer's record */
    if (layer == VT_LAYER_FRAMEWORK) {
        if (r->segments)
            vt_segments_free(r->segments, address, vt_when_ticks(a->when));
        device = place_block(w, a);
        if (w->rehearsal)
            vt_emptied_finalize(w, w->requested);
    } else if (layer == VT_LAYER_DRIVER && (r->segments || w->fails.pending)) {
        on_driver_alloc(w, a, device);
    }
    unsigned context = a->size_context >> 48;
    uint32_t number = vt_walk_origin(w, a->word, device, context);
    const struct vt_replay_origin *origin = &r->origins[number];
    if (w->history) {
        w->history->round = origin->single ? vt_operations_next(&w->operations, w->history->thread)
                                           : vt_operations_round(&w->operations, w->log,
                                                                 origin->stack, w->history->thread);
        vt_walk_count(w, true);
    }
    struct vt_address *entry = vt_addresses_add_again(&r->live, key);
    if (!entry && (entry = vt_addresses_find(&r->live, key))) {
        r->replaced++;
        subtract(w, entry);
    } else if (!entry) {
        entry = vt_addresses_add(&r->live, key);
    }
    struct vt_replay_site *site = &r->sites[origin->site];
    struct vt_account *account = origin->account;
    vt_walk_note_peak(site, account);
    uint32_t sample = VT_NO_SAMPLE;
    if (w->history) {
        struct vt_site_history *history = vt_history_of(w->history, origin->site);
        vt_history_change(w->history, history, site->live_bytes, site->live_count,
                          site->alloc_count);
        sample = vt_history_kept(w->history, history, site->live_count + 1, site->live_bytes + size,
                                 size);
    }
    *entry = (struct vt_address){.key = key,
                                 .size = size,
                                 .sample = sample & VT_NO_SAMPLE,
                                 .origin = number,
                                 .allocated_at = (uint32_t)(w->now >> w->age_shift) & 0xffffff,
                                 .kind = kind & 0xff};
    uint64_t ticks = w->now;
    site->live_bytes += size;
    site->live_count++;
    site->allocated_bytes += size;
    if (size > site->largest_bytes)
        site->largest_bytes = size;
    if (site->live_bytes > site->peak_bytes)
        site->peak_bytes = site->live_bytes;
    if (!site->alloc_count++)
        site->first_ticks = ticks;
    site->last_ticks = ticks;
    account->live_bytes += size;
    if (layer == VT_LAYER_DRIVER) {
        if (w->sampled)
            vt_walk_reopen_samples(w, site->device);
        w->driver_bytes += size;
        if (w->driver_bytes > w->driver_high)
            w->driver_high = w->driver_bytes;
    }
    rise(r, account, layer, site->device, ticks);
    if (w->pictures)
        vt_pictures_change(w, origin->site, entry, true);
    if (origin->of_context) {
        w->contexts[context].live++;
        if (w->lists_contexts && context != VT_CONTEXT_UNKNOWN)
            list_in_context(w, context, key);
    }
    if (w->rehearsal && layer == VT_LAYER_FRAMEWORK && device == vt_rehearsal_device(w->rehearsal))
        rehearse(w, address, origin);
}

void vt_walk_free(struct vt_walk *w, const struct vt_event *f) {
    struct vt_replay *r = w->r;
    unsigned space = vt_event_space(f);
    uint64_t ticks = vt_when_ticks(f->when);
    if (w->pictures && w->pictures->peak_due && space != VT_SPACE_HOST)
        vt_picture_maps_falling(w);
    if (r->segments && space == VT_SPACE_DEVICE) {
        if (w->rehearsal)
            vt_emptied_note(w, vt_segments_with(r->segments, vt_event_address(f)));
        vt_segments_remove(r->segments, vt_event_address(f), ticks, lose_block, w);
    }
    if (r->segments && space == VT_SPACE_BLOCK) {
        vt_segments_free(r->segments, vt_event_address(f), ticks);
        if (w->rehearsal)
            vt_emptied_finalize(w, 0);
    }
    uint32_t *slot = vt_addresses_noted(&r->live, f->key, f->note);
    if (!slot) {
        r->unknown_frees++;
        return;
    }
    const struct vt_address *entry = vt_addresses_in(&r->live, slot);
    if (w->history)
        vt_walk_count(w, false);
    if (space == VT_SPACE_BLOCK) {
        struct vt_replay_device *reported = &r->devices[vt_when_device(f->when)];
        reported->blocks_bytes -= entry->size;
        reported->reported_allocated -= entry->size;
    }
    subtract_now(w, entry);
    vt_addresses_remove(&r->live, slot);
}

void vt_on_map(struct vt_walk *w, const void *record) {
    const struct vt_rec_map *m = record;
    struct vt_replay *r = w->r;
    uint64_t key = vt_address_key(m->number, VT_SPACE_OBJECT), ticks = vt_when_ticks(m->when);
    if (!r->segments)
        begin_framework(w);
    if (!m->number) {
        const struct vt_segment *s = vt_segments_with(r->segments, m->address);
        if (w->rehearsal)
            vt_emptied_note(w, s);
        if (w->pictures && w->pictures->peak_due)
            vt_picture_maps_falling(w);
        if (w->pictures && s)
            vt_pictures_mapping(w, m, vt_addresses_find(&r->live, s->key), s->device);
        vt_segments_unmap(r->segments, m->address, m->address + m->size, ticks, lose_block, w);
        return;
    }
    const struct vt_address *physical = vt_addresses_find(&r->live, key);
    unsigned device = physical ? vt_replay_site_of(r, physical)->device : vt_when_device(m->when);
    vt_segments_add(r->segments, m->address, m->size, key, device, true, ticks);
    vt_emptied_grow(w, m->size);
    if (w->pictures)
        vt_pictures_mapping(w, m, physical, device);
    if (w->fails.pending)
        vt_fails_succeeded(&w->fails, r, w->tid, m->size, ticks);
}

void vt_walk_count_mapped(struct vt_replay *r) {
    const struct vt_segment *s;
    VT_SCOPED uint8_t *seen =
        r->segments ? vt_addresses_bits(&r->live) : NULL; /* some memory is mapped twice */
    for (size_t at = 0; seen && (s = vt_segments_next(r->segments, &at));) {
        const uint32_t *slot = s->mapped ? vt_addresses_slot(&r->live, s->key) : NULL;
        if (slot && !vt_addresses_set(seen, vt_addresses_number(&r->live, slot)))
            vt_replay_site_of(r, vt_addresses_in(&r->live, slot))->mapped_count++;
    }
}

/* Lists each context's allocations, starting when the first context ends: a program may end thousands. */
static void list_contexts(struct vt_walk *w) {
    const struct vt_address *entry;
    if (w->lists_contexts)
        return;
    w->lists_contexts = true;
    for (size_t at = 0; (entry = vt_addresses_next(&w->r->live, &at));)
        if (vt_kind_owner(entry->kind) == VT_OWNER_CONTEXT)
            list_in_context(w, w->r->origins[entry->origin].context, entry->key);
}

/* A context is destroyed. */
void vt_on_bulk(struct vt_walk *w, const void *record) {
    const struct vt_rec_bulk *b = record;
    struct vt_addresses *live = &w->r->live;
    if (b->teardown || b->context >= VT_CONTEXT_UNKNOWN || !w->contexts[b->context].live)
        return;
    list_contexts(w);
    if (w->pictures && w->pictures->peak_due)
        vt_picture_maps_falling(w);
    struct vt_walk_context ended = w->contexts[b->context];
    w->contexts[b->context] = (struct vt_walk_context){.live = ended.live};
    w->context_end = b;
    for (uint32_t i = 0; i < ended.count; i++) {
        uint32_t *slot = vt_addresses_slot(live, ended.keys[i]);
        const struct vt_address *entry = slot ? vt_addresses_in(live, slot) : NULL;
        if (!is_of_context(w, entry, b->context))
            continue; /* freed since, or listed twice */
        if (w->r->segments && vt_kind_space(entry->kind) == VT_SPACE_DEVICE)
            vt_segments_remove(w->r->segments, vt_address_of(entry), vt_when_ticks(b->when),
                               lose_block, w);
        if (w->history)
            vt_walk_count(w, false);
        subtract(w, entry);
        vt_addresses_remove(live, slot);
    }
    w->context_end = NULL;
    free(ended.keys);
}

/* --- growth with the run --- */

void vt_walk_merge_buckets(struct vt_walk *w) {
    struct vt_sample_moves moves = vt_history_merge(w->history);
    struct vt_address *entry;
    for (size_t at = 0; (entry = vt_addresses_next(&w->r->live, &at));)
        if (entry->sample != VT_NO_SAMPLE)
            entry->sample =
                moves.now[moves.first[vt_replay_site_index(w->r, entry)] + entry->sample];
    free(moves.first);
    free(moves.now);
}

void vt_walk_coarsen_age(struct vt_walk *w) {
    enum { BITS = 4 };
    const uint32_t low = (1u << BITS) - 1;
    struct vt_replay *r = w->r;
    struct vt_address *entry;
    for (size_t at = 0; (entry = vt_addresses_next(&r->live, &at));)
        entry->allocated_at >>= BITS;
    for (size_t i = 0; i < r->site_count; i++)
        r->sites[i].lives = r->sites[i].lives >> BITS | !!(r->sites[i].lives & low);
    for (uint32_t i = 0; i < r->pytest.block_count; i++)
        r->pytest.blocks[i].allocated_at >>= BITS;
    r->age_unit <<= BITS;
    w->age_shift += BITS;
    w->age_ticks <<= BITS;
}

/* --- the live list --- */

static uint64_t listed_key(const struct vt_log_live *l) {
    return vt_address_key(l->address, vt_kind_space(vt_word_kind(l->word)));
}

/* Whether this allocation is the listed one, not an earlier one at its address. */
static bool is_listed(const struct vt_walk *w, const struct vt_address *entry,
                      const struct vt_log_live *l) {
    const struct vt_replay_origin *origin = &w->r->origins[entry->origin];
    const struct vt_replay_site *site = &w->r->sites[origin->site];
    return entry->size == (l->size_context & VT_SIZE_MASK) &&
           origin->context == l->size_context >> 48 && entry->kind == vt_word_kind(l->word) &&
           (site->before || site->stack == vt_walk_stack(w, l->word));
}

/* Adds missing frees, then missing allocations. Blocks are freed before the driver memory around
 * them. */
void vt_walk_correct(struct vt_walk *w) {
    struct vt_replay *r = w->r;
    VT_SCOPED_MAP listed = {0};
    for (size_t i = 0; i < w->log->live_count; i++)
        vt_map_put(&listed, listed_key(&w->log->live[i]), (uint32_t)i);
    VT_SCOPED struct vt_event *gone = vt_alloc(r->live.used, sizeof *gone);
    const struct vt_address *entry;
    size_t count = 0;
    for (int blocks = 1; blocks >= 0; blocks--)
        for (size_t at = 0; (entry = vt_addresses_next(&r->live, &at));) {
            if ((vt_kind_space(entry->kind) == VT_SPACE_BLOCK) != blocks)
                continue;
            uint32_t known = vt_map_get(&listed, entry->key);
            if (known == VT_MAP_NONE || !is_listed(w, entry, &w->log->live[known]))
                gone[count++] = (struct vt_event){
                    .word = vt_word(VT_REC_FREE, entry->kind, 0, 0),
                    .when = vt_when(vt_replay_site_of(r, entry)->device, w->now),
                    .key = entry->key,
                };
        }
    for (size_t i = 0; i < count; i++)
        vt_walk_free(w, &gone[i]);
    for (size_t i = 0; i < w->log->live_count; i++) {
        const struct vt_log_live *l = &w->log->live[i];
        if (vt_addresses_find(&r->live, listed_key(l)))
            continue;
        struct vt_event alloc = {
            .word = (l->word & ~0xffull) | VT_REC_ALLOC,
            .when = vt_when(vt_word_type(l->word), w->now),
            .key = listed_key(l),
            .size_context = l->size_context,
        };
        vt_walk_alloc(w, &alloc);
        entry = vt_addresses_find(&r->live, listed_key(l));
        if (entry)
            vt_replay_site_of(r, entry)->unrecorded_count++;
    }
    for (unsigned d = 0; d < 256; d++)
        if (r->devices[d].driver.sure_peak < r->devices[d].driver.live_bytes)
            r->devices[d].driver.sure_peak = r->devices[d].driver.live_bytes;
    if (w->history)
        vt_history_corrected(w->history);
    r->corrected = true;
    w->correct_at = UINT64_MAX;
}

/* --- the window --- */

void vt_walk_begin_window(struct vt_walk *w) {
    struct vt_replay *r = w->r;
    vt_fails_drop(r);
    vt_owned_drop(r); /* snapshots refer to the old sites */
    r->snapshot_count = 0;
    vt_walk_restart_sites(w);
    r->sample_count = 0;
    memset(w->unsettled, 0, sizeof w->unsettled);
    r->fails_left_out = r->unknown_frees = r->failed_frees = r->replaced = 0;
    vt_fails_free(&w->fails);
    if (w->history)
        vt_history_restart(w->history);
    for (unsigned d = 0; d < 256; d++) {
        r->devices[d].driver = (struct vt_account){.used = r->devices[d].driver.used};
        r->devices[d].framework = (struct vt_account){.used = r->devices[d].framework.used};
    }
    r->host = (struct vt_account){.used = r->host.used};
    r->managed = (struct vt_account){.used = r->managed.used};
    struct vt_address *entry;
    for (size_t at = 0; (entry = vt_addresses_next(&r->live, &at));) {
        entry->sample = VT_NO_SAMPLE;
        struct vt_replay_site *site = vt_replay_site_of(r, entry);
        struct vt_account *account = vt_walk_account(r, site->layer, site->device);
        uint64_t size = entry->size;
        site->peak_bytes = site->live_bytes += size;
        site->live_count++;
        if (size > site->largest_bytes)
            site->largest_bytes = size;
        account->peak_bytes = account->live_bytes += size;
    }
    /* memory live now is the first peak of the window */
    for (size_t i = 0; i < r->site_count; i++) {
        struct vt_replay_site *site = &r->sites[i];
        struct vt_account *account = vt_walk_account(r, site->layer, site->device);
        account->peaks = 1;
        site->seen = 0;
    }
    for (unsigned d = 0; d < 256; d++) {
        r->devices[d].blocks_at_peak = r->devices[d].framework.live_bytes;
        r->devices[d].at_peak = true;
        r->devices[d].reported_peak = r->devices[d].reported_allocated;
    }
    if (r->segments)
        vt_segments_begin_window(r->segments, w->window.since);
    for (unsigned d = 0; d < 256; d++)
        r->devices[d].driver.peak_ticks = r->devices[d].framework.peak_ticks = w->window.since;
    r->host.peak_ticks = r->managed.peak_ticks = w->window.since;
}
