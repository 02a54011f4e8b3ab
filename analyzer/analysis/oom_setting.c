/* SPDX-License-Identifier: MIT */
/*
 * Would a setting of PyTorch's allocator have helped? The run is replayed in a model of the allocator under several
 * settings. A setting counts only if every request up to and including the failed one succeeds. If the model succeeds
 * under the run's own settings as well, it is not exact enough here, and no setting is named. Called by analysis.c.
 */
#include "steps.h"

/* Whether a setting could matter: the idle memory and the driver's free memory together were enough for the request. */
static bool is_worth_it(const struct vt_oom *oom) {
    bool open = oom->cause == VT_CAUSE_FRAGMENTATION ||
                (oom->cause == VT_CAUSE_CAPACITY && !oom->leaked_bytes);
    return open && oom->cache.known && !oom->expandable && oom->cached_bytes != VT_UNKNOWN &&
           oom->free_bytes != VT_UNKNOWN &&
           oom->requested_bytes <= oom->cached_bytes + oom->free_bytes;
}

static void rehearse(const struct vt_sources *s, struct vt_oom *oom) {
    static const unsigned sizes[] = {256, 128, 64, 32}; /* MiB; the mildest first */
    const struct vt_rehearsal_setup own = {
        s->replay->settings, vt_known(oom->tracked_bytes) + oom->free_bytes, oom->total_bytes};
    struct vt_rehearsal_setup setups[2 + sizeof sizes / sizeof *sizes] = {own, own};
    unsigned count = 2;
    struct vt_replay replay;
    struct vt_string message = {0}, text = {0};
    setups[1].settings.expandable = true;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        setups[count] = own;
        setups[count++].settings.max_split = (uint64_t)sizes[i] << 20;
    }
    struct vt_rehearsal *rehearsal = vt_rehearsal_open(oom->device, setups, count);
    int error = vt_replay_run(s->log, s->window, (struct vt_replay_options){.rehearsal = rehearsal},
                              &replay, &message);
    uint32_t passed =
        !error && oom->number < replay.fail_count ? replay.fails[oom->number].rehearsed : 1;
    if (passed & 1)
        passed = 0;
    if (passed & 2)
        vt_string_add(&text, "expandable_segments:True");
    for (unsigned i = 2; i < count && !text.length; i++)
        if (passed >> i & 1)
            vt_string_format(&text, "max_split_size_mb:%u", sizes[i - 2]);
    oom->setting = text.text;
    vt_rehearsal_close(rehearsal);
    vt_replay_free(&replay);
    vt_string_free(&message);
}

/* Only for the last failure of each device: a replay takes time. */
void vt_oom_try_settings(const struct vt_sources *s, struct vt_oom *ooms, uint32_t count) {
    bool done[256] = {false};
    if (s->log->summary) /* some events are no longer in the log */
        return;
    for (uint32_t i = count; i-- > 0;) {
        struct vt_oom *oom = &ooms[i];
        if (oom->outcome == VT_OOM_RECOVERED || oom->device > 255 || done[oom->device])
            continue;
        done[oom->device] = true;
        if (is_worth_it(oom))
            rehearse(s, oom);
    }
}
