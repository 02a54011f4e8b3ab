/* SPDX-License-Identifier: MIT */
/*
 * Failed allocations (see walk.h). Each is stored with the state of its device at that moment, and its thread's next
 * allocation. The driver's refusals belong to the next framework error of the same thread: in between, the framework
 * releases its cache and retries.
 */
#include "walk.h"

#include "replay.h"

#include <stdlib.h>

enum { OUT_OF_MEMORY = 2 }; /* both CUDA_ERROR_OUT_OF_MEMORY and cudaErrorMemoryAllocation */

static uint32_t stack_index(const struct vt_log *log, uint64_t word) {
    const struct vt_log_stack *stack = vt_log_stack(log, vt_word_high(word));
    return stack ? (uint32_t)(stack - log->stacks) : VT_NO_STACK;
}

/* The sites that hold most of a device at this moment. For a caching allocator's segments, the sites of the blocks
 * inside. */
static void find_holders(const struct vt_replay *r, struct vt_replay_fail *fail) {
    for (uint32_t i = 0; i < r->site_count; i++) {
        const struct vt_replay_site *site = &r->sites[i];
        bool holds = site->layer == VT_LAYER_FRAMEWORK ||
                     (site->layer == VT_LAYER_DRIVER && !site->segments);
        if (site->device != fail->device || !holds || !site->live_bytes)
            continue;
        uint32_t at = fail->holder_count;
        while (at > 0 && r->sites[fail->holders[at - 1]].live_bytes < site->live_bytes)
            at--;
        if (at == VT_HOLDERS)
            continue;
        if (fail->holder_count < VT_HOLDERS)
            fail->holder_count++;
        for (uint32_t j = fail->holder_count - 1; j > at; j--)
            fail->holders[j] = fail->holders[j - 1];
        fail->holders[at] = i;
    }
    for (uint32_t i = 0; i < fail->holder_count; i++)
        fail->holder_bytes[i] = r->sites[fail->holders[i]].live_bytes;
}

/* Notes every site's bytes; they replace those of an earlier failure of the same kind. */
static void note_held(struct vt_replay *r, struct vt_replay_fail *fail) {
    uint32_t room = 0;
    for (size_t i = 0; i < r->fail_count; i++) {
        struct vt_replay_fail *old = &r->fails[i];
        if (old->held && (old == fail || old->raised == fail->raised)) {
            free(old->held);
            old->held = NULL;
            old->held_count = 0;
        }
    }
    for (uint32_t i = 0; i < r->site_count; i++) {
        const struct vt_replay_site *site = &r->sites[i];
        if (site->device != fail->device || !site->live_bytes)
            continue;
        *VT_ADD(fail->held, fail->held_count, room) = (struct vt_replay_held){i, site->live_bytes};
    }
}

static void note_state(struct vt_replay *r, struct vt_replay_fail *fail) {
    if (r->segments)
        vt_segments_asked(r->segments);
    const struct vt_reserve_device *reserve = vt_segments_device(r->segments, fail->device);
    fail->tracked_bytes = r->devices[fail->device].driver.live_bytes;
    fail->holder_count = fail->pin_count = 0;
    find_holders(r, fail);
    note_held(r, fail);
    if (!reserve)
        return;
    fail->cached = true;
    fail->mapped = reserve->mapped;
    fail->reserve = reserve->now;
    fail->cache = (struct vt_oom_cache){
        .reserved_bytes = reserve->now.reserved_bytes,
        .releasable_bytes = vt_segments_releasable(r->segments, fail->device),
    };
    fail->pin_count = vt_pins_find(r, fail->device, fail->pins);
}

/* Adds a failed allocation with the state of its device. NULL: too many. */
static struct vt_replay_fail *add_fail(struct vt_replay *r, const struct vt_log *log, uint32_t tid,
                                       uint64_t word, uint64_t when, uint64_t size) {
    unsigned device = vt_when_device(when);
    if (r->fail_count == VT_REPLAY_FAILS) {
        r->fails_left_out++;
        return NULL;
    }
    struct vt_replay_fail *fail = VT_ADD(r->fails, r->fail_count, r->fail_room);
    *fail = (struct vt_replay_fail){
        .ticks = vt_when_ticks(when),
        .size = size,
        .stack = stack_index(log, word),
        .hook = (uint16_t)vt_word_hook(word),
        .kind = (uint8_t)vt_word_kind(word),
        .device = (uint8_t)device,
        .tid = tid,
        .attempts = 1,
        .before = r->devices[device].info,
    };
    note_state(r, fail);
    return fail;
}

