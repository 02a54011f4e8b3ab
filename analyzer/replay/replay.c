/* SPDX-License-Identifier: MIT */
/*
 * The replay (see replay.h): walks the merged events once, and keeps the books of every site and
 * device.
 *
 * What a peak was made of, in one pass. A book counts its new peaks. A site remembers the count at
 * which it last changed: when it changes again and the count has moved on, then what the site holds
 * until now is what it held at the latest peak, and is noted. So nothing is copied when a peak
 * rises, event after event, as it does while a program fills its memory.
 */
#include "replay.h"

#include "log/log.h"
#include "replay_fail.h"

#include <stdlib.h>
#include <string.h>

/* What the walk itself needs. */
struct walk {
    struct vt_replay *r;
    const struct vt_log *log;
    struct vt_sites *ids;
    struct vt_map spots;   /* first word of an allocation, type replaced by device -> site: no stack
                              is hashed twice */
    struct vt_map by_id;   /* site id -> site */
    struct vt_map objects; /* handle and kind -> the object that has it now */
    struct vt_window window;
    bool window_waits;      /* its first event has not come yet */
    uint32_t *context_live; /* live allocations that its end would free, for each context number */
    uint64_t last_spot;
    uint32_t last_site;
    struct vt_history *history; /* NULL: not wanted */
    unsigned age_shift;
    uint64_t now;                        /* ticks of this event */
    uint64_t driver_bytes;               /* live, on all devices */
    uint64_t driver_high;                /* its highest since a phase last began or ended */
    uint64_t changed[VT_SAMPLE_DEVICES]; /* when the device's bytes last did; see on_sample */
    size_t sample;                       /* the next of log->samples */
    uint64_t sample_ticks;               /* its time; UINT64_MAX: there is none */
    uint32_t *open_phases;               /* indices */
    uint32_t open_count, open_room;
    uint32_t tid; /* whose event this is */
    struct vt_fails fails;
};

static struct vt_replay_book *book_of(struct vt_replay *r, unsigned layer, unsigned device) {
    switch (layer) {
    case VT_LAYER_HOST:
        return &r->host;
    case VT_LAYER_MANAGED:
        return &r->managed;
    case VT_LAYER_FRAMEWORK:
        return &r->devices[device].framework;
    default:
        return &r->devices[device].driver;
    }
}

/* The device's memory has changed: after what changed it is in the book. Blocks lie in driver
 * memory, so the peak that their `at_peak` is about is the device's: the most that was in use while
 * the driver layer stood there. (At the very moment when a segment makes the peak, the block that it
 * was made for is not yet in it.) */
static void rise(struct vt_replay *r, unsigned layer, unsigned device, uint64_t ticks) {
    struct vt_replay_book *book = book_of(r, layer, device);
    struct vt_replay_device *d = &r->devices[device];
    bool peak = book->live_bytes > book->peak_bytes;
    if (peak) {
        book->peak_bytes = book->live_bytes;
        book->peak_ticks = ticks;
    }
    if (layer == VT_LAYER_FRAMEWORK) {
        if (!d->at_peak || book->live_bytes <= d->blocks_at_peak)
            return;
    } else {
        book->peaks += peak;
        if (layer != VT_LAYER_DRIVER)
            return;
        d->at_peak = peak;
        if (!peak)
            return;
    }
    d->blocks_at_peak = d->framework.live_bytes;
    d->framework.peaks++;
}

/* Host and managed memory is no device's. */
static bool has_device(unsigned layer) {
    return layer == VT_LAYER_DRIVER || layer == VT_LAYER_FRAMEWORK;
}

/* To be called before a site's live bytes change. */
static inline void note_peak(struct vt_replay_site *site, const struct vt_replay_book *book) {
    if (site->seen != book->peaks) {
        site->bytes_at_peak = site->live_bytes;
        site->count_at_peak = site->live_count;
        site->seen = book->peaks;
    }
}

/* --- sites --- */

