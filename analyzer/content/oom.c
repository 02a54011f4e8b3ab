/* SPDX-License-Identifier: MIT */
/*
 * Where memory ran out: why a failed allocation found none, by the cause that analysis/oom_cause.c found, in a
 * sentence that says first what filled the device; and what to do about it. A setting is advised only if the run
 * would have passed with it (analysis/oom_setting.c), and smaller requests only if they would have found room.
 */
#include "sentences.h"

#include "replay/replay.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct filler {
    const char *what;
    uint64_t bytes;
};

static int largest_first(const void *a, const void *b) {
    const struct filler *x = a, *y = b;
    return x->bytes < y->bytes ? 1 : x->bytes > y->bytes ? -1 : 0;
}

/* "the leak held 83 % of the device (33.1 GiB), other live memory 14 %". */
static void say_fillers(const struct vt_oom *oom, struct vt_string *why) {
    char idle[80];
    uint64_t cached = vt_known(oom->cached_bytes), others = vt_known(oom->others_bytes);
    uint64_t total = oom->total_bytes, live = vt_beyond(oom->tracked_bytes, cached);
    uint64_t untracked = vt_beyond(vt_beyond(total, oom->free_bytes), oom->tracked_bytes + others);
    snprintf(idle, sizeof idle, "idle memory in %s's segments",
             oom->allocator ? oom->allocator : "PyTorch");
    struct filler all[] = {
        {oom->leak_count > 1 ? "leaks" : "the leak", oom->leaked_bytes},
        {oom->leaked_bytes ? "other live memory" : "live memory",
         vt_beyond(live, oom->leaked_bytes)},
        {idle, cached},
        {"other processes", others},
        {"untracked memory (contexts, loaded code)",
         oom->free_reported_at == VT_UNKNOWN ? 0 : untracked},
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
static void say_not(const struct vt_process *p, const struct vt_oom *oom, struct vt_string *why) {
    uint64_t cached = vt_known(oom->cached_bytes);
    const char *limit = vt_process_variable(p, "VRAMTRACE_LIMIT");
    vt_string_add(why, ". Not fragmentation");
    if (cached && oom->cache.known && oom->free_bytes != VT_UNKNOWN)
        vt_string_format(why, ": without holes %s more would still have been missing",
                         VT_BYTES(vt_beyond(oom->cache.need_bytes,
                                            oom->cache.reserved_bytes + oom->free_bytes)));
    else if (cached && oom->allocator)
        vt_string_format(why, ": the %s idle in the cache would not have been enough",
                         VT_BYTES(cached));
    const char *and = cached ? "; not" : ", not";
    if (oom->others_bytes == 0)
        vt_string_format(why, "%s another process (0 B)", and);
    else if (oom->others_bytes != VT_UNKNOWN)
        vt_string_format(why, "%s another process (%s%s)", and, VT_BYTES(oom->others_bytes),
                         oom->others_measured ? "" : ", estimated");
    if (limit)
        vt_string_format(why, ", not VRAMTRACE_LIMIT (%s)", limit);
    else
        vt_string_add(why, ", no limit set");
}

static void say_capacity(const struct vt_process *p, const struct vt_oom *oom,
                         struct vt_string *why) {
    if (!oom->but_fits && oom->requested_bytes > oom->total_bytes) {
        vt_string_format(why, "%s is more than the whole device has (%s)",
                         VT_BYTES(oom->requested_bytes), VT_BYTES(oom->total_bytes));
        return;
    }
    if (oom->exception_bytes >= oom->requested_bytes) {
        vt_string_format(why,
                         "the exception that is being handled holds %s of live memory, in the "
                         "variables of the functions that it left: without it %s would have fit",
                         VT_BYTES(oom->exception_bytes), VT_BYTES(oom->requested_bytes));
        return;
    }
    say_fillers(oom, why);
    if (oom->but_fits)
        vt_string_format(why,
                         ". Without holes in the %s idle inside %s's segments this request "
                         "would have fit, but the leak goes on",
                         VT_BYTES(vt_known(oom->cached_bytes)),
                         oom->allocator ? oom->allocator : "the allocator");
    else
        say_not(p, oom, why);
}

static void say_other_process(const struct vt_oom *oom, struct vt_string *why) {
    vt_string_format(
        why, "other processes held %s%s of the device's %s; this one held %s, and %s was free",
        VT_BYTES(vt_known(oom->others_bytes)), oom->others_measured ? "" : " (estimated)",
        VT_BYTES(oom->total_bytes), VT_BYTES(oom->tracked_bytes), VT_BYTES(oom->free_bytes));
}

/* Where the idle memory was that the request could not use. */
static void say_idle(const struct vt_oom *oom, struct vt_string *why) {
    const struct vt_oom_cache *cache = &oom->cache;
    uint64_t cached = vt_known(oom->cached_bytes);
    bool small = oom->requested_bytes <= VT_CACHE_SMALL;
    vt_string_format(why, "%s was idle inside %s's segments", VT_BYTES(cached),
                     oom->allocator ? oom->allocator : "a caching allocator");
    if (cache->known && cache->usable_bytes)
        vt_string_format(why, ", %sin pieces of at most %s",
                         cache->usable_bytes < cached ? "some of it " : "",
                         VT_BYTES(cache->largest_usable_bytes));
    else if (!cache->known)
        vt_string_format(why, ", in pieces of at most %s", VT_BYTES(oom->largest_free_bytes));
    if (cache->known && cache->other_pool_bytes)
        vt_string_format(why, ", %s of it in the pool for %s requests",
                         VT_BYTES(cache->other_pool_bytes), small ? "large" : "small");
    if (cache->known && cache->other_stream_bytes)
        vt_string_format(why, ", %s of it kept for another stream or a CUDA graph",
                         VT_BYTES(cache->other_stream_bytes));
}

static void say_fragmentation(const struct vt_oom *oom, struct vt_string *why) {
    say_idle(oom, why);
    if (oom->free_bytes != VT_UNKNOWN)
        vt_string_format(why, "%s %s was free on the device",
                         oom->free_reported_at != VT_UNKNOWN ? ", and" : ", and at most",
                         VT_BYTES(oom->free_bytes));
    vt_string_format(why, ": without holes the same live memory would have left room for %s",
                     VT_BYTES(oom->requested_bytes));
}

static void say_unknown(const struct vt_oom *oom, struct vt_string *why) {
    if (oom->layer == VT_LAYER_HOST)
        vt_string_format(why, "the system refused %s of pinned host memory",
                         VT_BYTES(oom->requested_bytes));
    else if (oom->refused_bytes != VT_UNKNOWN)
        vt_string_format(why,
                         "the driver reported %s free, but refused %s: someone else held it at "
                         "that moment, or it is not of the requested kind",
                         VT_BYTES(oom->free_bytes), VT_BYTES(oom->refused_bytes));
    else if (oom->total_bytes == VT_UNKNOWN)
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

static void say_limit(const struct vt_oom *oom, struct vt_string *why) {
    vt_string_format(why, "%s more would have exceeded VRAMTRACE_LIMIT; this process held %s",
                     VT_BYTES(oom->driver_requested_bytes), VT_BYTES(oom->tracked_bytes));
    if (oom->cached_bytes && oom->cached_bytes != VT_UNKNOWN)
        vt_string_format(why, ", %s of it idle in a cache", VT_BYTES(oom->cached_bytes));
    if (oom->leaked_bytes)
        vt_string_format(why, ", %s of it leaked", VT_BYTES(oom->leaked_bytes));
}

static char *why(const struct vt_process *p, const struct vt_oom *oom) {
    struct vt_string text = {0};
    if (oom->cause == VT_CAUSE_CAPACITY)
        say_capacity(p, oom, &text);
    else if (oom->cause == VT_CAUSE_FRAGMENTATION)
        say_fragmentation(oom, &text);
    else if (oom->cause == VT_CAUSE_OTHER_PROCESS)
        say_other_process(oom, &text);
    else if (oom->unasked)
        vt_string_format(&text,
                         "%s refused it without asking the driver, as it does above the share of "
                         "the device that it may use",
                         oom->allocator);
    else if (oom->cause == VT_CAUSE_LIMIT)
        say_limit(oom, &text);
    else if (oom->cause == VT_CAUSE_INJECTED)
        vt_string_add(&text, "VRAMTRACE_INJECT chose this allocation to fail");
    else
        say_unknown(oom, &text);
    return text.text;
}

/* --- advice --- */

/* The next clause begins. */
static void separate(struct vt_string *text) {
    vt_string_add(text, text->length ? "; or " : "");
}

/* Whether a line of the user's code allocates them: allocations of a backward pass cannot be moved. */
static bool can_move(const struct vt_process *p, const struct vt_pin *pin) {
    const struct vt_stack *stack = pin->site == VT_NO_SITE ? NULL : p->sites[pin->site].stack;
    VT_SCOPED char *node = stack ? vt_stack_text_node(stack) : NULL;
    bool can = stack && stack->user_frame < stack->count && !node &&
               !vt_stack_frame(stack, stack->user_frame)->waiting;
    return can;
}

static void name_pins(const struct vt_process *p, const struct vt_oom *oom,
                      struct vt_string *text) {
    uint32_t i = 0;
    while (i < oom->pin_count && !can_move(p, &oom->pins[i]))
        i++;
    if (i == oom->pin_count)
        return;
    const struct vt_pin *pin = &oom->pins[i];
    VT_SCOPED char *frame_text = vt_stack_text(p, p->sites[pin->site].stack, 60, false);
    separate(text);
    vt_string_format(
        text,
        "allocate the blocks kept from %s earlier or in memory of their own: %s block%s "
        "(%s) hold%s %s segment%s with %s idle",
        frame_text, VT_NUMBER(pin->blocks), vt_plural(pin->blocks), VT_BYTES(pin->block_bytes),
        pin->blocks == 1 ? "s" : "", VT_NUMBER(pin->segments), vt_plural(pin->segments),
        VT_BYTES(pin->pinned_bytes));
}

/* PyTorch's settings with another one, in place of one of the same name. */
static void name_setting(const struct vt_process *p, const struct vt_oom *oom,
                         struct vt_string *text) {
    const char *name, *rest = vt_replay_torch_settings(p->variables, p->variable_count, &name);
    size_t length = strcspn(oom->setting, ":") + 1;
    separate(text);
    vt_string_format(text, "set %s=", name);
    while (*rest) {
        size_t item = strcspn(rest, ",");
        const char *start = rest + strspn(rest, " ");
        if (item && strncasecmp(start, oom->setting, length))
            vt_string_format(text, "%.*s,", (int)(rest + item - start), start);
        rest += item + (rest[item] == ',');
    }
    vt_string_add(text, oom->setting);
}

/* The largest request below the failed one that had found room; 0: none. */
static uint64_t would_fit(const struct vt_oom *oom) {
    const uint64_t mib = 1 << 20;
    uint64_t free = vt_known(oom->free_bytes), fits = free;
    if (oom->cache.known) {
        bool small = oom->requested_bytes <= mib;
        uint64_t unit = oom->expandable ? 20 * mib : 2 * mib;
        fits = small || free < 10 * mib ? 0 : free / unit * unit;
        if (oom->cache.largest_usable_bytes > fits)
            fits = oom->cache.largest_usable_bytes;
    }
    return fits < oom->requested_bytes ? fits : 0;
}

static void ask_for_less(const struct vt_oom *oom, struct vt_string *text) {
    uint64_t fits = would_fit(oom);
    if (!fits)
        return;
    separate(text);
    vt_string_format(text, "ask for at most %s at a time", VT_BYTES(fits));
}

static void against_fragmentation(const struct vt_process *p, const struct vt_oom *oom,
                                  struct vt_string *text) {
    if (oom->setting)
        name_setting(p, oom, text);
    name_pins(p, oom, text);
    ask_for_less(oom, text);
    if (oom->expandable && text->length)
        vt_string_add(text, " (expandable segments are on already)");
}

static bool is_leak(const struct vt_process *p, uint32_t site) {
    return site != VT_NO_SITE && (p->sites[site].verdict == VT_VERDICT_GROWING ||
                                  p->sites[site].verdict == VT_VERDICT_LOST);
}

/* Names a holder as what to free. */
static void name_holder(const struct vt_process *p, const struct vt_oom *oom, uint32_t at,
                        struct vt_string *text) {
    uint32_t holder = oom->holders[at];
    VT_SCOPED char *frame_text = vt_stack_text(p, p->sites[holder].stack, 60, false),
                   *node = vt_stack_text_node(p->sites[holder].stack);
    separate(text);
    vt_string_format(text, "%s memory allocated %s%s: it held %s",
                     is_leak(p, holder) ? "stop the leak of" : "free, or shrink, the",
                     node ? "" : "at ", frame_text, VT_BYTES(oom->holder_bytes[at]));
    const struct vt_owned_list *owned = &p->sites[holder].owned;
    VT_SCOPED char *views = owned->count ? vt_owners_advise_views(owned->owners->owner) : NULL;
    if (views)
        vt_string_format(text, "; %s", views);
}

/* Names the exception that is being handled, if the request had found room without it, beside `free` bytes: it was
 * tried again in the except block. */
static bool name_exception(const struct vt_oom *oom, uint64_t free, struct vt_string *text) {
    if (!oom->exception_bytes || free == VT_UNKNOWN ||
        oom->requested_bytes > free + oom->exception_bytes)
        return false;
    separate(text);
    vt_string_format(
        text,
        "leave the except block before trying again: until then the exception keeps the "
        "%s that its functions' variables hold",
        VT_BYTES(oom->exception_bytes));
    return true;
}

/* Names the largest leak, if leaks are why it is full. Returns its site; VT_NO_SITE: they are not. */
static uint32_t name_leak(const struct vt_process *p, const struct vt_oom *oom,
                          struct vt_string *text) {
    for (uint32_t i = 0; i < oom->holder_count && oom->leaked_bytes * 2 > oom->tracked_bytes; i++)
        if (is_leak(p, oom->holders[i])) {
            name_holder(p, oom, i, text);
            return oom->holders[i];
        }
    return VT_NO_SITE;
}

static void against_capacity(const struct vt_process *p, const struct vt_oom *oom,
                             struct vt_string *text) {
    if (oom->requested_bytes > oom->total_bytes) {
        vt_string_add(text, "ask for less at a time, or use a larger device");
        return;
    }
    uint64_t idle = oom->cache.releasable_bytes;
    if (name_exception(oom, oom->free_bytes, text))
        return;
    uint32_t holder = name_leak(p, oom, text);
    if (oom->setting)
        name_setting(p, oom, text);
    /* PyTorch itself had released it */
    if (!oom->allocator && idle && oom->free_bytes != VT_UNKNOWN &&
        oom->requested_bytes <= oom->free_bytes + idle) {
        separate(text);
        vt_string_format(text,
                         "call torch.cuda.empty_cache() before it: %s was idle in PyTorch's "
                         "segments, which only PyTorch can use",
                         VT_BYTES(idle));
    }
    if (holder == VT_NO_SITE && oom->holder_count && oom->holders[0] != VT_NO_SITE) {
        holder = oom->holders[0];
        name_holder(p, oom, 0, text);
    }
    /* smaller requests do not help against what grows */
    if (holder == VT_NO_SITE || p->sites[holder].verdict != VT_VERDICT_GROWING)
        ask_for_less(oom, text);
}

static void against_limit(const struct vt_process *p, const struct vt_oom *oom,
                          struct vt_string *text) {
    const char *limit = vt_process_variable(p, "VRAMTRACE_LIMIT");
    if (name_exception(oom, 0, text)) /* what the device had free, the limit forbids */
        return;
    if (name_leak(p, oom, text) != VT_NO_SITE)
        separate(text);
    if (oom->unasked)
        vt_string_add(text, "raise torch.cuda.set_per_process_memory_fraction, or ask for less");
    else
        vt_string_format(text, "raise VRAMTRACE_LIMIT%s%s%s, or ask for less",
                         limit ? " (it is " : "", limit ? limit : "", limit ? ")" : "");
}

static void against_others(const struct vt_oom *oom, struct vt_string *text) {
    uint64_t fits = would_fit(oom);
    vt_string_add(text, "end the other processes on this GPU (nvidia-smi lists them), or use "
                        "another one with CUDA_VISIBLE_DEVICES");
    if (fits)
        vt_string_format(text, "; until then at most %s fits", VT_BYTES(fits));
}

static char *advice(const struct vt_process *p, const struct vt_oom *oom) {
    struct vt_string text = {0};
    if (oom->outcome == VT_OOM_RECOVERED)
        return NULL;
    if (oom->cause == VT_CAUSE_FRAGMENTATION)
        against_fragmentation(p, oom, &text);
    else if (oom->cause == VT_CAUSE_CAPACITY)
        against_capacity(p, oom, &text);
    else if (oom->cause == VT_CAUSE_LIMIT)
        against_limit(p, oom, &text);
    else if (oom->cause == VT_CAUSE_OTHER_PROCESS)
        against_others(oom, &text);
    return text.text;
}

void vt_oom_write(struct vt_process *p) {
    for (uint32_t i = 0; i < p->oom_count; i++) {
        p->ooms[i].why = why(p, &p->ooms[i]);
        p->ooms[i].advice = advice(p, &p->ooms[i]);
    }
}
