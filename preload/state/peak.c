/* SPDX-License-Identifier: MIT */
/*
 * Decides when to ask the driver about a device: at its first allocation, and whenever this process's memory on it has
 * grown by 5 % since the last question. event.c reports each allocation and free; interpose/ask_driver.c asks.
 *
 * The sums are approximate: a thread adds to a device's sum only when its own part has changed by a mebibyte, so that
 * threads do not write to the same cache line at each event. So a sum is off by less than a mebibyte per thread, which
 * only shifts the time of the question.
 */
#include "state.h"
#include "base/base.h"

#define RISE(bytes)                                                                                \
    ((bytes) / 20) /* 5 %, DESIGN's figure: about 230 questions from 1 MiB to 80 GiB */

struct vt_peak_device vt_peak_devices[VT_PEAK_DEVICES];

/* Adds the thread's part to its device's sum; returns the sum. */
static uint64_t give(void) {
    uint64_t by = (uint64_t)vt_tls.peak_part;
    vt_tls.peak_part = 0;
    return vt_add(&vt_peak_devices[vt_tls.peak_device].bytes, by) + by;
}

/* Adds to the thread's part. Returns whether the part must now be moved to the sum. */
static bool moved(unsigned device, int64_t by) {
    if (vt_tls.peak_device != device && vt_tls.peak_part)
        give();
    vt_tls.peak_device = device;
    vt_tls.peak_part += by;
    return vt_tls.peak_part >= VT_PEAK_STEP || vt_tls.peak_part <= -VT_PEAK_STEP;
}

unsigned vt_peak_allocated_(const struct vt_live *what) {
    struct vt_peak_device *d = &vt_peak_devices[what->device];
    unsigned questions = 0;
    if (!vt_get(&d->known) && vt_claim(&d->known, 0, 1))
        questions = VT_ASK_DEVICE | VT_ASK_MEMORY;
    if (!moved(what->device, (int64_t)what->size))
        return questions;
    uint64_t bytes = give(), asked = vt_get(&d->asked);
    vt_growth_trigger_device(what->device, bytes);
    if ((int64_t)bytes > (int64_t)(asked + RISE(asked)) && vt_claim(&d->asked, asked, bytes))
        questions |= VT_ASK_MEMORY;
    return questions;
}

void vt_peak_freed_(const struct vt_live *was) {
    if (moved(was->device, -(int64_t)was->size))
        give();
}

void vt_peak_unasked(unsigned device) {
    vt_put(&vt_peak_devices[device].asked, 0);
    vt_put(&vt_peak_devices[device].known, 0);
}

void vt_peak_forked(void) {
    for (unsigned i = 0; i < VT_PEAK_DEVICES; i++) {
        vt_put(&vt_peak_devices[i].bytes, 0);
        vt_put(&vt_peak_devices[i].asked, 0);
        vt_put(&vt_peak_devices[i].known, 0);
    }
}
