/* SPDX-License-Identifier: MIT */
/*
 * Why was there no memory? For each failed allocation: capacity, fragmentation, another process, a
 * limit, or a rehearsed failure; in a sentence that says first what filled the device. If the
 * figures do not show a cause, it stays unknown. build.c calls, after the leaks are known.
 *
 * Fragmentation is the cause only if the same live memory, laid out without holes, had let the
 * request through by the rules of the allocator (replay/packing.c). Even then a leak that held more
 * than the holes is the cause: without it there would have been room, and with it there soon is none
 * again. The driver itself maps scattered pages to one range of addresses: if it refuses what it
 * says is free, that is not fragmentation.
 */
#include "parts.h"

#include <stdlib.h>

/* What is known of a failure, in bytes. */
struct books {
    struct vt_oom *oom;
    uint64_t asked;  /* of the driver */
    uint64_t cached; /* idle in segments */
    uint64_t others; /* 0: none, or unknown */
    bool said;       /* the driver said what was free */
};

static uint64_t less(uint64_t a, uint64_t b) {
    return a > b ? a - b : 0;
}

/* --- leaks --- */

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

/* --- what filled the device --- */

struct filler {
    const char *what;
    uint64_t bytes;
};

static int largest_first(const void *a, const void *b) {
    const struct filler *x = a, *y = b;
    return x->bytes < y->bytes ? 1 : x->bytes > y->bytes ? -1 : 0;
}

/* "the leak held 83 % of the device (33.1 GiB), other live memory 14 %". */
static void say_fillers(const struct books *b, struct vt_string *why) {
    const struct vt_oom *oom = b->oom;
    char idle[80];
    uint64_t total = oom->total_bytes, live = less(oom->tracked_bytes, b->cached);
    uint64_t untracked =
        b->said ? less(less(total, oom->free_bytes), oom->tracked_bytes + b->others) : 0;
    snprintf(idle, sizeof idle, "idle memory in %s's segments",
             oom->allocator ? oom->allocator : "PyTorch");
    struct filler all[] = {
        {oom->leak_count > 1 ? "leaks" : "the leak", oom->leaked_bytes},
        {oom->leaked_bytes ? "other live memory" : "live memory", less(live, oom->leaked_bytes)},
        {idle, b->cached},
        {"other processes", b->others},
        {"untracked memory (contexts, loaded code)", untracked},
    };
    size_t count = sizeof all / sizeof *all;
    qsort(all, count, sizeof *all, largest_first);
    for (size_t i = 0; i < count && (!i || all[i].bytes >= total / 20); i++) {
        double share = (double)all[i].bytes / (double)total * 100;
        unsigned percent = share < 1000 ? (unsigned)(share + 0.5) : 1000;
        vt_string_format(why, i ? ", %s %u %%" : "%s held %u %% of the device", all[i].what,
                         percent);
        if (!i)
            vt_string_format(why, " (%s of %s)", VT_BYTES(all[i].bytes), VT_BYTES(total));
    }
}

/* Adds which other causes were excluded. */
static void say_not(const struct vt_process *p, const struct books *b, struct vt_string *why) {
    const struct vt_oom *oom = b->oom;
    const char *limit = vt_process_variable(p, "VRAMTRACE_LIMIT");
    vt_string_add(why, ". Not fragmentation");
    if (b->cached && oom->cache.known && oom->free_bytes != VT_UNKNOWN)
        vt_string_format(
            why, ": without holes %s more would still have been missing",
            VT_BYTES(less(oom->cache.need_bytes, oom->cache.reserved_bytes + oom->free_bytes)));
    else if (b->cached && oom->allocator)
        vt_string_format(why, ": the %s idle in the cache would not have been enough",
                         VT_BYTES(b->cached));
    const char *and = b->cached ? "; not" : ", not";
    if (oom->others_bytes == 0)
        vt_string_format(why, "%s another process (0 B)", and);
    else if (oom->others_bytes != VT_UNKNOWN)
        vt_string_format(why, "%s another process (%s%s)", and, VT_BYTES(oom->others_bytes),
                         oom->others_said ? "" : ", estimated");
    if (limit)
        vt_string_format(why, ", not VRAMTRACE_LIMIT (%s)", limit);
    else
        vt_string_add(why, ", no limit set");
}

/* --- the causes --- */

