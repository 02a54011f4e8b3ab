/* SPDX-License-Identifier: MIT */
/*
 * Time slots (see slots.h). The walk stops only at the end of a slot, so slots take no time per event.
 */
#include "walk.h"

#include <stdlib.h>

void vt_walk_note_high(struct vt_replay *r, struct vt_slot_device *d, uint64_t ticks) {
    struct vt_time_slot *slot = &d->slots[r->slots.slot];
    uint64_t driver = vt_walk_driver_bytes(r, d->device);
    uint64_t blocks = r->devices[d->device].framework.live_bytes;
    bool begins = slot->number == 0;
    if (!begins && (driver < slot->driver || (driver == slot->driver && blocks <= slot->blocks)))
        return;
    slot->at = ticks;
    slot->driver = driver;
    slot->blocks = blocks;
    slot->number = ++d->highs;
}

/* Begins the current slot, with the live bytes. */
static void open_slot(struct vt_replay *r) {
    struct vt_slots *s = &r->slots;
    for (uint32_t i = 0; i < s->device_count; i++) {
        s->devices[i].slots[s->slot] = (struct vt_time_slot){0};
        vt_walk_note_high(r, &s->devices[i], vt_slots_begin_of(s, s->slot));
    }
}

static void close_slot(struct vt_replay *r) {
    struct vt_slots *s = &r->slots;
    for (uint32_t i = 0; i < s->device_count; i++)
        s->devices[i].slots[s->slot].end = vt_walk_driver_bytes(r, s->devices[i].device);
}

static void close_and_go_on(struct vt_replay *r) {
    close_slot(r);
    r->slots.slot++;
}

/* Merges the s->slot slots so far, an even number, all closed, in pairs. */
static void merge_slots(struct vt_walk *w) {
    struct vt_slots *s = &w->r->slots;
    if (w->pictures)
        vt_pictures_merge(w);
    s->slot /= 2;
    s->shift++;
    for (uint32_t i = 0; i < s->device_count; i++) {
        struct vt_time_slot *slots = s->devices[i].slots;
        for (uint32_t k = 0; k < s->slot; k++) {
            uint64_t end = slots[2 * k + 1].end;
            slots[k] = slots[2 * k + vt_slots_second(&slots[2 * k])];
            slots[k].end = end;
        }
    }
}

void vt_walk_pass_slots(struct vt_walk *w, uint64_t now) {
    struct vt_slots *s = &w->r->slots;
    uint64_t past = vt_beyond(now, s->begin);
    close_and_go_on(w->r);
    while (past >> s->shift >= VT_COURSE_SLOTS) {
        if (s->slot % 2) {
            open_slot(w->r);
            close_and_go_on(w->r);
        }
        merge_slots(w);
    }
    while (s->slot % 2 == 0 && w->pictures && vt_pictures_are_many(w))
        merge_slots(w);
    for (; s->slot < past >> s->shift; close_and_go_on(w->r))
        open_slot(w->r);
    open_slot(w->r);
    w->slot_end = vt_slots_begin_of(s, s->slot + 1) - 1;
    if (w->pictures)
        vt_picture_maps_pass(w);
}

void vt_walk_begin_slots(struct vt_walk *w) {
    struct vt_slots *s = &w->r->slots;
    s->begin = w->window.since;
    w->slot_end = s->begin;
    open_slot(w->r);
}

/* The end of the run, as far as it is known. */
static uint64_t run_end(const struct vt_log *log, uint64_t until) {
    const struct vt_log_header *h = &log->header;
    uint64_t end = log->last_ticks;
    if (h->exit_kind != VT_EXIT_NONE && h->exit_ticks > end && h->exit_ticks < VT_TICKS_MASK)
        end = h->exit_ticks;
    return until < end ? until : end;
}

void vt_walk_end_slots(struct vt_walk *w) {
    struct vt_slots *s = &w->r->slots;
    s->end = run_end(w->log, w->window.until);
    if (s->end > w->slot_end)
        vt_walk_pass_slots(w, s->end);
    close_slot(w->r);
}

