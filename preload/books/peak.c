/* SPDX-License-Identifier: MIT */
/*
 * When it is worth asking the driver about a device: at its first allocation, and whenever this
 * process's memory on it has risen 5 % since the last question. event.c reports each allocation and
 * free; wrap/ask.c asks.
 *
 * The sums are approximate: a thread adds to a device's sum only when its own part has changed by a
 * mebibyte, so that threads do not write to the same cache line at each event. A sum is therefore
 * off by less than a mebibyte per thread, which only shifts the time of the question.
 */
#include "books.h"
#include "base/base.h"

#define DEVICES 256u      /* one per value of a record's device byte */
#define STEP    (1 << 20) /* bytes that a thread may keep in its part */
#define RISE(bytes)                                                                                \
    ((bytes) / 20) /* 5 %, DESIGN's figure: about 230 questions from 1 MiB to 80 GiB */

static struct {
    uint64_t bytes; /* atomic: driver memory of this process, without the threads' parts */
    uint64_t asked; /* atomic: the bytes at the last question */
    uint32_t known; /* atomic: its name and size were asked for */
} devices[DEVICES];

static __thread struct {
    uint64_t process; /* vt_tls.generation when the part began */
    int64_t bytes;
    unsigned device;
} part __attribute__((tls_model("initial-exec")));

__attribute__((noinline)) static uint64_t give(void) {
    uint64_t by = (uint64_t)part.bytes;
    part.bytes = 0;
    return vt_add(&devices[part.device].bytes, by) + by;
}

static inline __attribute__((always_inline)) bool moved(unsigned device, int64_t by) {
    if (VT_UNLIKELY(part.process != vt_tls.generation)) {
        part.process = vt_tls.generation;
        part.bytes = 0;
    }
    if (VT_UNLIKELY(part.device != device)) {
        if (part.bytes)
            give();
        part.device = device;
    }
    part.bytes += by;
    return part.bytes >= STEP || part.bytes <= -STEP;
}

unsigned vt_peak_allocated(const struct vt_live *what) {
    unsigned device = what->device, questions = 0;
    if (vt_kind_layer(what->kind) != VT_LAYER_DRIVER || device >= VT_DEVICE_UNKNOWN)
        return 0;
    if (VT_UNLIKELY(!vt_get(&devices[device].known)) && vt_claim(&devices[device].known, 0, 1))
        questions = VT_ASK_DEVICE | VT_ASK_MEMORY;
    if (VT_LIKELY(!moved(device, (int64_t)what->size)))
        return questions;
    uint64_t bytes = give(), asked = vt_get(&devices[device].asked);
    vt_rise_sum(device, bytes);
    if ((int64_t)bytes > (int64_t)(asked + RISE(asked)) &&
        vt_claim(&devices[device].asked, asked, bytes))
        questions |= VT_ASK_MEMORY;
    return questions;
}

void vt_peak_unasked(unsigned device) {
    vt_put(&devices[device].asked, 0);
    vt_put(&devices[device].known, 0);
}

void vt_peak_freed(const struct vt_live *was) {
    if (vt_kind_layer(was->kind) == VT_LAYER_DRIVER && was->device < VT_DEVICE_UNKNOWN &&
        moved(was->device, -(int64_t)was->size))
        give();
}

void vt_peak_forked(void) {
    for (unsigned i = 0; i < DEVICES; i++) {
        vt_put(&devices[i].bytes, 0);
        vt_put(&devices[i].asked, 0);
        vt_put(&devices[i].known, 0);
    }
}
