/* SPDX-License-Identifier: MIT */
/*
 * Advice for a failed allocation, by its cause. A setting is advised only if the run would have
 * passed with it (judge/oom_setting.c), and smaller requests only if they would have found room.
 */
#include "parts.h"

#include "replay/replay.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* A site's main frame as text; NULL: filtered out. The caller frees it. */
static char *site_text(const struct vt_process *p, uint32_t site) {
    if (site == VT_NO_SITE)
        return NULL;
    return vt_stack_text(p, p->sites[site].stack, 60, false);
}

/* The next clause begins. */
static void separate(struct vt_string *text) {
    vt_string_add(text, text->length ? "; or " : "");
}

/* Whether a line of the user's allocates them: what a backward pass allocates, nobody can move. */
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
    VT_SCOPED char *frame_text = site_text(p, pin->site);
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
    uint64_t free = oom->free_bytes == VT_UNKNOWN ? 0 : oom->free_bytes, fits = free;
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
    VT_SCOPED char *frame_text = site_text(p, holder),
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

/* What a handled exception's traceback holds, if the request had found room without, beside `free` bytes: it was
 * tried again in the except block. */
static bool name_exception(const struct vt_process *p, const struct vt_oom *oom, uint64_t free,
                           struct vt_string *text) {
    const struct vt_snapshot *s = vt_process_snapshot_at(p, oom);
    uint64_t held = 0, count;
    for (uint32_t i = 0; s && i < s->owner_count; i++)
        if (s->owners[i].root.kind == VT_ROOT_EXCEPTION)
            held += vt_owner_bytes_on(p, &s->owners[i], oom->device, &count);
    if (!held || free == VT_UNKNOWN || oom->requested_bytes > free + held)
        return false;
    separate(text);
    vt_string_format(
        text,
        "leave the except block before trying again: until then the exception keeps the "
        "%s that its functions' variables hold",
        VT_BYTES(held));
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
    if (name_exception(p, oom, oom->free_bytes, text))
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
    if (name_exception(p, oom, 0, text)) /* what the device had free, the limit forbids */
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

static void advise(const struct vt_process *p, struct vt_oom *oom) {
    struct vt_string text = {0};
    if (!oom->cause || oom->outcome == VT_OOM_RECOVERED)
        return;
    if (oom->cause == VT_CAUSE_FRAGMENTATION)
        against_fragmentation(p, oom, &text);
    else if (oom->cause == VT_CAUSE_CAPACITY)
        against_capacity(p, oom, &text);
    else if (oom->cause == VT_CAUSE_LIMIT)
        against_limit(p, oom, &text);
    else if (oom->cause == VT_CAUSE_OTHER_PROCESS)
        against_others(oom, &text);
    oom->advice = text.text;
}

void vt_oom_advise(struct vt_process *p) {
    for (uint32_t i = 0; i < p->oom_count; i++)
        advise(p, &p->ooms[i]);
}