static uint32_t add_site(struct walk *w, uint64_t id, uint32_t stack, unsigned hook, unsigned layer,
                         unsigned device) {
    struct vt_replay *r = w->r;
    VT_GROW(r->sites, r->site_count, r->site_room);
    r->sites[r->site_count] = (struct vt_replay_site){
        .id = id,
        .stack = stack,
        .hook = (uint16_t)hook,
        .layer = (uint8_t)layer,
        .device = (uint8_t)device,
        .first_ticks = VT_TICKS_MASK,
        /* at every peak so far it held nothing */
        .seen = book_of(r, layer, device)->peaks,
    };
    vt_map_put(&w->by_id, id, (uint32_t)r->site_count);
    return (uint32_t)r->site_count++;
}

static uint32_t stack_index(const struct walk *w, uint64_t word) {
    const struct vt_log_stack *stack = vt_log_stack(w->log, vt_word_high(word));
    return stack ? (uint32_t)(stack - w->log->stacks) : VT_NO_STACK;
}

/* The site of an allocation, made when it is the first there. */
static uint32_t site_of(struct walk *w, uint64_t word, unsigned device) {
    uint64_t spot = (word & ~0xffull) | device;
    if (spot == w->last_spot)
        return w->last_site;
    uint32_t site = vt_map_get(&w->spots, spot);
    if (site == VT_MAP_NONE) {
        unsigned kind = vt_word_kind(word), layer = vt_kind_layer(kind), hook = vt_word_hook(word);
        unsigned of = has_device(layer) ? device : VT_DEVICE_HOST;
        uint32_t stack = stack_index(w, word);
        uint64_t id = vt_sites_id(w->ids, stack, hook, layer, of);
        site = vt_map_get(&w->by_id, id);
        if (site == VT_MAP_NONE)
            site = add_site(w, id, stack, hook, layer, of);
        w->r->sites[site].pooled |= kind == VT_KIND_POOL;
        vt_map_put(&w->spots, spot, site);
    }
    w->last_spot = spot;
    w->last_site = site;
    return site;
}

/* --- samples --- */

/* Slot of a device byte in vt_replay_sample.tracked; VT_SAMPLE_DEVICES: none. */
static unsigned sample_slot(unsigned device) {
    return device == VT_DEVICE_UNKNOWN      ? VT_SAMPLE_DEVICES - 1
           : device < VT_SAMPLE_DEVICES - 1 ? device
                                            : VT_SAMPLE_DEVICES;
}

/* A device's bytes are about to change, at w->now. A sample that ended just before may have seen
 * the change already (an allocation is stamped when it is done) or not yet (a free is stamped
 * before): "just" is as long again as the question took. */
static void unsettle_samples(struct walk *w, unsigned device) {
    unsigned slot = sample_slot(device);
    if (slot == VT_SAMPLE_DEVICES)
        return;
    w->changed[slot] = w->now;
    for (size_t i = w->r->sample_count; i-- > 0;) {
        struct vt_replay_sample *sample = &w->r->samples[i];
        if (w->now - sample->ticks > 2 * (sample->ticks - sample->began))
            break;
        sample->moved |= 1u << slot;
    }
}

static void on_sample(struct walk *w, const struct vt_rec_sample *s) {
    struct vt_replay *r = w->r;
    uint64_t ticks = vt_when_ticks(s->when);
    if (s->began > ticks)
        return;
    VT_GROW(r->samples, r->sample_count, r->sample_room);
    struct vt_replay_sample *sample = &r->samples[r->sample_count++];
    *sample = (struct vt_replay_sample){
        .began = s->began,
        .ticks = ticks,
        .used_bytes = s->used_bytes,
        .free_bytes = s->free_bytes,
        .own_bytes = s->own_bytes,
        .others_bytes = s->others_bytes,
        .gpu = s->gpu,
    };
    for (unsigned d = 0; d < VT_SAMPLE_DEVICES; d++) {
        unsigned device = d == VT_SAMPLE_DEVICES - 1 ? VT_DEVICE_UNKNOWN : d;
        sample->tracked[d] = r->devices[device].driver.live_bytes;
        if (w->changed[d] && w->changed[d] + (ticks - s->began) >= s->began)
            sample->moved |= 1u << d;
    }
}

/* --- the books --- */

/* Blocks are in the books of where they are: from their first on, driver memory is followed by
 * address. */