static void say_capacity(const struct vt_process *p, const struct books *b, struct vt_string *why) {
    struct vt_oom *oom = b->oom;
    oom->cause = VT_CAUSE_CAPACITY;
    if (oom->requested_bytes > oom->total_bytes) {
        vt_string_format(why, "%s is more than the whole device has (%s)",
                         VT_BYTES(oom->requested_bytes), VT_BYTES(oom->total_bytes));
        return;
    }
    say_fillers(b, why);
    say_not(p, b, why);
}

static void say_other_process(const struct books *b, struct vt_string *why) {
    struct vt_oom *oom = b->oom;
    oom->cause = VT_CAUSE_OTHER_PROCESS;
    vt_string_format(
        why, "other processes held %s%s of the device's %s; this one held %s, and %s was free",
        VT_BYTES(b->others), oom->others_said ? "" : " (estimated)", VT_BYTES(oom->total_bytes),
        VT_BYTES(oom->tracked_bytes), VT_BYTES(oom->free_bytes));
}

/* Where the idle memory was that the request could not use. */
static void say_idle(const struct books *b, struct vt_string *why) {
    const struct vt_oom_cache *cache = &b->oom->cache;
    bool small = b->oom->requested_bytes <= VT_CACHE_SMALL;
    vt_string_format(why, "%s was idle inside %s's segments", VT_BYTES(b->cached),
                     b->oom->allocator ? b->oom->allocator : "a caching allocator");
    if (cache->known && cache->usable_bytes)
        vt_string_format(why, ", %sin pieces of at most %s",
                         cache->usable_bytes < b->cached ? "some of it " : "",
                         VT_BYTES(cache->largest_usable_bytes));
    else if (!cache->known)
        vt_string_format(why, ", in pieces of at most %s", VT_BYTES(b->oom->largest_free_bytes));
    if (cache->known && cache->other_pool_bytes)
        vt_string_format(why, ", %s of it in the pool for %s requests",
                         VT_BYTES(cache->other_pool_bytes), small ? "large" : "small");
    if (cache->known && cache->other_stream_bytes)
        vt_string_format(why, ", %s of it kept for another stream or a CUDA graph",
                         VT_BYTES(cache->other_stream_bytes));
}

static void say_fragmentation(const struct vt_process *p, const struct books *b,
                              struct vt_string *why) {
    struct vt_oom *oom = b->oom;
    if (oom->total_bytes != VT_UNKNOWN && oom->leaked_bytes > b->cached) {
        oom->cause = VT_CAUSE_CAPACITY;
        say_fillers(b, why);
        vt_string_format(why,
                         ". Without holes in the %s idle inside %s's segments this request "
                         "would have fit, but the leak goes on",
                         VT_BYTES(b->cached), oom->allocator ? oom->allocator : "the allocator");
        return;
    }
    (void)p;
    oom->cause = VT_CAUSE_FRAGMENTATION;
    say_idle(b, why);
    if (oom->free_bytes != VT_UNKNOWN)
        vt_string_format(why, "%s %s was free on the device", b->said ? ", and" : ", and at most",
                         VT_BYTES(oom->free_bytes));
    vt_string_format(why, ": without holes the same live memory would have left room for %s",
                     VT_BYTES(oom->requested_bytes));
}

/* A request of PyTorch's, by its rules. True: found the cause. */
static bool weigh_cache(const struct vt_process *p, const struct books *b, struct vt_string *why) {
    struct vt_oom *oom = b->oom;
    uint64_t need = less(oom->cache.need_bytes, oom->cache.reserved_bytes);
    uint64_t asked = oom->expandable || oom->driver_requested_bytes == VT_UNKNOWN
                         ? oom->requested_bytes
                         : oom->driver_requested_bytes;
    uint64_t free = oom->free_bytes == VT_UNKNOWN ? UINT64_MAX / 2 : oom->free_bytes;
    if (need > free) {
        if (b->said && need <= free + b->others && b->others > oom->leaked_bytes)
            say_other_process(b, why);
        else
            say_capacity(p, b, why);
        return true;
    }
    if (b->said ? asked <= free : need > 0)
        return false; /* refused although there was room; or it is not known whether there was */
    say_fragmentation(p, b, why);
    return true;
}

