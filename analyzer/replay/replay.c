/* SPDX-License-Identifier: MIT */
/*
 * The replay (see replay.h) walks the merged events once. Events that change memory are handled in
 * accounting.c; this file has the walk, refusals, objects and phases.
 */
#include "replay.h"

#include "walk.h"

#include <stdlib.h>
#include <string.h>

/* Counts a failure, of any reason, in its layer. */
void vt_on_fail(struct vt_walk *w, const void *record) {
    const struct vt_rec_fail *f = record;
    struct vt_account *account =
        vt_walk_account(w->r, vt_kind_layer(vt_word_kind(f->word)), vt_when_device(f->when));
    size_t fails = w->r->fail_count;
    bool no_room = vt_fails_refused(&w->fails, w->r, w->log, w->tid, f);
    if (w->pictures && w->r->fail_count > fails)
        vt_picture_maps_refused(w, (uint32_t)fails);
    account->failed_count++;
    /* without a context, a thread cannot reach a device */
    account->used |= no_room || vt_when_device(f->when) != VT_DEVICE_UNKNOWN;
}

void vt_on_cacheoom(struct vt_walk *w, const void *record) {
    const struct vt_rec_cacheoom *o = record;
    w->emptied.open =
        false; /* the allocator had made room; with a fraction, even without a refusal */
    const struct vt_replay_fail *fail =
        vt_fails_given_up(&w->fails, w->r, w->log, w->tid, o, w->rehearsal);
    if (w->pictures && fail)
        vt_picture_maps_refused(w, (uint32_t)(fail - w->r->fails));
}

void vt_on_cacheinfo(struct vt_walk *w, const void *record) {
    const struct vt_rec_cacheinfo *c = record;
    struct vt_replay_device *d = &w->r->devices[vt_when_device(c->when)];
    d->mismatch_count += c->allocated != d->blocks_bytes;
    d->has_reported = true;
    d->reported_allocated = c->allocated;
    d->reported_reserved = c->reserved;
    if (c->allocated > d->reported_peak)
        d->reported_peak = c->allocated;
}

void vt_on_meminfo(struct vt_walk *w, const void *record) {
    const struct vt_rec_meminfo *m = record;
    w->r->devices[vt_when_device(m->when)].driver.used = true;
    vt_fails_asked(&w->fails, w->r, m);
}

void vt_on_free_fail(struct vt_walk *w, const void *record) {
    (void)record;
    w->r->failed_frees++;
}

void vt_on_blockinfo(struct vt_walk *w, const void *record) {
    memcpy(&w->info, record, sizeof w->info);
    w->info_tid = w->tid;
}

/* The process itself records no samples; they are in vt_log.samples. */
void vt_on_sample(struct vt_walk *w, const void *record) {
    (void)record;
    w->r->events--;
}

/* Events without effect here: no report uses the driver's pool figures; on_event handles the others. */
void vt_on_poolinfo(struct vt_walk *w, const void *record) {
    (void)w, (void)record;
}
void vt_on_alloc(struct vt_walk *w, const void *record) {
    (void)w, (void)record;
}
void vt_on_free(struct vt_walk *w, const void *record) {
    (void)w, (void)record;
}

static uint64_t object_key(uint64_t handle, unsigned kind) {
    return vt_mix(handle) + kind;
}

void vt_walk_enter_object(struct vt_walk *w, uint32_t index) {
    const struct vt_replay_object *object = &w->r->objects[index];
    vt_map_put(&w->objects, object_key(object->handle, object->kind), index);
}