static void begin_framework(struct walk *w) {
    struct vt_replay *r = w->r;
    r->segments = vt_segments_open();
    for (size_t i = 0; i <= r->live.mask; i++) {
        const struct vt_address *e = &r->live.slots[i];
        if (e->key && vt_kind_space(e->kind) == VT_SPACE_DEVICE &&
            vt_kind_layer(e->kind) == VT_LAYER_DRIVER)
            vt_segments_add(r->segments, vt_address_of(e), e->size_context & VT_SIZE_MASK, e->key,
                            r->sites[e->site].device, false, 0);
    }
}

static void take_off(struct walk *w, const struct vt_address *entry) {
    struct vt_replay *r = w->r;
    struct vt_replay_site *site = &r->sites[entry->site];
    uint64_t size = entry->size_context & VT_SIZE_MASK;
    struct vt_replay_book *book = book_of(r, site->layer, site->device);
    note_peak(site, book_of(r, site->layer, site->device));
    if (w->history)
        vt_history_giving(w->history, entry->site, site->live_bytes, site->live_count);
    site->live_bytes -= size;
    site->live_count--;
    site->free_count++;
    uint32_t age = (uint32_t)(w->now >> w->age_shift) - entry->born;
    site->lives[age ? 32 - __builtin_clz(age & 0xffffff) : 0]++;
    if (site->layer == VT_LAYER_DRIVER) {
        w->driver_bytes -= size;
        unsettle_samples(w, site->device);
    }
    if (w->history) {
        vt_history_level(w->history, entry->site, site->live_bytes, site->live_count,
                         site->alloc_count);
        vt_history_freed(w->history, entry->site, entry->sample, size);
    }
    book->live_bytes -= size;
    book->live_count--;
    book->free_count++;
    if (site->layer == VT_LAYER_DRIVER)
        r->devices[site->device].at_peak = false;
    if (vt_kind_owner(entry->kind) == VT_OWNER_CONTEXT)
        w->context_live[entry->size_context >> 48]--;
}

/* A block's driver memory went while it was live. */
static void lose_block(void *context, uint64_t address) {
    struct walk *w = context;
    struct vt_address *entry =
        vt_addresses_find(&w->r->live, vt_address_key(address, VT_SPACE_BLOCK));
    if (!entry->key)
        return;
    w->r->lost_blocks++;
    if (w->history)
        vt_history_event(w->history, w->now, false);
    take_off(w, entry);
    vt_addresses_remove(&w->r->live, entry);
}

/* A block: the device that it is on, whatever the framework says. */
static unsigned place_block(struct walk *w, const struct vt_rec_alloc *a) {
    struct vt_replay *r = w->r;
    unsigned said = vt_when_device(a->when);
    uint64_t size = a->size_context & VT_SIZE_MASK;
    struct vt_replay_device *d = &r->devices[said];
    bool first;
    d->blocks_bytes += size;
    d->said_allocated += size;
    if (d->said && d->said_allocated > d->said_peak)
        d->said_peak = d->said_allocated;
    if (!r->segments)
        begin_framework(w);
    const struct vt_segment *segment =
        vt_segments_alloc(r->segments, a->address, size, vt_when_ticks(a->when), &first);
    if (!segment) {
        r->strays++;
        return said;
    }
    const struct vt_address *driver = vt_addresses_find(&r->live, segment->key);
    if (first && driver->key) {
        r->sites[driver->site].segments = true;
        r->sites[driver->site].segments_hook = (uint16_t)vt_word_hook(a->word);
    }
    return segment->device;
}

/* Driver memory that came: blocks may come to lie in it; and what failed before on this thread did
 * not stay so. */
static void on_driver_alloc(struct walk *w, const struct vt_rec_alloc *a, uint64_t key,
                            unsigned device) {
    struct vt_replay *r = w->r;
    uint64_t size = a->size_context & VT_SIZE_MASK, ticks = vt_when_ticks(a->when);
    if (r->segments && vt_kind_space(vt_word_kind(a->word)) == VT_SPACE_DEVICE)
        vt_segments_add(r->segments, a->address, size, key, device, false, ticks);
    if (w->fails.pending)
        vt_fails_succeeded(&w->fails, r, w->tid, size, ticks);
}

