/* SPDX-License-Identifier: MIT */
/*
 * Why was there no memory? For each failed allocation, this finds the outcome and the cause:
 * capacity, fragmentation, another process, a limit, or a rehearsal; with the figures that show it.
 * If they do not show a cause, it stays unknown. build.c calls; oom_advice.c adds the advice.
 *
 * Free memory is what the driver told the program at the nearest moment, corrected for allocations
 * and frees since. If the program never asked, it is what NVML told `vramtrace run`, which also
 * knows what other processes held. Without either it is the device's size minus tracked memory,
 * which includes what other processes hold and what is untracked; these cannot be told apart then,
 * so neither is named as the cause.
 */
#include "judge.h"
#include "log/log.h"
#include "untracked.h"

#include "vramtrace/log_format.h"
#include "vramtrace/text.h"

#include <stdlib.h>
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

/* A context and its code take up to some hundred MiB, untracked; the rest must belong to others. On
 * the simulated GPU the size is known. */
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

/* --- what the device had --- */

static uint64_t distance(uint64_t a, uint64_t b) {
    return a > b ? a - b : b - a;
}

static void take_free(const struct vt_oom_sources *s, const struct vt_process *p,
                      const struct vt_replay_fail *from, struct vt_oom *oom) {
    const struct vt_replay_info *info = &from->before;
    struct vt_replay_info sampled;
    uint64_t tracked;
    if (from->after.ticks && (!info->ticks || distance(from->after.ticks, from->ticks) <
                                                  distance(info->ticks, from->ticks)))
        info = &from->after;
    oom->free_bytes = oom->total_bytes = oom->free_said_at = oom->others_bytes = VT_UNKNOWN;
    for (uint32_t i = 0; i < p->device_count; i++)
        if (p->devices[i].ordinal == oom->device)
            oom->total_bytes = p->devices[i].total_bytes;
    if (oom->layer == VT_LAYER_HOST)
        return;
    const struct vt_replay_sample *sample =
        vt_untracked_near(s->log, s->replay, oom->device, from->ticks, &tracked);
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
            oom->free_bytes =
                oom->total_bytes > oom->tracked_bytes ? oom->total_bytes - oom->tracked_bytes : 0;
        return;
    }
    uint64_t had = info->free_bytes + info->tracked, used = info->total_bytes - info->free_bytes;
    oom->total_bytes = info->total_bytes;
    oom->free_bytes = had > oom->tracked_bytes ? had - oom->tracked_bytes : 0;
    oom->free_said_at = vt_clock_ns(s->clock, info->ticks);
    oom->others_bytes = used < info->tracked
                            ? 0
                            : vt_oom_others(p, oom->device, oom->free_said_at, used - info->tracked,
                                            info->total_bytes);
    if (sample && sample->others_bytes != VT_SAMPLE_UNKNOWN) {
        oom->others_bytes = sample->others_bytes;
        oom->others_said = true;
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

static void take_cache(const struct vt_process *p, const struct vt_replay_fail *from,
                       struct vt_oom *oom) {
    oom->cached_bytes = oom->largest_free_bytes = VT_UNKNOWN;
    if (from->cached) {
        oom->cached_bytes = from->reserve.reserved - from->reserve.in_use;
        oom->largest_free_bytes = from->reserve.largest;
    } else if (oom->layer != VT_LAYER_HOST && !has_unseen_cache(p, oom->device)) {
        oom->cached_bytes = oom->largest_free_bytes = 0;
    }
}

/* --- the outcome --- */

static const char *outcome(const struct vt_oom_sources *s, const struct vt_process *p,
                           const struct vt_replay_fail *from) {
    const uint64_t soon = 10ull * 1000000000;
    if (from->raised)
        return "raised";
    if (from->next_size) {
        bool same =
            from->next_size >= from->size &&
            vt_clock_ns(s->clock, from->next_ticks) - vt_clock_ns(s->clock, from->ticks) <= soon;
        return same ? "recovered" : "unknown";
    }
    return p->complete ? "raised" : "unknown";
}

/* --- the cause --- */

/* Adds which other causes were excluded. */
static void say_not(const struct vt_oom *oom, bool fragmentation, struct vt_string *why) {
    if (fragmentation)
        vt_string_format(why,
                         ". Not fragmentation: the %s idle in the cache would not have been enough",
                         VT_BYTES(oom->cached_bytes));
    if (oom->others_bytes == 0)
        vt_string_add(why, fragmentation ? "; no other process held memory"
                                         : ". No other process held memory");
    else if (oom->others_bytes != VT_UNKNOWN)
        vt_string_format(why, "%s other processes held %s",
                         fragmentation ? "; meanwhile" : ". Meanwhile",
                         VT_BYTES(oom->others_bytes));
}

static void say_capacity(const struct vt_oom *oom, uint64_t in_use, struct vt_string *why) {
    oom->requested_bytes > oom->total_bytes
        ? vt_string_format(why, "%s is more than the whole device has (%s)",
                           VT_BYTES(oom->requested_bytes), VT_BYTES(oom->total_bytes))
        : vt_string_format(why, "this process held %s of the device's %s%s",
                           VT_BYTES(oom->tracked_bytes), VT_BYTES(oom->total_bytes),
                           in_use < oom->tracked_bytes ? ", most of it in use" : "");
}

/* Looks for a cause that the books and the driver's figures show. True: found one. */
static bool weigh(struct vt_oom *oom, struct vt_string *why) {
    uint64_t cached = oom->cached_bytes == VT_UNKNOWN ? 0 : oom->cached_bytes;
    uint64_t in_use = oom->tracked_bytes > cached ? oom->tracked_bytes - cached : 0;
    uint64_t asked = oom->driver_requested_bytes, free = oom->free_bytes;
    bool said = oom->free_said_at != VT_UNKNOWN;
    uint64_t others = oom->others_bytes == VT_UNKNOWN ? 0 : oom->others_bytes;
    if (oom->requested_bytes < asked || asked == VT_UNKNOWN)
        asked = oom->requested_bytes; /* a segment can be larger than the request */
    if (oom->total_bytes != VT_UNKNOWN &&
        (asked > oom->total_bytes || in_use > oom->total_bytes - asked)) {
        oom->cause = "capacity";
        say_capacity(oom, in_use, why);
        say_not(oom, cached > 0, why);
        return true;
    }
    if (cached && (asked <= cached || (free != VT_UNKNOWN && asked <= cached + free))) {
        oom->cause = "fragmentation";
        vt_string_format(why, "%s was idle inside %s's segments, in pieces of at most %s",
                         VT_BYTES(cached), oom->allocator ? oom->allocator : "a caching allocator",
                         VT_BYTES(oom->largest_free_bytes));
        if (free != VT_UNKNOWN)
            vt_string_format(why, "%s %s was free on the device", said ? ", and" : ", and at most",
                             VT_BYTES(free));
        vt_string_format(why, ": enough in total for %s, but not in one piece", VT_BYTES(asked));
        return true;
    }
    if (!said)
        return false;
    if (asked <= free) {
        oom->cause = "fragmentation";
        vt_string_format(why,
                         "the driver reported %s free but could not provide %s: not in one piece, "
                         "or not of the requested kind",
                         VT_BYTES(free), VT_BYTES(asked));
        return true;
    }
    if (others && asked <= free + cached + others) {
        oom->cause = "other-process";
        vt_string_format(why,
                         "other processes held %s%s of the device's %s; this one held %s, and %s "
                         "was free",
                         VT_BYTES(others),
                         oom->others_bytes == VT_UNKNOWN || oom->others_said ? "" : " (estimated)",
                         VT_BYTES(oom->total_bytes), VT_BYTES(oom->tracked_bytes), VT_BYTES(free));
        return true;
    }
    oom->cause = "capacity";
    say_capacity(oom, in_use, why);
    uint64_t rest = oom->total_bytes - free > oom->tracked_bytes + others
                        ? oom->total_bytes - free - oom->tracked_bytes - others
                        : 0;
    if (rest)
        vt_string_format(why, "; another %s was untracked: contexts, loaded code, driver reserve",
                         VT_BYTES(rest));
    say_not(oom, cached > 0, why);
    return true;
}

static void explain(const struct vt_replay_fail *from, struct vt_oom *oom) {
    struct vt_string why = {0};
    if (from->flags & VT_FAIL_LIMIT) {
        oom->cause = "limit";
        vt_string_format(&why, "%s more would have exceeded VRAMTRACE_LIMIT; this process held %s",
                         VT_BYTES(from->size), VT_BYTES(oom->tracked_bytes));
        if (oom->cached_bytes && oom->cached_bytes != VT_UNKNOWN)
            vt_string_format(&why, ", %s of it idle in a cache", VT_BYTES(oom->cached_bytes));
    } else if (from->flags & VT_FAIL_INJECTED) {
        oom->cause = "injected";
        vt_string_add(&why, "VRAMTRACE_INJECT chose this allocation to fail");
    } else if (from->unasked) {
        oom->cause = "limit";
        vt_string_format(&why,
                         "%s refused it without asking the driver, as it does above the share of "
                         "the device that it may use",
                         oom->allocator);
    } else if (oom->layer == VT_LAYER_HOST) {
        vt_string_format(&why, "the system refused %s of pinned host memory",
                         VT_BYTES(oom->requested_bytes));
    } else if (!weigh(oom, &why)) {
        if (oom->total_bytes == VT_UNKNOWN)
            vt_string_format(&why,
                             "this process held %s; the device's size is not in the log, because "
                             "the program never asked for it",
                             VT_BYTES(oom->tracked_bytes));
        else
            vt_string_format(&why,
                             "this process held only %s of the device's %s: something else held "
                             "the rest, or the free memory was in pieces",
                             VT_BYTES(oom->tracked_bytes), VT_BYTES(oom->total_bytes));
    }
    oom->why = why.text;
}

/* --- the whole --- */

static void take(const struct vt_oom_sources *s, const struct vt_process *p,
                 const struct vt_replay_fail *from, struct vt_oom *oom) {
    *oom = (struct vt_oom){
        .at = vt_clock_ns(s->clock, from->ticks),
        .device = oom->device,
        .layer = vt_kind_layer(from->kind),
        .outcome = outcome(s, p, from),
        .api = from->unasked ? NULL : vt_hook_name(from->hook),
        .requested_bytes = from->framework_size ? from->framework_size : from->size,
        .driver_requested_bytes = from->unasked ? VT_UNKNOWN : from->size,
        .attempts = from->attempts,
        .thread = from->tid,
        .tracked_bytes = from->tracked_bytes,
        .holder_count = from->holder_count,
        .pin_count = from->pin_count,
        .expandable = from->mapped,
        .unasked = from->unasked,
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
    for (uint32_t i = 0; i < from->pin_count; i++)
        oom->pins[i] = (struct vt_pin){s->index[from->pins[i].site], from->pins[i].blocks,
                                       from->pins[i].block_bytes, from->pins[i].segments,
                                       from->pins[i].pinned_bytes};
    take_free(s, p, from, oom);
    take_cache(p, from, oom);
    explain(from, oom);
}

void vt_oom_find(const struct vt_oom_sources *s, struct vt_process *p) {
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
        take(s, p, from, oom);
    }
}
