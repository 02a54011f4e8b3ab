/* SPDX-License-Identifier: MIT */
/*
 * Data for pictures, collected during the replay (see pictures.h): each site's bytes over time, the last
 * changes, and alarms. Maps are in picture_maps.c.
 *
 * A slot shows its highest moment. While memory fills, nearly every allocation is a new highest moment, so these must
 * not store all sites' bytes. Instead each increments a count, and a site remembers the count at its last change. If
 * the count differs when the site changes again, the site held the same bytes at the latest highest moments, and these
 * are stored first.
 */
#include "walk.h"

#include "vramtrace/text.h"

#include <stdlib.h>
#include <string.h>

void vt_pictures_open(struct vt_pictures *p, unsigned parts, int device) {
    *p = (struct vt_pictures){.parts = parts, .device = device};
}

void vt_pictures_close(struct vt_pictures *p) {
    for (uint32_t i = 0; i < p->map_count; i++)
        vt_picture_map_free(&p->maps[i]);
    free(p->sites);
    free(p->steps);
    free(p->maps);
    free(p->last);
    free(p->alarms);
    *p = (struct vt_pictures){0};
}

/* --- each site's bytes --- */

static void grow_sites(struct vt_pictures *p, const struct vt_replay *r) {
    p->sites = vt_realloc(p->sites, r->site_room, sizeof *p->sites);
    memset(p->sites + p->site_count, 0, (r->site_room - p->site_count) * sizeof *p->sites);
    p->site_count = r->site_room;
}

/* For a site that holds `bytes`, finds the steps in slots before `end` that are not stored yet: one for the slot of
 * its last change, and one for the slots after it. Returns their number. */
static uint32_t find_steps(const struct vt_picture_site *s, const struct vt_replay *r,
                           uint32_t index, uint64_t bytes, uint32_t end,
                           struct vt_picture_step steps[2]) {
    const struct vt_time_slot *slots = vt_slots_device(&r->slots, r->sites[index].device)->slots;
    uint32_t count = 0;
    if (s->slot >= end)
        return 0;
    uint64_t then = slots[s->slot].number > s->seen ? bytes : s->at_high;
    if (then != s->last_bytes)
        steps[count++] = (struct vt_picture_step){index, s->slot, then};
    if (bytes != then && s->slot + 1 < end)
        steps[count++] = (struct vt_picture_step){index, s->slot + 1, bytes};
    return count;
}

uint32_t vt_pictures_last_steps(const struct vt_pictures *p, const struct vt_replay *r,
                                uint32_t site, struct vt_picture_step steps[2]) {
    static const struct vt_picture_site none = {0};
    return find_steps(site < p->site_count ? &p->sites[site] : &none, r, site,
                      r->sites[site].live_bytes, r->slots.slot + 1, steps);
}

/* Before a site that holds `bytes` changes: stores its steps in finished slots. */
static void settle(struct vt_pictures *p, const struct vt_replay *r, uint32_t index,
                   uint64_t bytes) {
    struct vt_picture_site *s = &p->sites[index];
    struct vt_picture_step steps[2];
    uint32_t count = find_steps(s, r, index, bytes, r->slots.slot, steps);
    for (uint32_t i = 0; i < count; i++) {
        *VT_ADD(p->steps, p->step_count, p->step_room) = steps[i];
        s->last_bytes = steps[i].bytes;
    }
    s->slot = r->slots.slot;
    s->at_high = bytes;
    s->seen = vt_slots_device(&r->slots, r->sites[index].device)->highs;
}

bool vt_pictures_are_many(const struct vt_walk *w) {
    return w->pictures->step_count > VT_PICTURE_STEPS + w->r->site_count * VT_PICTURE_STEPS_SITE;
}

/* A merged pair shows the site's bytes in the higher slot. */
static void merge_steps(struct vt_pictures *p, const struct vt_replay *r) {
    VT_SCOPED size_t *last = vt_alloc(r->site_count, sizeof *last); /* by site: index + 1 */
    VT_SCOPED const struct vt_time_slot **of = vt_alloc(r->site_count, sizeof *of);
    size_t kept = 0;
    for (size_t i = 0; i < r->site_count; i++)
        of[i] = vt_slots_device(&r->slots, r->sites[i].device)->slots;
    for (size_t i = 0; i < p->step_count; i++) {
        struct vt_picture_step step = p->steps[i];
        const struct vt_time_slot *slots = of[step.site];
        bool first_stays = step.slot % 2 && !vt_slots_second(&slots[step.slot - 1]);
        step.slot = step.slot / 2 + first_stays;
        size_t before = last[step.site];
        if (before && p->steps[before - 1].slot == step.slot) {
            p->steps[before - 1].bytes = step.bytes;
            continue;
        }
        p->steps[kept] = step;
        last[step.site] = ++kept;
    }
    p->step_count = kept;
}