static void on_alloc(struct walk *w, const struct vt_rec_alloc *a) {
    struct vt_replay *r = w->r;
    unsigned kind = vt_word_kind(a->word), layer = vt_kind_layer(kind);
    unsigned device = vt_when_device(a->when);
    uint64_t size = a->size_context & VT_SIZE_MASK;
    if (w->history)
        vt_history_event(w->history, w->now, true);
    uint64_t key = vt_address_key(a->address, vt_kind_space(kind));
    if (layer == VT_LAYER_FRAMEWORK) {
        if (r->segments)
            vt_segments_free(r->segments, a->address, vt_when_ticks(a->when));
        device = place_block(w, a);
    } else if (layer == VT_LAYER_DRIVER && (r->segments || w->fails.pending)) {
        on_driver_alloc(w, a, key, device);
    }
    uint32_t index = site_of(w, a->word, device);
    vt_addresses_reserve(&r->live);
    struct vt_address *entry = vt_addresses_find(&r->live, key);
    if (entry->key) {
        r->replaced++;
        take_off(w, entry);
    } else {
        r->live.used++;
    }
    *entry = (struct vt_address){key,
                                 a->size_context,
                                 index,
                                 kind & 0xff,
                                 (uint32_t)(w->now >> w->age_shift) & 0xffffff,
                                 VT_NO_SAMPLE};
    struct vt_replay_site *site = &r->sites[index];
    struct vt_replay_book *book = book_of(r, layer, site->device);
    note_peak(site, book_of(r, layer, site->device));
    uint64_t ticks = vt_when_ticks(a->when);
    site->live_bytes += size;
    site->live_count++;
    site->allocated_bytes += size;
    if (site->live_bytes > site->peak_bytes)
        site->peak_bytes = site->live_bytes;
    if (!site->alloc_count++)
        site->first_ticks = ticks;
    site->last_ticks = ticks;
    if (w->history) {
        vt_history_level(w->history, index, site->live_bytes, site->live_count, site->alloc_count);
        entry->sample = vt_history_kept(w->history, index, size);
    }
    book->used = true;
    book->live_bytes += size;
    book->live_count++;
    book->allocated_bytes += size;
    book->alloc_count++;
    if (layer == VT_LAYER_DRIVER) {
        unsettle_samples(w, site->device);
        w->driver_bytes += size;
        if (w->driver_bytes > w->driver_high)
            w->driver_high = w->driver_bytes;
    }
    rise(r, layer, site->device, ticks);
    if (vt_kind_owner(kind) == VT_OWNER_CONTEXT)
        w->context_live[a->size_context >> 48]++;
}

static void on_free(struct walk *w, const struct vt_rec_free *f) {
    struct vt_replay *r = w->r;
    unsigned space = vt_kind_space(vt_word_kind(f->word));
    uint64_t ticks = vt_when_ticks(f->when);
    if (r->segments && space == VT_SPACE_DEVICE)
        vt_segments_remove(r->segments, f->address, ticks, lose_block, w);
    if (r->segments && space == VT_SPACE_BLOCK)
        vt_segments_free(r->segments, f->address, ticks);
    struct vt_address *entry = vt_addresses_find(&r->live, vt_address_key(f->address, space));
    if (!entry->key) {
        r->unknown_frees++;
        return;
    }
    if (w->history)
        vt_history_event(w->history, w->now, false);
    if (space == VT_SPACE_BLOCK) {
        struct vt_replay_device *said = &r->devices[vt_when_device(f->when)];
        said->blocks_bytes -= entry->size_context & VT_SIZE_MASK;
        said->said_allocated -= entry->size_context & VT_SIZE_MASK;
    }
    take_off(w, entry);
    vt_addresses_remove(&r->live, entry);
}

static void on_map(struct walk *w, const struct vt_rec_map *m) {
    struct vt_replay *r = w->r;
    uint64_t key = vt_address_key(m->number, VT_SPACE_OBJECT), ticks = vt_when_ticks(m->when);
    if (!r->segments)
        begin_framework(w);
    if (!m->number) {
        vt_segments_unmap(r->segments, m->address, m->address + m->size, ticks, lose_block, w);
        return;
    }
    const struct vt_address *physical = vt_addresses_find(&r->live, key);
    unsigned device = physical->key ? r->sites[physical->site].device : vt_when_device(m->when);
    vt_segments_add(r->segments, m->address, m->size, key, device, true, ticks);
}

