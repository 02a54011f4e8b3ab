/* SPDX-License-Identifier: MIT */
/*
 * Saves and loads the state of a walk (see walk.h, base/saved_state.h). Data that is still in the log is looked up
 * there when the walk resumes; derived data is rebuilt.
 */
#include "walk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* --- sites and origins --- */

static void state_sites(struct vt_walk *w, struct vt_state *s) {
    struct vt_replay *r = w->r;
    VT_STATE_SECTION(s, "sites", struct vt_replay_site);
    VT_STATE_ARRAY(s, r->sites, r->site_count, r->site_room);
    VT_STATE_BOOLS(s, r->sites, r->site_count, before);
    VT_STATE_BOOLS(s, r->sites, r->site_count, pooled);
    VT_STATE_BOOLS(s, r->sites, r->site_count, graph);
    VT_STATE_BOOLS(s, r->sites, r->site_count, other);
    VT_STATE_BOOLS(s, r->sites, r->site_count, segments);
    for (size_t i = 0; s->loading && i < r->site_count; i++) {
        const struct vt_replay_site *site = &r->sites[i];
        vt_state_within(s, site->layer, VT_LAYER_MANAGED + 1, "layers");
        vt_state_expect(s, r->slots.device_of[site->device], "a site's device");
        if (site->stack != VT_NO_STACK)
            vt_state_within(s, site->stack, w->log->stack_count, "stacks");
        vt_map_put(&w->by_id, site->id, (uint32_t)i);
    }
}

static void state_origins(struct vt_walk *w, struct vt_state *s) {
    struct vt_replay *r = w->r;
    VT_STATE_SECTION(s, "origins", struct vt_replay_origin);
    VT_STATE_ROWS(s, r->origins, r->origin_count, r->origin_room);
    vt_state_index(s, &w->before_origins, (uint64_t)r->origin_count + 1, 0);
    for (uint32_t i = 0; i < r->origin_count; i++) {
        struct vt_replay_origin *origin = &r->origins[i];
        VT_STATE_BUT(s, *origin, account);
        VT_STATE_BOOLS(s, origin, 1, of_context);
        VT_STATE_BOOLS(s, origin, 1, single);
        VT_STATE_BOOLS(s, origin, 1, before);
        vt_state_within(s, origin->layer, VT_LAYER_MANAGED + 1, "layers");
        if (origin->stack != VT_NO_STACK)
            vt_state_within(s, origin->stack, w->log->stack_count, "stacks");
        bool gone = i < w->before_origins && !origin->before; /* its site is outside the window */
        if (s->loading && !gone && vt_state_within(s, origin->site, r->site_count, "sites"))
            origin->account = vt_walk_account(r, origin->layer, r->sites[origin->site].device);
    }
    if (s->loading && !s->bad)
        vt_walk_enter_origins(w);
}

static void check_live(const struct vt_walk *w, struct vt_state *s) {
    const struct vt_replay *r = w->r;
    const struct vt_address *entry;
    for (size_t at = 0; !s->bad && (entry = vt_addresses_next(&r->live, &at));) {
        if (!vt_state_within(s, entry->origin, r->origin_count, "origins"))
            return;
        vt_state_expect(s, r->origins[entry->origin].account, "an origin with an account");
        uint32_t site = vt_replay_site_index(r, entry);
        if (!s->bad && w->history && entry->sample != VT_NO_SAMPLE)
            vt_state_expect(
                s, site < w->history->site_room && entry->sample < w->history->sites[site].count,
                "a site's sample");
    }
}

/* --- devices --- */

/* Only devices with records are saved. */
static void state_devices(struct vt_replay *r, struct vt_state *s) {
    static const struct vt_replay_device none = {.untracked_least = UINT64_MAX};
    VT_STATE_SECTION(s, "devices", struct vt_replay_device);
    for (unsigned i = 0; i < 256; i++) {
        struct vt_replay_device *d = &r->devices[i];
        bool there = !s->loading && memcmp(d, &none, sizeof none) != 0;
        vt_state_bool(s, &there);
        if (there)
            VT_STATE(s, *d);
        VT_STATE_BOOLS(s, d, 1, driver.used);
        VT_STATE_BOOLS(s, d, 1, framework.used);
        VT_STATE_BOOLS(s, d, 1, has_reported);
        VT_STATE_BOOLS(s, d, 1, at_peak);
    }
    VT_STATE(s, r->host);
    VT_STATE(s, r->managed);
    VT_STATE_BOOLS(s, &r->host, 1, used);
    VT_STATE_BOOLS(s, &r->managed, 1, used);
}

/* --- objects, phases, contexts --- */