void vt_walk_add_device(struct vt_replay *r, unsigned device) {
    struct vt_slots *s = &r->slots;
    if (s->device_of[device])
        return;
    struct vt_slot_device *d = VT_ADD(s->devices, s->device_count, s->device_room);
    *d = (struct vt_slot_device){.device = device,
                                 .slots = vt_alloc(VT_COURSE_SLOTS, sizeof *d->slots)};
    s->device_of[device] = (uint16_t)s->device_count;
    vt_walk_note_high(r, d, vt_slots_begin_of(s, s->slot));
}

/* --- levels --- */

static uint64_t end_of(const struct vt_slots *s, uint32_t index) {
    uint64_t span = s->end - s->begin, parts = index + 1;
    return s->begin + span / VT_REPLAY_LEVELS * parts +
           span % VT_REPLAY_LEVELS * parts / VT_REPLAY_LEVELS;
}

struct vt_levels vt_slots_levels(const struct vt_replay *r, struct vt_clock clock,
                                 unsigned device) {
    const struct vt_slots *s = &r->slots;
    const struct vt_account *account = &r->devices[device].driver;
    struct vt_levels levels = {.from = vt_clock_ns(clock, s->begin),
                               .to = vt_clock_ns(clock, s->end > s->begin ? s->end : s->begin)};
    if (s->end <= s->begin || !account->peak_bytes || !s->device_of[device])
        return levels;
    const struct vt_time_slot *slots = vt_slots_device(s, device)->slots;
    uint64_t peak_at = account->peak_ticks > s->begin ? account->peak_ticks : s->begin + 1;
    levels.count = VT_REPLAY_LEVELS;
    levels.bytes = vt_alloc(levels.count, sizeof *levels.bytes);
    for (uint32_t i = 0; i < levels.count; i++) {
        levels.bytes[i] = slots[(end_of(s, i) - s->begin) >> s->shift].end;
        levels.peak += i + 1 < levels.count && end_of(s, i) < peak_at;
    }
    levels.bytes[levels.peak] = account->peak_bytes;
    return levels;
}

void vt_slots_free(struct vt_slots *s) {
    for (uint32_t i = 0; i < s->device_count; i++)
        free(s->devices[i].slots);
    free(s->devices);
}

/* --- saving and loading --- */

/* The longest run, of 2^56 ticks, has slots of at most 2^MOST_SHIFT ticks. */
enum { MOST_SHIFT = 44 };
static_assert((VT_TICKS_MASK >> MOST_SHIFT) < VT_COURSE_SLOTS, "they reach to its end");

void vt_slots_state(struct vt_slots *slots, struct vt_state *s) {
    VT_STATE_SECTION(s, "slots", struct vt_time_slot);
    if (s->loading)
        vt_slots_free(slots);
    VT_STATE(s, slots->begin);
    VT_STATE(s, slots->end);
    VT_STATE(s, slots->shift);
    VT_STATE(s, slots->slot);
    VT_STATE(s, slots->device_of);
    VT_STATE_ROWS(s, slots->devices, slots->device_count, slots->device_room);
    vt_state_expect(s,
                    slots->begin <= VT_TICKS_MASK && slots->shift <= MOST_SHIFT &&
                        slots->slot < VT_COURSE_SLOTS && slots->device_count <= 256,
                    "at most 4096 slots, of at most 256 devices");
    for (uint32_t i = 0; i < slots->device_count && !s->bad; i++) {
        struct vt_slot_device *d = &slots->devices[i];
        if (s->loading)
            d->slots = vt_alloc(VT_COURSE_SLOTS, sizeof *d->slots);
        VT_STATE(s, d->device);
        VT_STATE(s, d->highs);
        vt_state_bytes(s, d->slots, (slots->slot + 1) * sizeof *d->slots);
        vt_state_within(s, d->device, 256, "devices");
    }
    for (unsigned d = 0; d < 256; d++)
        vt_state_within(s, slots->device_of[d], (uint64_t)slots->device_count + 1, "devices");
}