/* A context's end. Entries move when others go, so first all are found, then they are taken out. */
static void on_bulk(struct walk *w, const struct vt_rec_bulk *b) {
    struct vt_addresses *live = &w->r->live;
    if (b->teardown || b->context >= VT_CONTEXT_UNKNOWN || !w->context_live[b->context])
        return;
    uint64_t *keys = vt_alloc(w->context_live[b->context], sizeof *keys);
    size_t count = 0;
    for (size_t i = 0; i <= live->mask; i++) {
        const struct vt_address *entry = &live->slots[i];
        if (entry->key && entry->size_context >> 48 == b->context &&
            vt_kind_owner(entry->kind) == VT_OWNER_CONTEXT)
            keys[count++] = entry->key;
    }
    for (size_t i = 0; i < count; i++) {
        struct vt_address *entry = vt_addresses_find(live, keys[i]);
        if (w->r->segments && vt_kind_space(entry->kind) == VT_SPACE_DEVICE) {
            vt_segments_remove(w->r->segments, vt_address_of(entry), vt_when_ticks(b->when),
                               lose_block, w);
            entry = vt_addresses_find(live, keys[i]); /* blocks that went with it moved others */
        }
        w->r->bulk_bytes += entry->size_context & VT_SIZE_MASK;
        if (w->history)
            vt_history_event(w->history, w->now, false);
        take_off(w, entry);
        vt_addresses_remove(live, entry);
    }
    free(keys);
}

/* The refusal counts in its layer's book, whatever the reason. */
static void on_fail(struct walk *w, const struct vt_rec_fail *f) {
    struct vt_replay_book *book =
        book_of(w->r, vt_kind_layer(vt_word_kind(f->word)), vt_when_device(f->when));
    book->used = true;
    book->failed_count++;
    vt_fails_refused(&w->fails, w->r, w->log, w->tid, f);
}

static void on_cacheinfo(struct walk *w, const struct vt_rec_cacheinfo *c) {
    struct vt_replay_device *d = &w->r->devices[vt_when_device(c->when)];
    d->said_apart += c->allocated != d->blocks_bytes;
    d->said = true;
    d->said_allocated = c->allocated;
    d->said_reserved = c->reserved;
    if (c->allocated > d->said_peak)
        d->said_peak = c->allocated;
}

static void on_object(struct walk *w, const struct vt_rec_object *o) {
    struct vt_replay *r = w->r;
    unsigned kind = vt_word_kind(o->word);
    /* a moment in an object's life, or none at all: neither made nor destroyed */
    if (kind == VT_OBJECT_LIMIT || o->flags & (VT_OBJECT_MAPPED | VT_OBJECT_UNMAPPED))
        return;
    uint64_t key = vt_mix(o->handle) + kind;
    uint32_t index = vt_map_get(&w->objects, key);
    if (index == VT_MAP_NONE || !(o->flags & VT_OBJECT_DESTROYED)) {
        index = (uint32_t)r->object_count;
        VT_GROW(r->objects, r->object_count, r->object_room);
        r->objects[r->object_count++] = (struct vt_replay_object){
            .handle = o->handle,
            .created = VT_TICKS_MASK,
            .destroyed = VT_TICKS_MASK,
            .stack = stack_index(w, o->word),
            .kind = (uint8_t)kind,
            .device = (uint8_t)vt_when_device(o->when),
        };
        vt_map_put(&w->objects, key, index);
    }
    struct vt_replay_object *object = &r->objects[index];
    *(o->flags & VT_OBJECT_DESTROYED ? &object->destroyed : &object->created) =
        vt_when_ticks(o->when);
}

/* --- phases --- */

/* Before the set of open phases changes: all that are open have seen this high level. */
static void settle_phases(struct walk *w) {
    for (uint32_t i = 0; i < w->open_count; i++) {
        struct vt_replay_phase *phase = &w->r->phases[w->open_phases[i]];
        if (w->driver_high > phase->peak_bytes)
            phase->peak_bytes = w->driver_high;
    }
    w->driver_high = w->driver_bytes;
}