static void state_objects(struct vt_walk *w, struct vt_state *s) {
    struct vt_replay *r = w->r;
    VT_STATE_SECTION(s, "objects", struct vt_replay_object);
    VT_STATE_ARRAY(s, r->objects, r->object_count, r->object_room);
    for (size_t i = 0; s->loading && i < r->object_count; i++) {
        const struct vt_replay_object *object = &r->objects[i];
        if (object->stack != VT_NO_STACK)
            vt_state_within(s, object->stack, w->log->stack_count, "stacks");
        vt_walk_enter_object(w, (uint32_t)i);
    }
}

static void state_phases(struct vt_walk *w, struct vt_state *s) {
    struct vt_replay *r = w->r;
    size_t room;
    VT_STATE_SECTION(s, "phases", struct vt_replay_phase);
    VT_STATE_ARRAY(s, r->phases, r->phase_count, room);
    VT_STATE_BOOLS(s, r->phases, r->phase_count, seen);
    VT_STATE_BOOLS(s, r->phases, r->phase_count, ended);
    vt_state_expect(s, r->phase_count <= w->log->phase_count, "no more phases than the log has");
    for (size_t i = 0; s->loading && w->history && i < r->phase_count; i++)
        if (r->phases[i].seen && r->phases[i].kind != VT_MAP_NONE)
            vt_state_within(s, r->phases[i].kind, w->kinds.kind_count, "kinds of phases");
    VT_STATE_ARRAY(s, r->phase_sums, r->phase_sum_count, r->phase_sum_room);
    vt_state_expect(s, r->phase_sum_count <= VT_PHASE_SUMS, "at most 4096 sums of phases");
    VT_STATE_BOOLS(s, r->phase_sums, r->phase_sum_count, mark);
    VT_STATE_BOOLS(s, r->phase_sums, r->phase_sum_count, several);
    for (uint32_t i = 0; s->loading && i < r->phase_sum_count; i++)
        if (r->phase_sums[i].name != VT_MAP_NONE)
            vt_state_within(s, r->phase_sums[i].name, w->log->name_count, "names");
    VT_STATE_ARRAY(s, w->highs, w->high_count, w->high_room);
    VT_STATE(s, w->epoch);
    VT_STATE(s, w->driver_bytes);
    VT_STATE(s, w->driver_high);
}

static void state_contexts(struct vt_walk *w, struct vt_state *s) {
    uint32_t count = 0, number = 0;
    VT_STATE_SECTION(s, "contexts", struct vt_walk_context);
    vt_state_bool(s, &w->lists_contexts);
    for (unsigned i = 0; i <= VT_CONTEXT_UNKNOWN; i++)
        count += w->contexts[i].count || w->contexts[i].live;
    vt_state_index(s, &count, VT_CONTEXT_UNKNOWN + 2, 0);
    for (; count && !s->bad; count--, number++) {
        while (!s->loading && !w->contexts[number].count && !w->contexts[number].live)
            number++;
        vt_state_index(s, &number, VT_CONTEXT_UNKNOWN + 1, 0);
        struct vt_walk_context *context = &w->contexts[number];
        vt_state_expect(s, !context->keys, "each context once");
        if (s->bad)
            return;
        VT_STATE(s, context->live);
        VT_STATE_ARRAY(s, context->keys, context->count, context->room);
    }
}

/* --- the walk --- */

static void state_replay_numbers(struct vt_replay *r, struct vt_state *s) {
    VT_STATE_SECTION(s, "replay", struct vt_replay);
    VT_STATE(s, r->settings);
    VT_STATE_BOOLS(s, &r->settings, 1, expandable);
    VT_STATE(s, r->packing_work);
    vt_state_bool(s, &r->corrected);
    VT_STATE(s, r->events);
    VT_STATE(s, r->unknown_frees);
    VT_STATE(s, r->failed_frees);
    VT_STATE(s, r->strays);
    VT_STATE(s, r->lost_blocks);
    VT_STATE(s, r->replaced);
    VT_STATE(s, r->late_events);
    VT_STATE(s, r->evicted_sites);
}

static void state_samples(struct vt_walk *w, struct vt_state *s) {
    struct vt_replay *r = w->r;
    uint64_t next = w->sample;
    VT_STATE_SECTION(s, "samples", struct vt_replay_sample);
    VT_STATE_ARRAY(s, r->samples, r->sample_count, r->sample_room);
    VT_STATE(s, w->changed);
    VT_STATE(s, w->unsettled);
    VT_STATE(s, next);
    /* LOG.nvml may be gone */
    w->sample = next < w->log->sample_count ? (size_t)next : w->log->sample_count;
}