void vt_pictures_merge(struct vt_walk *w) {
    struct vt_pictures *p = w->pictures;
    vt_picture_maps_merge(w);
    if (!(p->parts & VT_TIMELINE_COURSES))
        return;
    if (p->site_count < w->r->site_count)
        grow_sites(p, w->r);
    for (uint32_t i = 0; i < w->r->site_count; i++) {
        settle(p, w->r, i, w->r->sites[i].live_bytes);
        p->sites[i].slot /= 2;
    }
    merge_steps(p, w->r);
}

/* --- the last changes, and alarms --- */

static void add_change(struct vt_pictures *p, struct vt_change change) {
    uint64_t kept = p->last_count++ - p->last_from;
    if (kept < VT_CHANGES)
        VT_GROW(p->last, kept, p->last_room);
    p->last[kept % VT_CHANGES] = change;
}

void vt_pictures_evict(struct vt_pictures *p) {
    free(p->last);
    p->last = NULL;
    p->last_room = 0;
    p->last_from = p->last_count;
    vt_picture_maps_evict(p);
}

/* The level at which the tracer prints an alarm for a device (preload/state/limit.c). */
static uint64_t alarm_of(const struct vt_log *log, unsigned device) {
    const char *text = NULL;
    uint64_t total = 0, bytes = 0;
    uint32_t share;
    for (size_t i = 0; i < log->variable_count && !text; i++)
        if (!strcmp(log->variables[i].name, "VRAMTRACE_ALARM"))
            text = log->variables[i].value;
    for (size_t i = 0; i < log->device_count; i++)
        if (log->devices[i].ordinal == device)
            total = log->devices[i].total_bytes;
    if (!text)
        return UINT64_MAX;
    if (!vt_text_read_share(text, &share))
        bytes = (uint64_t)((vt_text_wide)total * share / VT_TEXT_WHOLE);
    else if (vt_text_read_size(text, &bytes))
        return UINT64_MAX;
    return bytes ? bytes : UINT64_MAX;
}

static void note_alarm(struct vt_pictures *p, unsigned device, uint64_t ticks, uint64_t live) {
    if (p->alarm_count == VT_ALARMS) {
        p->alarms_left_out++;
        return;
    }
    *VT_ADD(p->alarms, p->alarm_count, p->alarm_room) = (struct vt_alarm){
        .device = device, .at = ticks, .live_bytes = live, .mark_bytes = p->devices[device].alarm};
}

/* --- the walk --- */

void vt_pictures_change(struct vt_walk *w, uint32_t index, const struct vt_address *entry,
                        bool alloc) {
    struct vt_pictures *p = w->pictures;
    const struct vt_replay_site *site = &w->r->sites[index];
    struct vt_slot_device *d = vt_slots_device(&w->r->slots, site->device);
    struct vt_picture_device *own = &p->devices[site->device];
    uint64_t size = entry->size;
    p->change_count++;
    own->changed_at = w->now;
    if (p->parts & VT_TIMELINE_COURSES) {
        if (index >= p->site_count)
            grow_sites(p, w->r);
        if (p->sites[index].seen != d->highs)
            settle(p, w->r, index, alloc ? site->live_bytes - size : site->live_bytes + size);
        vt_walk_note_high(w->r, d, w->now);
        if (alloc && site->layer != VT_LAYER_FRAMEWORK) {
            uint64_t live = vt_walk_driver_bytes(w->r, site->device);
            if (live >= own->alarm && live - size < own->alarm)
                note_alarm(p, site->device, w->now, live);
        }
    }
    if (p->parts & VT_TIMELINE_CHANGES &&
        (p->device < 0 || site->device == (unsigned)p->device || site->device == VT_DEVICE_HOST))
        add_change(p, (struct vt_change){.at = w->now,
                                         .address = vt_address_of(entry),
                                         .bytes = size,
                                         .site = index,
                                         .thread = w->tid,
                                         .layer = site->layer,
                                         .device = site->device,
                                         .alloc = alloc,
                                         .unplaced = entry->kind == VT_KIND_PHYSICAL});
    if (p->parts & VT_TIMELINE_MAPS)
        vt_picture_maps_changed(w, site, alloc);
}

void vt_pictures_mapping(struct vt_walk *w, const struct vt_rec_map *m,
                         const struct vt_address *physical, unsigned device) {
    struct vt_pictures *p = w->pictures;
    if (p->parts & VT_TIMELINE_CHANGES &&
        (p->device < 0 || !physical || device == (unsigned)p->device))
        add_change(p, (struct vt_change){.at = w->now,
                                         .address = m->address,
                                         .bytes = m->size,
                                         .site = physical ? vt_replay_site_index(w->r, physical)
                                                          : VT_NO_SITE,
                                         .thread = w->tid,
                                         .layer = VT_LAYER_DRIVER,
                                         .device = (uint8_t)device,
                                         .alloc = m->number,
                                         .mapping = true});
}