static void note_error(struct vt_replay *r, const struct vt_log *log, const struct vt_rec_fail *f) {
    uint32_t stack = stack_index(log, f->word), i = 0;
    while (i < r->error_count &&
           (r->errors[i].stack != stack || r->errors[i].first.result != f->result))
        i++;
    if (i == r->error_count && i < VT_REPLAY_FAILS)
        *VT_ADD(r->errors, r->error_count, r->error_room) = (struct vt_replay_error){*f, 0, stack};
    if (i < r->error_count)
        r->errors[i].count++;
    r->errors_in_all++;
}

bool vt_fails_refused(struct vt_fails *fails, struct vt_replay *r, const struct vt_log *log,
                      uint32_t tid, const struct vt_rec_fail *f) {
    if (f->result != OUT_OF_MEMORY) {
        note_error(r, log, f);
        return false;
    }
    struct vt_replay_fail *fail = add_fail(r, log, tid, f->word, f->when, f->size);
    if (!fail)
        return true;
    fail->result = f->result;
    fail->flags = f->flags;
    uint32_t open = vt_map_get(&fails->open, tid);
    fail->open_next = open == VT_MAP_NONE ? 0 : open;
    vt_map_put(&fails->open, tid, (uint32_t)r->fail_count);
    fails->pending++;
    return true;
}

/* The thread's refusals since its last success all belong to this request. The last refusal counts, with the present
 * state: before it, the framework released all it could; after it, the parts of this request (expandable segments)
 * that the driver had provided. */
const struct vt_replay_fail *vt_fails_given_up(struct vt_fails *fails, struct vt_replay *r,
                                               const struct vt_log *log, uint32_t tid,
                                               const struct vt_rec_cacheoom *o,
                                               struct vt_rehearsal *rehearsal) {
    uint32_t next = vt_map_get(&fails->open, tid), attempts = 0;
    struct vt_replay_fail *last = NULL;
    if (next == VT_MAP_NONE)
        next = 0;
    for (; next; next = r->fails[next - 1].open_next) {
        struct vt_replay_fail *fail = &r->fails[next - 1];
        fail->raised = true;
        attempts++;
        fails->pending--;
        if (!last)
            last = fail;
        else if (fail->size == last->size && fail->device == last->device)
            fail->merged = true;
    }
    if (last) {
        vt_map_put(&fails->open, tid, 0);
        last->attempts = attempts;
        note_state(r, last);
    } else {
        last = add_fail(r, log, tid, o->word, o->when, o->requested);
        if (!last)
            return NULL;
        last->result = OUT_OF_MEMORY;
        last->raised = last->unasked = true;
        last->attempts = 0;
        note_held(r, last);
    }
    last->framework_size = o->requested;
    if (!last->cached)
        return last;
    struct vt_cache_settings settings = r->settings;
    settings.expandable = last->mapped;
    unsigned stream = vt_packing_find(r->segments, last->device, &settings, o->requested,
                                      &r->packing_work, &last->cache);
    if (rehearsal && vt_rehearsal_device(rehearsal) == last->device)
        last->rehearsed = vt_rehearsal_request(
            rehearsal, &(struct vt_rehearsal_event){
                           .request = {o->requested, 0, (uint8_t)stream},
                           .outside = vt_beyond(last->tracked_bytes, last->reserve.reserved_bytes),
                           .ticks = last->ticks,
                           .stack = last->stack,
                           .site = VT_NO_SITE});
    return last;
}

bool vt_fails_is_open(const struct vt_fails *fails, uint32_t tid) {
    uint32_t open = fails->pending ? vt_map_get(&fails->open, tid) : 0;
    return open && open != VT_MAP_NONE;
}