/* A walk saved without a window may be loaded into a walk whose window begins later. */
static void state_window(struct vt_walk *w, struct vt_state *s) {
    struct vt_window window = w->window;
    bool waits = w->window_waits;
    VT_STATE(s, window);
    vt_state_bool(s, &waits);
    bool same = window.since == w->window.since;
    vt_state_expect(
        s, same || (!window.since && !waits && w->window_waits && w->window.since >= w->now),
        "a part of the run that had not begun");
    vt_state_expect(s, window.until == w->window.until || window.until == VT_TICKS_MASK,
                    "a part of the run that had not ended");
    if (same)
        w->window_waits = waits;
}

static void state_walk(struct vt_walk *w, struct vt_state *s) {
    enum { MOST_SHIFT = 36 }; /* 2^24 units: 2^60 ticks */
    VT_STATE_SECTION(s, "walk", struct vt_walk);
    VT_STATE(s, w->now);
    state_window(w, s);
    VT_STATE(s, w->tid);
    VT_STATE(s, w->stream);
    VT_STATE(s, w->block_hook);
    VT_STATE(s, w->age_shift);
    vt_state_expect(s, w->age_shift <= MOST_SHIFT, "a unit of age");
    if (w->age_shift > MOST_SHIFT)
        w->age_shift = 0;
    w->r->age_unit = (uint64_t)1 << w->age_shift;
    w->age_ticks = (uint64_t)((1u << 24) - 1) << w->age_shift;
    VT_STATE(s, w->snapshots_until);
}

/* Before a later window, the saved slots are useless. */
static void state_slots(struct vt_walk *w, struct vt_state *s) {
    struct vt_slots *slots = &w->r->slots;
    vt_slots_state(slots, s);
    if (!s->loading || s->bad)
        return;
    if (w->window_waits)
        slots->slot = slots->shift = 0;
    w->slot_end = w->window_waits ? UINT64_MAX : vt_slots_begin_of(slots, slots->slot + 1) - 1;
}

/* Pictures are read even if not requested, because other data may follow them. */
static void state_pictures(struct vt_walk *w, struct vt_state *s) {
    bool there = w->pictures, wanted = w->pictures_requested && !w->window_waits;
    vt_state_bool(s, &there);
    vt_state_expect(s, there || !wanted, "pictures, which are asked for");
    if (s->loading)
        w->pictures = wanted ? w->pictures_requested : NULL;
    if (!there || s->bad)
        return;
    struct vt_pictures unwanted = {.device = -1};
    vt_pictures_state(wanted ? w->pictures_requested : &unwanted, w->r, s);
    vt_pictures_close(&unwanted);
}

/* A history is read even if not requested. */
static void state_history(struct vt_walk *w, struct vt_state *s) {
    bool there = w->history;
    vt_state_bool(s, &there);
    vt_state_expect(s, there || !w->history, "a history, which is asked for");
    if (!there || s->bad)
        return;
    struct vt_history unwanted = {0};
    vt_history_state(w->history ? w->history : &unwanted, w->r->site_count, s);
    vt_phase_kinds_state(&w->kinds, w->log->name_count, s);
    vt_operations_state(&w->operations, s);
    vt_history_close(&unwanted);
}

void vt_walk_state(struct vt_walk *w, struct vt_state *s) {
    struct vt_replay *r = w->r;
    state_walk(w, s);
    state_replay_numbers(r, s);
    state_slots(w, s);
    state_devices(r, s);
    state_sites(w, s);
    state_origins(w, s);
    state_history(w, s);
    vt_addresses_state(&r->live, s);
    check_live(w, s);
    vt_segments_state(&r->segments, s);
    state_contexts(w, s);
    state_objects(w, s);
    state_phases(w, s);
    vt_fails_state(&w->fails, r, w->log, s);
    state_samples(w, s);
    vt_pytest_state(&r->pytest, s);
    vt_owned_state(r, w->log, s);
    state_pictures(w, s);
    vt_merge_state(w->merge, s);
}

static void walk_state(void *walk, struct vt_state *s) {
    vt_walk_state(walk, s);
}

int vt_replay_load(struct vt_walk *walk, struct vt_string *message) {
    return vt_summary_load(walk->log, walk_state, walk, message);
}

int vt_replay_save(struct vt_walk *walk, struct vt_log *log, uint64_t generation, uint64_t most,
                   struct vt_string *message) {
    vt_walk_evict(walk, log);
    int error;
    do {
        vt_string_free(message);
        error = vt_summary_write(log, generation, vt_merge_until(walk->merge), most, walk_state,
                                 walk, message);
    } while (error == -EFBIG && vt_walk_evict_more(walk, log));
    return error;
}
