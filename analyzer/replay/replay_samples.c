/* SPDX-License-Identifier: MIT */
/*
 * NVML's samples, with the tracked totals at that moment (see walk.h).
 */
#include "walk.h"

/* Slot of a device byte in vt_replay_sample.tracked; VT_SAMPLE_DEVICES: none. */
static unsigned sample_slot(unsigned device) {
    return device == VT_DEVICE_UNKNOWN      ? VT_SAMPLE_DEVICES - 1
           : device < VT_SAMPLE_DEVICES - 1 ? device
                                            : VT_SAMPLE_DEVICES;
}

/* A sample that ended just before the change, within the duration of the query, may have seen it: an allocation has
 * the time of its end. */
void vt_walk_reopen_samples(struct vt_walk *w, unsigned device) {
    unsigned slot = sample_slot(device);
    if (slot == VT_SAMPLE_DEVICES)
        return;
    w->changed[slot] = w->now;
    size_t count = w->r->sample_count;
    if (!count || w->r->samples[count - 1].ticks > w->now)
        return;
    /* Mark samples since the last change that are near enough to this change. */
    for (size_t i = count; i-- > w->unsettled[slot];) {
        struct vt_replay_sample *sample = &w->r->samples[i];
        if (w->now - sample->ticks > 2 * (sample->ticks - sample->began))
            break;
        sample->moved |= 1u << slot;
    }
    w->unsettled[slot] = count;
}

void vt_walk_sample(struct vt_walk *w, const struct vt_rec_sample *s) {
    struct vt_replay *r = w->r;
    uint64_t ticks = vt_when_ticks(s->when);
    if (s->began > ticks)
        return;
    struct vt_replay_sample *sample = VT_ADD(r->samples, r->sample_count, r->sample_room);
    *sample = (struct vt_replay_sample){
        .began = s->began,
        .ticks = ticks,
        .used_bytes = s->used_bytes,
        .free_bytes = s->free_bytes,
        .own_bytes = s->own_bytes,
        .others_bytes = s->others_bytes,
        .gpu = s->gpu,
    };
    for (unsigned d = 0; d < VT_SAMPLE_DEVICES; d++) {
        unsigned device = d == VT_SAMPLE_DEVICES - 1 ? VT_DEVICE_UNKNOWN : d;
        sample->tracked[d] = r->devices[device].driver.live_bytes;
        if (w->changed[d] && w->changed[d] + (ticks - s->began) >= s->began)
            sample->moved |= 1u << d;
    }
}