static void on_phase(struct walk *w, const struct vt_rec_phase *p) {
    unsigned what = vt_word_kind(p->word);
    uint32_t index = p->range ? vt_map_get(&w->log->phase_ranges, p->range) : VT_MAP_NONE;
    if (index == VT_MAP_NONE)
        return;
    struct vt_replay_phase *phase = &w->r->phases[index];
    settle_phases(w);
    if (what == VT_PHASE_PUSH || what == VT_PHASE_START) {
        if (phase->seen)
            return;
        *phase = (struct vt_replay_phase){.seen = true,
                                          .live_at_start = w->driver_bytes,
                                          .live_at_end = w->driver_bytes,
                                          .peak_bytes = w->driver_bytes};
        VT_GROW(w->open_phases, w->open_count, w->open_room);
        w->open_phases[w->open_count++] = index;
        return;
    }
    for (uint32_t i = w->open_count; i-- > 0;) {
        if (w->open_phases[i] != index)
            continue;
        phase->ended = true;
        phase->live_at_end = w->driver_bytes;
        w->open_phases[i] = w->open_phases[--w->open_count];
        return;
    }
}

/* Those still open end with the log. */
static void end_phases(struct walk *w) {
    settle_phases(w);
    for (uint32_t i = 0; i < w->open_count; i++)
        w->r->phases[w->open_phases[i]].live_at_end = w->driver_bytes;
    free(w->open_phases);
}

/* --- the window --- */

/* What was live before the window is one site for each layer and device. */
static uint32_t before_site(struct walk *w, const struct vt_replay_site *old) {
    uint64_t id = vt_sites_id(w->ids, VT_NO_STACK, 0, old->layer, old->device);
    uint32_t index = vt_map_get(&w->by_id, id);
    if (index == VT_MAP_NONE) {
        index = add_site(w, id, VT_NO_STACK, 0, old->layer, old->device);
        w->r->sites[index].before = true;
        w->r->sites[index].pooled = old->pooled;
    }
    w->r->sites[index].segments |= old->segments;
    w->r->sites[index].segments_hook |= old->segments_hook;
    return index;
}

/* The books begin anew, with what is live carried over. */
static void begin_window(struct walk *w) {
    struct vt_replay *r = w->r;
    struct vt_replay_site *old_sites = r->sites;
    free(r->fails);
    r->sites = NULL;
    r->fails = NULL;
    r->site_count = r->site_room = r->fail_count = r->fail_room = 0;
    r->sample_count = 0;
    r->fails_left_out = r->unknown_frees = r->failed_frees = r->replaced = r->bulk_bytes = 0;
    vt_map_free(&w->spots);
    vt_map_free(&w->by_id);
    vt_fails_free(&w->fails);
    w->last_spot = UINT64_MAX;
    if (w->history)
        vt_history_restart(w->history);
    for (unsigned d = 0; d < 256; d++) {
        r->devices[d].driver = (struct vt_replay_book){.used = r->devices[d].driver.used};
        r->devices[d].framework = (struct vt_replay_book){.used = r->devices[d].framework.used};
    }
    r->host = (struct vt_replay_book){.used = r->host.used};
    r->managed = (struct vt_replay_book){.used = r->managed.used};
    for (size_t i = 0; i <= r->live.mask; i++) {
        struct vt_address *entry = &r->live.slots[i];
        if (!entry->key)
            continue;
        entry->site = before_site(w, &old_sites[entry->site]);
        entry->sample = VT_NO_SAMPLE;
        struct vt_replay_site *site = &r->sites[entry->site];
        struct vt_replay_book *book = book_of(r, site->layer, site->device);
        uint64_t size = entry->size_context & VT_SIZE_MASK;
        site->peak_bytes = site->live_bytes += size;
        site->live_count++;
        book->peak_bytes = book->live_bytes += size;
        book->live_count++;
    }
    /* the window opens on a peak, made of just this */
    for (size_t i = 0; i < r->site_count; i++) {
        struct vt_replay_site *site = &r->sites[i];
        struct vt_replay_book *book = book_of(r, site->layer, site->device);
        book->peaks = 1;
        site->seen = 0;
    }
    for (unsigned d = 0; d < 256; d++) {
        r->devices[d].blocks_at_peak = r->devices[d].framework.live_bytes;
        r->devices[d].at_peak = true;
        r->devices[d].said_peak = r->devices[d].said_allocated;
    }
    if (r->segments)
        vt_segments_begin_window(r->segments, w->window.since);
    for (unsigned d = 0; d < 256; d++)
        r->devices[d].driver.peak_ticks = r->devices[d].framework.peak_ticks = w->window.since;
    r->host.peak_ticks = r->managed.peak_ticks = w->window.since;
    free(old_sites);
}

