/* SPDX-License-Identifier: MIT */
/*
 * Where did memory run out? Finds the outcome of each failed allocation, and the figures of its device at that moment.
 * Called by analysis.c; oom_cause.c finds the cause.
 *
 * Free memory is the driver's answer to the program at the nearest moment, corrected for allocations and frees since
 * then. If the program never asked, it is NVML's figure, recorded by `vramtrace run` together with the memory of other
 * processes. Without either, it is the device's size minus tracked memory. This difference includes other processes'
 * and untracked memory. As the two cannot be distinguished, neither is named as the cause.
 */
#include "steps.h"

#include "vramtrace/text.h"

#include <string.h>

/* --- others --- */

static uint64_t contexts_at(const struct vt_process *p, unsigned device, uint64_t at) {
    uint64_t count = 0;
    for (uint32_t i = 0; i < p->object_count; i++) {
        const struct vt_object_life *o = &p->objects[i];
        if (!strcmp(o->kind, "context") && o->device == device && o->created != VT_UNKNOWN &&
            o->created <= at && (o->destroyed == VT_UNKNOWN || o->destroyed > at))
            count++;
    }
    return count;
}

/* A context and its code take up to a few hundred MiB of untracked memory; the rest must belong to other processes. On
 * the simulated GPU the other processes' size is known. */
uint64_t vt_oom_others(const struct vt_process *p, unsigned device, uint64_t at, uint64_t untracked,
                       uint64_t total) {
    const uint64_t most = 2ull << 30;
    uint64_t contexts = contexts_at(p, device, at), own = total / 16 < most ? total / 16 : most;
    if (p->simulated) {
        const char *size = vt_process_variable(p, "VRAMTRACE_SIM_OTHER");
        uint64_t others = 0;
        if (!size || vt_text_read_size(size, &others))
            return 0;
        return others < untracked ? others : untracked;
    }
    own *= contexts ? contexts : 1;
    return untracked > own ? untracked - own : 0;
}

/* --- the device's figures --- */

static void set_free(const struct vt_sources *s, const struct vt_process *p,
                     const struct vt_replay_fail *from, struct vt_oom *oom) {
    const struct vt_replay_info *info = &from->before;
    struct vt_replay_info sampled;
    uint64_t tracked;
    if (from->after.ticks && (!info->ticks || vt_apart(from->after.ticks, from->ticks) <
                                                  vt_apart(info->ticks, from->ticks)))
        info = &from->after;
    oom->free_bytes = oom->total_bytes = oom->free_reported_at = oom->others_bytes = VT_UNKNOWN;
    const struct vt_device *device = vt_process_device(p, oom->device);
    if (device)
        oom->total_bytes = device->total_bytes;
    if (oom->layer == VT_LAYER_HOST)
        return;
    const struct vt_replay_sample *sample =
        vt_untracked_near(s, oom->device, from->ticks, &tracked);
    if (sample && !info->ticks) {
        sampled = (struct vt_replay_info){
            .ticks = sample->ticks,
            .free_bytes = sample->free_bytes,
            .total_bytes = sample->used_bytes + sample->free_bytes,
            .tracked = tracked,
        };
        info = &sampled;
    }
    if (!info->ticks) {
        if (oom->total_bytes != VT_UNKNOWN)
            oom->free_bytes = vt_beyond(oom->total_bytes, oom->tracked_bytes);
        return;
    }
    uint64_t had = info->free_bytes + info->tracked, used = info->total_bytes - info->free_bytes;
    oom->total_bytes = info->total_bytes;
    oom->free_bytes = vt_beyond(had, oom->tracked_bytes);
    oom->free_reported_at = vt_clock_ns(s->clock, info->ticks);
    oom->others_bytes = used < info->tracked
                            ? 0
                            : vt_oom_others(p, oom->device, oom->free_reported_at,
                                            used - info->tracked, info->total_bytes);
    if (sample && sample->others_bytes != VT_SAMPLE_UNKNOWN) {
        oom->others_bytes = sample->others_bytes;
        oom->others_measured = true;
    }
}

/* Whether a caching allocator holds memory here whose blocks are not in the log. */
static bool has_unseen_cache(const struct vt_process *p, unsigned device) {
    for (uint32_t i = 0; i < p->site_count; i++)
        if (p->sites[i].device == device && p->sites[i].class == VT_CLASS_CACHE &&
            !p->sites[i].segments)
            return true;
    return false;
}

