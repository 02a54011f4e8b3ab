/* SPDX-License-Identifier: MIT */
/*
 * Why did memory run out? For each failed allocation: capacity, fragmentation, or another process, unless the
 * log names a limit. If the figures do not show a cause, it stays unknown. analysis.c calls, when the leaks are known.
 *
 * Fragmentation is the cause only if the request would have succeeded with the same live memory laid out without
 * holes, by the rules of the allocator (replay/packing.c). Even then a leak larger than the holes is the cause: without
 * it the request would have fit, and with it memory soon runs out again. So is an exception being handled whose
 * traceback holds as much as the request. The driver maps scattered pages to one range of
 * addresses: if it refuses memory that it reports as free, that is not fragmentation.
 */
#include "steps.h"

static uint64_t held_by(const struct vt_process *p, const struct vt_oom *oom, uint32_t site) {
    if (oom == vt_process_oom(p) && p->sites[site].bytes_at_oom != VT_UNKNOWN)
        return p->sites[site].bytes_at_oom;
    for (uint32_t i = 0; i < oom->holder_count; i++)
        if (oom->holders[i] == site)
            return oom->holder_bytes[i];
    return 0;
}

static void find_leaks(const struct vt_process *p, struct vt_oom *oom) {
    for (uint32_t i = 0; i < p->leak_count; i++) {
        const struct vt_leak *leak = &p->leaks[i];
        uint64_t bytes = 0;
        if (leak->verdict != VT_VERDICT_GROWING && leak->verdict != VT_VERDICT_LOST)
            continue;
        for (uint32_t j = 0; j < leak->site_count; j++)
            if (p->sites[leak->sites[j]].device == oom->device)
                bytes += held_by(p, oom, leak->sites[j]);
        oom->leaked_bytes += bytes;
        oom->leak_count += bytes > 0;
    }
}

/* What exceptions that are being handled hold: the variables of the functions that they left. */
static void find_exceptions(const struct vt_process *p, struct vt_oom *oom) {
    const struct vt_snapshot *s = vt_process_snapshot_at(p, oom);
    uint64_t count;
    for (uint32_t i = 0; s && i < s->owner_count; i++)
        if (s->owners[i].root.kind == VT_ROOT_EXCEPTION)
            oom->exception_bytes += vt_owner_bytes_on(p, &s->owners[i], oom->device, &count);
}

/* The holes blocked it; but a larger leak would soon have done so, or the program holds what it gave up: who holds the
 * memory decides before its shape. */
static enum vt_oom_cause weigh_holes(struct vt_oom *oom) {
    oom->but_fits =
        oom->total_bytes != VT_UNKNOWN && oom->leaked_bytes > vt_known(oom->cached_bytes);
    return oom->but_fits || oom->exception_bytes >= oom->requested_bytes ? VT_CAUSE_CAPACITY
                                                                         : VT_CAUSE_FRAGMENTATION;
}

/* A request of PyTorch's, by its rules. */
static enum vt_oom_cause weigh_cache(struct vt_oom *oom) {
    uint64_t others = vt_known(oom->others_bytes);
    uint64_t need = vt_beyond(oom->cache.need_bytes, oom->cache.reserved_bytes);
    uint64_t asked = oom->expandable || oom->driver_requested_bytes == VT_UNKNOWN
                         ? oom->requested_bytes
                         : oom->driver_requested_bytes;
    uint64_t free = oom->free_bytes == VT_UNKNOWN ? UINT64_MAX / 2 : oom->free_bytes;
    bool known = oom->free_reported_at != VT_UNKNOWN;
    if (need > free)
        return known && need <= free + others && others > oom->leaked_bytes ? VT_CAUSE_OTHER_PROCESS
                                                                            : VT_CAUSE_CAPACITY;
    if (known ? asked <= free : need > 0) /* it would have fit, or that is unknown */
        return VT_CAUSE_UNKNOWN;
    return weigh_holes(oom);
}

/* Any other request. */
static enum vt_oom_cause weigh(struct vt_oom *oom) {
    uint64_t cached = vt_known(oom->cached_bytes), others = vt_known(oom->others_bytes);
    uint64_t in_use = vt_beyond(oom->tracked_bytes, cached), asked = oom->driver_requested_bytes;
    if (oom->requested_bytes < asked || oom->expandable)
        asked = oom->requested_bytes; /* a segment can be larger than the request */
    if (oom->total_bytes != VT_UNKNOWN &&
        (asked > oom->total_bytes || in_use > oom->total_bytes - asked))
        return VT_CAUSE_CAPACITY;
    bool known = oom->free_reported_at != VT_UNKNOWN;
    uint64_t had = known ? oom->free_bytes : 0;
    if (oom->allocator && cached && asked <= had + cached)
        return weigh_holes(oom);
    if (!known)
        return VT_CAUSE_UNKNOWN;
    uint64_t pages = (asked + DRIVER_PAGE - 1) / DRIVER_PAGE * DRIVER_PAGE;
    if (pages <= had) {
        oom->refused_bytes = asked;
        return VT_CAUSE_UNKNOWN;
    }
    bool theirs = asked > had + cached && asked <= had + cached + others;
    return theirs && others > oom->leaked_bytes ? VT_CAUSE_OTHER_PROCESS : VT_CAUSE_CAPACITY;
}

void vt_oom_explain(const struct vt_process *p, struct vt_oom *oom) {
    find_leaks(p, oom);
    find_exceptions(p, oom);
    if (oom->cause || oom->layer == VT_LAYER_HOST)
        return;
    bool by_rules = oom->cache.known && oom->requested_bytes <= oom->total_bytes;
    oom->cause = by_rules ? weigh_cache(oom) : weigh(oom);
}