/* --- the walk --- */

/* How many events ahead the live table is fetched: about the time of one miss. */
enum { AHEAD = 16 };

static void open_window(struct walk *w) {
    w->window_waits = false;
    begin_window(w);
}

/* What NVML said up to a time. */
static void take_samples(struct walk *w, uint64_t until) {
    while (w->sample_ticks <= until) {
        if (w->window_waits && w->sample_ticks >= w->window.since)
            open_window(w);
        on_sample(w, &w->log->samples[w->sample++]);
        w->sample_ticks = w->sample < w->log->sample_count
                              ? vt_when_ticks(w->log->samples[w->sample].when)
                              : UINT64_MAX;
    }
}

static void on_event(struct walk *w, const uint8_t *record) {
    /* the record's bytes, copied: aligned, and the compiler keeps them in registers */
    union {
        uint64_t word[2];
        struct vt_rec_alloc alloc;
        struct vt_rec_free free;
        struct vt_rec_fail fail;
        struct vt_rec_bulk bulk;
        struct vt_rec_meminfo meminfo;
        struct vt_rec_object object;
        struct vt_rec_phase phase;
        struct vt_rec_map map;
        struct vt_rec_cacheinfo cacheinfo;
        struct vt_rec_cacheoom cacheoom;
    } u;
    memcpy(u.word, record, sizeof u.word);
    uint64_t now = vt_when_ticks(u.word[1]);
    if (now > w->sample_ticks)
        take_samples(w, now - 1);
    w->now = now;
    if (w->window_waits && now >= w->window.since)
        open_window(w);
    w->r->events++;
    switch (vt_word_type(u.word[0])) {
    case VT_REC_ALLOC:
        memcpy(&u, record, sizeof u.alloc);
        on_alloc(w, &u.alloc);
        break;
    case VT_REC_FREE:
        memcpy(&u, record, sizeof u.free);
        on_free(w, &u.free);
        break;
    case VT_REC_FAIL:
        memcpy(&u, record, sizeof u.fail);
        on_fail(w, &u.fail);
        break;
    case VT_REC_FREE_FAIL:
        w->r->failed_frees++;
        break;
    case VT_REC_BULK:
        memcpy(&u, record, sizeof u.bulk);
        on_bulk(w, &u.bulk);
        break;
    case VT_REC_MEMINFO:
        memcpy(&u, record, sizeof u.meminfo);
        w->r->devices[vt_when_device(u.meminfo.when)].driver.used = true;
        vt_fails_asked(&w->fails, w->r, &u.meminfo);
        break;
    case VT_REC_OBJECT:
        memcpy(&u, record, sizeof u.object);
        on_object(w, &u.object);
        break;
    case VT_REC_PHASE:
        memcpy(&u, record, sizeof u.phase);
        on_phase(w, &u.phase);
        break;
    case VT_REC_MAP:
        memcpy(&u, record, sizeof u.map);
        on_map(w, &u.map);
        break;
    case VT_REC_CACHEINFO:
        memcpy(&u, record, sizeof u.cacheinfo);
        on_cacheinfo(w, &u.cacheinfo);
        break;
    case VT_REC_CACHEOOM:
        memcpy(&u, record, sizeof u.cacheoom);
        vt_fails_given_up(&w->fails, w->r, w->log, w->tid, &u.cacheoom);
        break;
    }
}