void vt_on_object(struct vt_walk *w, const void *record) {
    const struct vt_rec_object *o = record;
    struct vt_replay *r = w->r;
    unsigned kind = vt_word_kind(o->word);
    if (kind == VT_OBJECT_LAUNCHES && w->history && o->handle > w->history->launches)
        w->history->launches = o->handle;
    /* these neither create nor destroy an object */
    if (kind == VT_OBJECT_LIMIT || o->flags & (VT_OBJECT_MAPPED | VT_OBJECT_UNMAPPED))
        return;
    uint32_t index = vt_map_get(&w->objects, object_key(o->handle, kind));
    if (index == VT_MAP_NONE || !(o->flags & VT_OBJECT_DESTROYED)) {
        index = (uint32_t)r->object_count;
        *VT_ADD(r->objects, r->object_count, r->object_room) = (struct vt_replay_object){
            .handle = o->handle,
            .created = VT_TICKS_MASK,
            .destroyed = VT_TICKS_MASK,
            .stack = vt_walk_stack(w, o->word),
            .kind = (uint8_t)kind,
            .device = (uint8_t)vt_when_device(o->when),
        };
        vt_walk_enter_object(w, index);
    }
    struct vt_replay_object *object = &r->objects[index];
    *(o->flags & VT_OBJECT_DESTROYED ? &object->destroyed : &object->created) =
        vt_when_ticks(o->when);
}

/* --- phases --- */

/* Millions of phases may be open, so no list of them is walked when one begins or ends. The time between two such
 * moments is an epoch, with a highest level, and an open phase knows the epoch in which it began. An epoch is
 * dropped once a later one reaches its level. So the levels of the kept epochs decrease, and a phase's peak is the
 * level of the first kept epoch that is not before the phase's start. */

static void end_epoch(struct vt_walk *w) {
    while (w->high_count && w->highs[w->high_count - 1].bytes <= w->driver_high)
        w->high_count--;
    *VT_ADD(w->highs, w->high_count, w->high_room) =
        (struct vt_walk_high){w->driver_high, w->epoch++};
    w->driver_high = w->driver_bytes;
}

/* Ends a phase at the end of the last epoch. */
static void end_phase(const struct vt_walk *w, struct vt_replay_phase *phase) {
    size_t low = 0, high = w->high_count - 1;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (w->highs[middle].epoch < phase->epoch)
            low = middle + 1;
        else
            high = middle;
    }
    phase->peak_bytes = w->highs[low].bytes;
    phase->live_at_end = w->driver_bytes;
}

static uint32_t name_index(const struct vt_walk *w, uint32_t number) {
    return vt_map_get(&w->log->name_numbers, number);
}

static void on_mark(struct vt_walk *w, const struct vt_rec_phase *p) {
    struct vt_phase_name mark = {.name = name_index(w, p->name),
                                 .domain = name_index(w, p->domain),
                                 .tid = w->tid,
                                 .mark = true};
    if (mark.name == VT_MAP_NONE)
        return;
    if (vt_pytest_is(w->log->names[mark.name]))
        vt_pytest_apply(w, w->log->names[mark.name]);
    else if (w->history)
        vt_phase_kinds_begin(&w->kinds, w->history, mark, w->now);
}

void vt_on_phase(struct vt_walk *w, const void *record) {
    const struct vt_rec_phase *p = record;
    unsigned what = vt_word_kind(p->word);
    if (what == VT_PHASE_MARK) {
        on_mark(w, p);
        return;
    }
    uint32_t index = p->range ? vt_map_get(&w->log->phase_ranges, p->range) : VT_MAP_NONE;
    if (index == VT_MAP_NONE)
        return;
    const struct vt_log_phase *named = &w->log->phases[index];
    struct vt_phase_name name = {named->name, named->domain, named->tid, named->of_thread, false};
    struct vt_replay_phase *phase = &w->r->phases[index];
    bool begins = what == VT_PHASE_PUSH || what == VT_PHASE_START;
    if (begins ? phase->seen : !phase->seen || phase->ended)
        return;
    end_epoch(w);
    if (begins) {
        *phase = (struct vt_replay_phase){
            .seen = true, .live_at_start = w->driver_bytes, .epoch = w->epoch};
        if (w->history)
            phase->kind = vt_phase_kinds_begin(&w->kinds, w->history, name, w->now);
    } else {
        phase->ended = true;
        end_phase(w, phase);
        if (w->history)
            vt_phase_kinds_end(&w->kinds, w->history, name, phase->kind, w->now);
    }
}

static void end_phases(struct vt_walk *w) {
    end_epoch(w);
    for (size_t i = 0; i < w->log->phase_count; i++)
        if (w->r->phases[i].seen && !w->r->phases[i].ended)
            end_phase(w, &w->r->phases[i]);
}