void vt_pictures_begin(struct vt_walk *w, struct vt_pictures *p) {
    struct vt_replay *r = w->r;
    w->pictures = p;
    grow_sites(p, r);
    for (uint32_t i = 0; i < r->site_count; i++) {
        p->sites[i].seen = vt_slots_device(&r->slots, r->sites[i].device)->highs;
        p->sites[i].at_high = r->sites[i].live_bytes;
    }
    for (unsigned d = 0; d < 256; d++)
        p->devices[d].alarm = alarm_of(w->log, d);
    vt_picture_maps_begin(w);
}

/* --- saving and loading --- */

static void state_steps(struct vt_pictures *p, const struct vt_replay *r, struct vt_state *s) {
    uint64_t sites = p->site_count < r->site_count ? p->site_count : r->site_count;
    size_t room;
    if (s->loading)
        VT_STATE_ARRAY(s, p->sites, p->site_count, room);
    else
        VT_STATE_ARRAY(s, p->sites, sites, room);
    vt_state_expect(s, p->site_count <= r->site_room, "no more sites than the replay has");
    VT_STATE_ARRAY(s, p->steps, p->step_count, p->step_room);
    VT_SCOPED uint32_t *last = s->loading ? vt_alloc(r->site_count, sizeof *last) : NULL;
    for (size_t i = 0; s->loading && i < p->step_count; i++) {
        const struct vt_picture_step *step = &p->steps[i];
        vt_state_within(s, step->slot, VT_COURSE_SLOTS, "slots");
        if (!vt_state_within(s, step->site, r->site_count, "sites"))
            break;
        vt_state_expect(s, step->slot >= last[step->site], "a site's steps by slot");
        last[step->site] = step->slot;
    }
}

static void state_last(struct vt_pictures *p, const struct vt_replay *r, struct vt_state *s) {
    uint64_t kept = p->last_count - p->last_from, count = kept < VT_CHANGES ? kept : VT_CHANGES;
    VT_STATE(s, p->last_count);
    VT_STATE(s, p->last_from);
    VT_STATE_ARRAY(s, p->last, count, p->last_room);
    kept = p->last_count - p->last_from;
    vt_state_expect(
        s, p->last_from <= p->last_count && count == (kept < VT_CHANGES ? kept : VT_CHANGES),
        "the last changes");
    VT_STATE_BOOLS(s, p->last, count, alloc);
    VT_STATE_BOOLS(s, p->last, count, segment);
    VT_STATE_BOOLS(s, p->last, count, unplaced);
    VT_STATE_BOOLS(s, p->last, count, mapping);
    for (size_t i = 0; s->loading && i < count; i++) {
        vt_state_within(s, p->last[i].layer, VT_LAYER_MANAGED + 1, "layers");
        if (p->last[i].site != VT_NO_SITE)
            vt_state_within(s, p->last[i].site, r->site_count, "sites");
    }
    if (s->bad)
        p->last_count = p->last_from = 0;
}

void vt_pictures_state(struct vt_pictures *p, const struct vt_replay *r, struct vt_state *s) {
    const unsigned parts = p->parts;
    const int device = p->device;
    VT_STATE_SECTION(s, "pictures", struct vt_pictures);
    if (s->loading)
        vt_pictures_close(p);
    VT_STATE(s, p->parts);
    VT_STATE(s, p->device);
    vt_state_expect(s, !(parts & ~p->parts) && (p->device < 0 || p->device == device),
                    "all requested pictures");
    p->parts = parts;
    p->device = device;
    state_steps(p, r, s);
    VT_STATE(s, p->devices);
    VT_STATE_BOOLS(s, p->devices, 256, peak_due);
    vt_state_bool(s, &p->peak_due);
    VT_STATE_ROWS(s, p->maps, p->map_count, p->map_room);
    for (uint32_t i = 0; i < p->map_count; i++)
        vt_picture_map_state(&p->maps[i], r, s);
    VT_STATE(s, p->between_at);
    VT_STATE(s, p->drawing_work);
    state_last(p, r, s);
    VT_STATE(s, p->change_count);
    VT_STATE_ARRAY(s, p->alarms, p->alarm_count, p->alarm_room);
    VT_STATE(s, p->alarms_left_out);
    for (uint32_t i = 0; s->loading && i < p->alarm_count; i++)
        vt_state_within(s, p->alarms[i].device, 256, "devices");
}