static void prefetch(const struct vt_addresses *live, const uint8_t *record) {
    uint64_t word, address;
    memcpy(&word, record, sizeof word);
    memcpy(&address, record + offsetof(struct vt_rec_free, address), sizeof address);
    vt_addresses_prefetch(live, vt_address_key(address, vt_kind_space(vt_word_kind(word))));
}
static_assert(offsetof(struct vt_rec_free, address) == offsetof(struct vt_rec_alloc, address),
              "prefetch reads either");

static int compare_words(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* What the exit scan found no pointer to. An address space, or an allocation, that is not known any
 * more says nothing; nor does one that is said again, whose end the tracer did not see. */
static void take_lost(struct vt_replay *r, const struct vt_log *log) {
    size_t count = log->scan.word ? log->lost_count : 0;
    uint64_t *lost = vt_alloc(count, sizeof *lost);
    if (count) {
        memcpy(lost, log->lost, count * sizeof *lost);
        qsort(lost, count, sizeof *lost, compare_words);
    }
    for (size_t i = 0; i < count; i++) {
        unsigned space = vt_lost_space(lost[i]);
        if ((i && lost[i] == lost[i - 1]) || space >= VT_SPACES)
            continue;
        const struct vt_address *entry =
            vt_addresses_find(&r->live, vt_address_key(vt_lost_address(lost[i]), space));
        if (entry->key)
            r->sites[entry->site].lost_count++;
    }
    free(lost);
}

void vt_replay_run_noting(const struct vt_log *log, struct vt_sites *ids, struct vt_window window,
                          struct vt_history *history, struct vt_replay *replay) {
    struct walk w = {.r = replay,
                     .log = log,
                     .ids = ids,
                     .window = window,
                     .last_spot = UINT64_MAX,
                     .sample_ticks =
                         log->sample_count ? vt_when_ticks(log->samples[0].when) : UINT64_MAX,
                     .history = history};
    struct vt_batch batch;
    memset(replay, 0, sizeof *replay);
    replay->phases = vt_alloc(log->phase_count, sizeof *replay->phases);
    while (log->last_ticks >> w.age_shift >= 1 << 24)
        w.age_shift++;
    replay->age_unit = 1ull << w.age_shift;
    w.window_waits = window.since > 0;
    for (unsigned d = 0; d < 256; d++)
        replay->devices[d].untracked_least = UINT64_MAX;
    w.context_live = vt_alloc(VT_CONTEXT_UNKNOWN + 1, sizeof *w.context_live);
    vt_addresses_start(&replay->live, 12);
    struct vt_merge *merge = vt_merge_open(log, window.until);
    while (vt_merge_next(merge, &batch)) {
        uint32_t seen = batch.count + batch.ahead;
        if (history && (w.tid != batch.tid || !history->thread_count))
            vt_history_thread(history, batch.tid);
        w.tid = batch.tid;
        for (uint32_t i = 0; i < batch.count; i++) {
            if (i + AHEAD < seen)
                prefetch(&replay->live, batch.bytes + batch.offsets[i + AHEAD]);
            on_event(&w, batch.bytes + batch.offsets[i]);
        }
    }
    vt_merge_close(merge);
    take_samples(&w, window.until < log->frontier ? window.until : log->frontier);
    if (w.window_waits)
        begin_window(&w);
    if (window.until == VT_TICKS_MASK)
        take_lost(replay, log);
    for (size_t i = 0; i < replay->site_count; i++) {
        struct vt_replay_site *site = &replay->sites[i];
        note_peak(site, book_of(replay, site->layer, site->device));
    }
    end_phases(&w);
    free(w.context_live);
    vt_map_free(&w.spots);
    vt_map_free(&w.by_id);
    vt_map_free(&w.objects);
    vt_fails_free(&w.fails);
}

void vt_replay_run(const struct vt_log *log, struct vt_sites *ids, struct vt_window window,
                   struct vt_replay *replay) {
    vt_replay_run_noting(log, ids, window, NULL, replay);
}

void vt_replay_free(struct vt_replay *replay) {
    free(replay->sites);
    free(replay->fails);
    free(replay->samples);
    free(replay->objects);
    free(replay->phases);
    vt_segments_close(replay->segments);
    free(replay->live.slots);
    *replay = (struct vt_replay){0};
}