static void set_cache(const struct vt_process *p, const struct vt_replay_fail *from,
                      struct vt_oom *oom) {
    oom->cached_bytes = oom->largest_free_bytes = VT_UNKNOWN;
    if (from->cached) {
        oom->cached_bytes = from->reserve.reserved_bytes - from->reserve.in_use_bytes;
        oom->largest_free_bytes = from->reserve.largest_free_bytes;
    } else if (oom->layer != VT_LAYER_HOST && !has_unseen_cache(p, oom->device)) {
        oom->cached_bytes = oom->largest_free_bytes = 0;
    }
    oom->cache = from->cache;
}

/* --- the outcome --- */

static enum vt_oom_outcome outcome(const struct vt_sources *s, const struct vt_process *p,
                                   const struct vt_replay_fail *from) {
    const uint64_t soon = 10ull * 1000000000;
    if (from->raised)
        return VT_OOM_RAISED;
    if (from->next_size) {
        bool same =
            from->next_size >= from->size &&
            vt_clock_ns(s->clock, from->next_ticks) - vt_clock_ns(s->clock, from->ticks) <= soon;
        return same ? VT_OOM_RECOVERED : VT_OOM_UNKNOWN;
    }
    return p->quality.complete ? VT_OOM_RAISED : VT_OOM_UNKNOWN;
}

/* --- the whole --- */

static void fill(const struct vt_sources *s, const struct vt_process *p,
                 const struct vt_replay_fail *from, struct vt_oom *oom) {
    *oom = (struct vt_oom){
        .at = vt_clock_ns(s->clock, from->ticks),
        .device = oom->device,
        .layer = vt_kind_layer(from->kind),
        .outcome = outcome(s, p, from),
        .api = from->unasked ? NULL : vt_hook_name(from->hook),
        .requested_bytes = from->framework_size ? from->framework_size : from->size,
        .driver_requested_bytes = from->unasked ? VT_UNKNOWN : from->size,
        .refused_bytes = VT_UNKNOWN,
        .attempts = from->attempts,
        .thread = from->tid,
        .tracked_bytes = from->tracked_bytes,
        .holder_count = from->holder_count,
        .pin_count = from->pin_count,
        .expandable = from->mapped,
        .unasked = from->unasked,
        .cause = from->flags & VT_FAIL_LIMIT || from->unasked ? VT_CAUSE_LIMIT
                 : from->flags & VT_FAIL_INJECTED             ? VT_CAUSE_INJECTED
                                                              : VT_CAUSE_UNKNOWN,
        .stack = vt_stacks_get(s->stacks, from->stack, vt_hook_is_runtime(from->hook)),
    };
    if (from->raised)
        oom->allocator = "PyTorch";
    else if (vt_classes_of_stack(s->classes, p, oom->stack, &oom->allocator) != VT_CLASS_CACHE)
        oom->allocator = NULL;
    for (uint32_t i = 0; i < from->holder_count; i++) {
        oom->holders[i] = s->index[from->holders[i]];
        oom->holder_bytes[i] = from->holder_bytes[i];
    }
    for (uint32_t i = 0; i < from->pin_count; i++) {
        oom->pins[i] = from->pins[i];
        oom->pins[i].site = s->index[from->pins[i].site];
    }
    set_free(s, p, from, oom);
    set_cache(p, from, oom);
}

/* The bytes that each site held at the decisive failure. */
static void set_held(const struct vt_sources *s, struct vt_process *p) {
    const struct vt_oom *oom = vt_process_oom(p);
    const struct vt_replay_fail *from = oom ? &s->replay->fails[oom->number] : NULL;
    for (uint32_t i = 0; from && from->held && i < p->site_count; i++)
        if (p->sites[i].device == oom->device)
            p->sites[i].bytes_at_oom = 0;
    for (uint32_t i = 0; from && i < from->held_count; i++)
        if (s->index[from->held[i].site] != VT_NO_SITE)
            p->sites[s->index[from->held[i].site]].bytes_at_oom = from->held[i].bytes;
}

void vt_oom_find(const struct vt_sources *s, struct vt_process *p) {
    const struct vt_replay *r = s->replay;
    p->ooms = vt_alloc(r->fail_count, sizeof *p->ooms);
    p->ooms_left_out = r->fails_left_out;
    for (size_t i = 0; i < r->fail_count; i++) {
        const struct vt_replay_fail *from = &r->fails[i];
        bool host = vt_kind_layer(from->kind) == VT_LAYER_HOST;
        unsigned device = host ? VT_DEVICE_HOST : from->device;
        if (from->merged || (s->device >= 0 && !host && device != (unsigned)s->device))
            continue;
        struct vt_oom *oom = &p->ooms[p->oom_count++];
        oom->device = device;
        fill(s, p, from, oom);
        oom->number = (uint32_t)i;
    }
    set_held(s, p);
}