static void start_sums(struct vt_account *account) {
    account->live_count = account->allocated_bytes = account->alloc_count = account->free_count = 0;
}

/* Sums up, for each layer and device, the counts that events change only in sites. */
static void end_sites(struct vt_walk *w) {
    for (unsigned d = 0; d < 256; d++) {
        start_sums(&w->r->devices[d].driver);
        start_sums(&w->r->devices[d].framework);
    }
    start_sums(&w->r->host);
    start_sums(&w->r->managed);
    for (size_t i = 0; i < w->r->site_count; i++) {
        struct vt_replay_site *site = &w->r->sites[i];
        struct vt_account *account = vt_walk_account(w->r, site->layer, site->device);
        vt_walk_note_peak(site, account);
        account->live_count += site->live_count;
        account->allocated_bytes += site->allocated_bytes;
        account->alloc_count += site->alloc_count;
        account->free_count += site->free_count;
        if (site->largest_bytes > account->largest_bytes)
            account->largest_bytes = site->largest_bytes;
        if (w->history)
            vt_history_end_sample(vt_history_of(w->history, (uint32_t)i), site->live_bytes,
                                  site->live_count, site->alloc_count);
    }
    if (w->history)
        vt_history_end(w->history);
}

/* --- the walk --- */

/* How many events ahead an address's line is fetched, and a free's address is looked up. */
enum { AHEAD = 32, NOTE_AHEAD = 16 };

static void open_window(struct vt_walk *w) {
    if (w->window_waits)
        vt_walk_begin_window(w);
    w->window_waits = false;
    vt_walk_begin_slots(w);
    if (w->pictures_requested)
        vt_pictures_begin(w, w->pictures_requested);
}

static void apply_samples(struct vt_walk *w, uint64_t until) {
    while (w->sample_ticks <= until) {
        if (w->window_waits && w->sample_ticks >= w->window.since)
            open_window(w);
        vt_walk_sample(w, &w->log->samples[w->sample++]);
        w->sample_ticks = w->sample < w->log->sample_count
                              ? vt_when_ticks(w->log->samples[w->sample].when)
                              : UINT64_MAX;
    }
}