void vt_fails_succeeded(struct vt_fails *fails, struct vt_replay *r, uint32_t tid, uint64_t size,
                        uint64_t ticks) {
    uint32_t next = vt_map_get(&fails->open, tid);
    if (next == VT_MAP_NONE || !next)
        return;
    while (next) {
        struct vt_replay_fail *fail = &r->fails[next - 1];
        fail->next_size = size;
        fail->next_ticks = ticks;
        next = fail->open_next;
        fails->pending--;
    }
    vt_map_put(&fails->open, tid, 0);
}

void vt_fails_asked(struct vt_fails *fails, struct vt_replay *r, const struct vt_rec_meminfo *m) {
    unsigned ordinal = vt_when_device(m->when);
    struct vt_replay_device *device = &r->devices[ordinal];
    if (!m->total_bytes || m->free_bytes > m->total_bytes)
        return;
    device->info = (struct vt_replay_info){vt_when_ticks(m->when), m->free_bytes, m->total_bytes,
                                           device->driver.live_bytes};
    uint64_t used = m->total_bytes - m->free_bytes;
    uint64_t untracked = used > device->info.tracked ? used - device->info.tracked : 0;
    if (untracked < device->untracked_least)
        device->untracked_least = untracked;
    for (size_t i = fails->info_from[ordinal]; i < r->fail_count; i++)
        if (r->fails[i].device == ordinal && !r->fails[i].after.ticks)
            r->fails[i].after = device->info;
    fails->info_from[ordinal] = r->fail_count;
}

void vt_fails_drop(struct vt_replay *r) {
    for (size_t i = 0; i < r->fail_count; i++)
        free(r->fails[i].held);
    r->fail_count = r->error_count = r->errors_in_all = 0;
}

void vt_fails_free(struct vt_fails *fails) {
    vt_map_free(&fails->open);
    *fails = (struct vt_fails){.pending = 0};
}

/* --- saving and loading --- */

static void check_fail(const struct vt_replay *r, const struct vt_log *log, uint32_t index,
                       struct vt_state *s) {
    const struct vt_replay_fail *f = &r->fails[index];
    if (f->stack != VT_NO_STACK)
        vt_state_within(s, f->stack, log->stack_count, "stacks");
    vt_state_expect(s, f->holder_count <= VT_HOLDERS && f->pin_count <= VT_PINS,
                    "at most 8 holders");
    for (uint32_t i = 0; i < f->holder_count && !s->bad; i++)
        vt_state_within(s, f->holders[i], r->site_count, "sites");
    for (uint32_t i = 0; i < f->pin_count && !s->bad; i++)
        if (f->pins[i].site != VT_NO_SITE)
            vt_state_within(s, f->pins[i].site, r->site_count, "sites");
    for (uint32_t i = 0; i < f->held_count; i++)
        vt_state_within(s, f->held[i].site, r->site_count, "sites");
    vt_state_expect(s, f->open_next <= index, "an earlier fail");
}

void vt_fails_state(struct vt_fails *fails, struct vt_replay *r, const struct vt_log *log,
                    struct vt_state *s) {
    VT_STATE_SECTION(s, "fails", struct vt_replay_fail);
    VT_STATE_ROWS(s, r->fails, r->fail_count, r->fail_room);
    for (uint32_t i = 0; i < r->fail_count; i++) {
        struct vt_replay_fail *f = &r->fails[i];
        uint32_t room;
        VT_STATE_BUT(s, *f, held);
        VT_STATE_BOOLS(s, f, 1, raised);
        VT_STATE_BOOLS(s, f, 1, unasked);
        VT_STATE_BOOLS(s, f, 1, merged);
        VT_STATE_BOOLS(s, f, 1, cached);
        VT_STATE_BOOLS(s, f, 1, mapped);
        VT_STATE_BOOLS(s, f, 1, cache.known);
        VT_STATE_ARRAY(s, f->held, f->held_count, room);
        if (s->loading)
            check_fail(r, log, i, s);
    }
    VT_STATE(s, r->fails_left_out);
    VT_STATE(s, r->errors_in_all);
    VT_STATE_ARRAY(s, r->errors, r->error_count, r->error_room);
    for (uint32_t i = 0; i < r->error_count; i++)
        vt_state_index(s, &r->errors[i].stack, log->stack_count, VT_NO_STACK);
    vt_state_map(s, &fails->open, (uint64_t)r->fail_count + 1);
    VT_STATE(s, fails->pending);
    VT_STATE(s, fails->info_from);
}