/* Any other request. True: found the cause. */
static bool weigh(const struct vt_process *p, const struct books *b, struct vt_string *why) {
    struct vt_oom *oom = b->oom;
    uint64_t in_use = less(oom->tracked_bytes, b->cached), asked = b->asked;
    if (oom->total_bytes != VT_UNKNOWN &&
        (asked > oom->total_bytes || in_use > oom->total_bytes - asked)) {
        say_capacity(p, b, why);
        return true;
    }
    uint64_t had = b->said ? oom->free_bytes : 0;
    if (oom->allocator && b->cached && (asked <= had + b->cached)) {
        say_fragmentation(p, b, why);
        return true;
    }
    if (!b->said)
        return false;
    uint64_t pages = (asked + DRIVER_PAGE - 1) / DRIVER_PAGE * DRIVER_PAGE;
    if (pages <= had) {
        vt_string_format(why,
                         "the driver reported %s free, but refused %s: someone else held it at "
                         "that moment, or it is not of the requested kind",
                         VT_BYTES(oom->free_bytes), VT_BYTES(asked));
        return true;
    }
    if (b->others > oom->leaked_bytes && asked <= had + b->cached + b->others &&
        asked > had + b->cached)
        say_other_process(b, why);
    else
        say_capacity(p, b, why);
    return true;
}

static void say_unknown(const struct vt_oom *oom, struct vt_string *why) {
    if (oom->total_bytes == VT_UNKNOWN)
        vt_string_format(why,
                         "this process held %s; the device's size is not in the log, because "
                         "the program never asked for it",
                         VT_BYTES(oom->tracked_bytes));
    else
        vt_string_format(why,
                         "this process held only %s of the device's %s: something else held "
                         "the rest, or the free memory was in pieces",
                         VT_BYTES(oom->tracked_bytes), VT_BYTES(oom->total_bytes));
}

static void say_limit(const struct vt_oom *oom, uint64_t asked, struct vt_string *why) {
    vt_string_format(why, "%s more would have exceeded VRAMTRACE_LIMIT; this process held %s",
                     VT_BYTES(asked), VT_BYTES(oom->tracked_bytes));
    if (oom->cached_bytes && oom->cached_bytes != VT_UNKNOWN)
        vt_string_format(why, ", %s of it idle in a cache", VT_BYTES(oom->cached_bytes));
    if (oom->leaked_bytes)
        vt_string_format(why, ", %s of it leaked", VT_BYTES(oom->leaked_bytes));
}

static void explain(const struct vt_process *p, const struct vt_replay_fail *from,
                    struct vt_oom *oom) {
    struct vt_string why = {0};
    struct books b = {
        .oom = oom,
        .asked = oom->driver_requested_bytes,
        .cached = oom->cached_bytes == VT_UNKNOWN ? 0 : oom->cached_bytes,
        .others = oom->others_bytes == VT_UNKNOWN ? 0 : oom->others_bytes,
        .said = oom->free_said_at != VT_UNKNOWN,
    };
    if (oom->requested_bytes < b.asked || b.asked == VT_UNKNOWN || oom->expandable)
        b.asked = oom->requested_bytes; /* a segment can be larger than the request */
    find_leaks(p, oom);
    if (from->flags & VT_FAIL_LIMIT) {
        oom->cause = VT_CAUSE_LIMIT;
        say_limit(oom, from->size, &why);
    } else if (from->flags & VT_FAIL_INJECTED) {
        oom->cause = VT_CAUSE_INJECTED;
        vt_string_add(&why, "VRAMTRACE_INJECT chose this allocation to fail");
    } else if (from->unasked) {
        oom->cause = VT_CAUSE_LIMIT;
        vt_string_format(&why,
                         "%s refused it without asking the driver, as it does above the share of "
                         "the device that it may use",
                         oom->allocator);
    } else if (oom->layer == VT_LAYER_HOST) {
        vt_string_format(&why, "the system refused %s of pinned host memory",
                         VT_BYTES(oom->requested_bytes));
    } else if (oom->cache.known && oom->requested_bytes <= oom->total_bytes
                   ? !weigh_cache(p, &b, &why)
                   : !weigh(p, &b, &why)) {
        say_unknown(oom, &why);
    }
    oom->why = why.text;
}

void vt_oom_explain(const struct vt_sources *s, struct vt_process *p) {
    for (uint32_t i = 0; i < p->oom_count; i++)
        explain(p, &s->replay->fails[p->ooms[i].number], &p->ooms[i]);
}