static uint64_t earlier(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

/* Work due before the event at `now`, other than events. */
static void stop(struct vt_walk *w, uint64_t now) {
    if (now > w->sample_ticks)
        apply_samples(w, now - 1);
    if (now > w->snapshot_ticks)
        vt_owned_apply(w, now);
    if (now > w->correct_at)
        vt_walk_correct(w);
    while (now > w->age_ticks)
        vt_walk_coarsen_age(w);
    w->now = now;
    if (w->window_waits && now >= w->window.since)
        open_window(w);
    if (now > w->slot_end)
        vt_walk_pass_slots(w, now);
    w->stop = earlier(earlier(w->sample_ticks, w->snapshot_ticks),
                      earlier(w->correct_at, w->window_waits ? w->window.since - 1 : UINT64_MAX));
    w->stop = earlier(earlier(w->stop, w->slot_end), w->age_ticks);
}

/* Any event other than an allocation or a free. */
static void on_other(struct vt_walk *w, const uint8_t *record) {
    static void (*const handlers[256])(struct vt_walk *, const void *) = {
#define VT_EVENT(number, NAME, name, bytes, kind, fields) [number] = vt_on_##name,
#include "vramtrace/records.def"
    };
    union { /* a copy of the record, which is aligned */
        uint64_t word;
#define VT_EVENT(number, NAME, name, bytes, kind, fields) struct vt_rec_##name name;
#include "vramtrace/records.def"
    } u;
    static_assert(sizeof u <= VT_BATCH_READABLE, "the batch has these bytes");
    memcpy(&u, record, sizeof u);
    if (handlers[vt_word_type(u.word)])
        handlers[vt_word_type(u.word)](w, &u);
}

static inline void on_event(struct vt_walk *w, const struct vt_batch *batch, uint32_t i) {
    const struct vt_event *e = &batch->events[i];
    uint64_t now = vt_when_ticks(e->when);
    if (now > w->stop)
        stop(w, now);
    w->now = now;
    unsigned type = vt_word_type(e->word);
    if (type == VT_REC_ALLOC) {
        vt_walk_alloc(w, e);
    } else if (type == VT_REC_FREE) {
        vt_walk_free(w, e);
    } else {
        on_other(w, batch->chunk + e->key);
    }
}

/* Prefetches for later events of the batch, and handles its events. */
static void on_batch(struct vt_walk *w, const struct vt_batch *batch) {
    const struct vt_addresses *live = &w->r->live;
    struct vt_event *events = batch->events;
    uint32_t seen = batch->count + batch->ahead;
    w->r->events += batch->count;
    for (uint32_t i = 0; i < batch->count; i++) {
        if (i + AHEAD < seen)
            vt_addresses_fetch_line(live, events[i + AHEAD].key);
        if (i + NOTE_AHEAD < seen && vt_word_type(events[i + NOTE_AHEAD].word) == VT_REC_FREE)
            events[i + NOTE_AHEAD].note = vt_addresses_note(live, events[i + NOTE_AHEAD].key);
        on_event(w, batch, i);
    }
}

/* The time of the first lost event; 0 if events were lost at an unknown time. */
static uint64_t sure_until(const struct vt_log_header *h) {
    return vt_dropped_events(h) ? h->first_drop : UINT64_MAX;
}

const char *vt_replay_torch_settings(const struct vt_variable *variables, size_t count,
                                     const char **name) {
    static const char *const names[] = {"PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_HIP_ALLOC_CONF",
                                        "PYTORCH_ALLOC_CONF"}; /* in PyTorch's order */
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        for (size_t j = 0; j < count; j++)
            if (!strcmp(variables[j].name, *name = names[i]) && variables[j].value[0])
                return variables[j].value;
    *name = "PYTORCH_CUDA_ALLOC_CONF";
    return "";
}

struct vt_walk *vt_replay_open(const struct vt_log *log, struct vt_window window,
                               struct vt_replay_options options, struct vt_replay *replay) {
    const char *variable;
    struct vt_walk *w = vt_alloc(1, sizeof *w);
    *w = (struct vt_walk){.r = replay,
                          .log = log,
                          .window = window,
                          .window_waits = window.since > 0,
                          .age_ticks = (1u << 24) - 1,
                          .slot_end = UINT64_MAX,
                          .history = options.history,
                          .rehearsal = options.rehearsal,
                          .pictures_requested = options.pictures,
                          .merge = vt_merge_open(log),
                          .contexts = vt_alloc(VT_CONTEXT_UNKNOWN + 1, sizeof *w->contexts)};
    memset(replay, 0, sizeof *replay);
    vt_cache_settings_read(vt_replay_torch_settings(log->variables, log->variable_count, &variable),
                           &replay->settings, NULL);
    replay->packing_work = VT_PACKING_WORK;
    replay->age_unit = 1;
    for (unsigned d = 0; d < 256; d++)
        replay->devices[d].untracked_least = UINT64_MAX;
    vt_addresses_start(&replay->live);
    vt_walk_start_sites(w);
    if (!w->window_waits)
        open_window(w);
    return w;
}

/* Processes the tables' additions since the log was last read. */
static void apply_tables(struct vt_walk *w) {
    const struct vt_log *log = w->log;
    struct vt_replay *r = w->r;
    vt_sites_close(w->ids);
    w->ids = vt_sites_open(log);
    vt_operations_forget(&w->operations);
    r->phases = vt_realloc(r->phases, log->phase_count, sizeof *r->phases);
    memset(r->phases + r->phase_count, 0, (log->phase_count - r->phase_count) * sizeof *r->phases);
    r->phase_count = log->phase_count;
    r->sure_until = sure_until(&log->header);
    if (w->history)
        w->history->program_end = log->header.program_end;
    w->sampled = log->sample_count > 0;
    while (w->sample < log->sample_count && vt_when_ticks(log->samples[w->sample].when) < w->now)
        w->sample++;
    w->sample_ticks =
        w->sample < log->sample_count ? vt_when_ticks(log->samples[w->sample].when) : UINT64_MAX;
    if (w->snapshots_until < w->now) /* a late snapshot refers to past states */
        w->snapshots_until = w->now;
    if (!w->rehearsal)
        vt_owned_find_next(w);
    w->correct_at = log->live_listed && !r->corrected && w->window.until >= log->header.exit_ticks
                        ? log->header.exit_ticks
                        : UINT64_MAX;
    w->stop = 0;
}

int vt_replay_resume(struct vt_walk *w, uint64_t until, struct vt_string *message) {
    struct vt_batch batch;
    apply_tables(w);
    if (until > w->window.until)
        until = w->window.until;
    vt_merge_go_on(w->merge, until);
    while (vt_merge_next(w->merge, &batch)) {
        if (w->history && (w->tid != batch.tid || !w->history->thread_count))
            vt_history_thread(w->history, batch.tid);
        w->tid = batch.tid;
        on_batch(w, &batch);
    }
    if (w->history && !w->history->thread_count) /* a live list may follow without events */
        vt_history_thread(w->history, w->tid);
    w->r->late_events = vt_merge_late(w->merge);
    w->r->behind_bound =
        w->log->bound_at && until >= w->log->frontier ? vt_merge_left(w->merge) : 0;
    int error = vt_merge_failed(w->merge, message);
    uint64_t read = until < w->log->frontier ? until : w->log->frontier;
    apply_samples(w, read);
    if (w->window_waits && read >= w->window.since)
        open_window(w);
    if (w->correct_at <= read && !error)
        vt_walk_correct(w);
    if (w->snapshot_ticks <= read) /* the final snapshot's blocks need not be in the log */
        vt_owned_apply(w, read);
    return error;
}

void vt_replay_finalize(struct vt_walk *w) {
    struct vt_replay *r = w->r;
    if (w->window_waits)
        open_window(w);
    for (size_t i = 0; i < r->site_count; i++)
        r->sites[i].lost_count = r->sites[i].mapped_count = 0;
    if (w->window.until == VT_TICKS_MASK)
        vt_owned_apply_lost(r, w->log);
    vt_walk_count_mapped(r);
    vt_walk_end_slots(w);
    if (w->pictures)
        vt_picture_maps_end(w);
    end_sites(w);
    end_phases(w);
    if (w->history)
        r->iterations = vt_phase_kinds_choose(&w->kinds, w->history);
}

void vt_replay_close(struct vt_walk *w) {
    vt_merge_close(w->merge);
    vt_phase_kinds_free(&w->kinds);
    for (unsigned i = 0; i <= VT_CONTEXT_UNKNOWN; i++)
        free(w->contexts[i].keys);
    free(w->contexts);
    free(w->highs);
    vt_operations_close(&w->operations);
    vt_walk_close_sites(w);
    vt_sites_close(w->ids);
    vt_map_free(&w->objects);
    vt_fails_free(&w->fails);
    free(w);
}

int vt_replay_run(const struct vt_log *log, struct vt_window window,
                  struct vt_replay_options options, struct vt_replay *replay,
                  struct vt_string *message) {
    struct vt_walk *w = vt_replay_open(log, window, options, replay);
    int error = vt_replay_load(w, message);
    if (error) {
        vt_replay_close(w);
        vt_replay_free(replay);
        return error;
    }
    error = vt_replay_resume(w, VT_TICKS_MASK, message);
    vt_replay_finalize(w);
    vt_replay_close(w);
    return error;
}

void vt_replay_drop_live(struct vt_replay *replay) {
    vt_addresses_free(&replay->live);
    free(replay->origins);
    replay->origins = NULL;
}

void vt_replay_free(struct vt_replay *replay) {
    vt_replay_drop_live(replay);
    vt_owned_drop(replay);
    free(replay->sites);
    vt_fails_drop(replay);
    free(replay->fails);
    free(replay->errors);
    free(replay->samples);
    vt_slots_free(&replay->slots);
    free(replay->objects);
    free(replay->phases);
    free(replay->phase_sums);
    vt_segments_close(replay->segments);
    vt_pytest_free(&replay->pytest);
    free(replay->snapshots);
    *replay = (struct vt_replay){0};
}
