/* SPDX-License-Identifier: MIT */
/*
 * The time of a replay in slots of equal width, a power of two in ticks. The length of the run is not known in advance,
 * so too many slots are merged in pairs. Each slot has a device's memory at its end and, for pictures (see pictures.h),
 * at its highest moment.
 */
#ifndef VRAMTRACE_ANALYZER_SLOTS_H
#define VRAMTRACE_ANALYZER_SLOTS_H

#include "logfile/logfile.h"
#include "model/model.h"

#define VT_REPLAY_LEVELS 160

struct vt_time_slot {
    uint64_t end; /* driver memory at its end; VT_DEVICE_HOST: pinned and managed memory */
    /* its highest moment, by driver memory, then by blocks */
    uint64_t at, driver, blocks;
    uint64_t number; /* vt_slot_device.highs at that moment */
};

struct vt_slot_device {
    unsigned device;
    uint64_t highs; /* highest moments so far, in all slots, including the start of each */
    struct vt_time_slot *slots; /* VT_COURSE_SLOTS */
};

struct vt_slots {
    uint64_t begin, end; /* ticks: the window's start; the run's end so far */
    unsigned shift;      /* a slot has 2^shift ticks */
    uint32_t slot;       /* the current one */
    struct vt_slot_device *devices;
    uint32_t device_count, device_room;
    /* by device byte: index in `devices` + 1; 0: nothing was ever allocated */
    uint16_t device_of[256];
};

static inline uint64_t vt_slots_begin_of(const struct vt_slots *s, uint32_t slot) {
    return s->begin + ((uint64_t)slot << s->shift);
}

/* The slots of a device that has a site. */
static inline struct vt_slot_device *vt_slots_device(const struct vt_slots *s, unsigned device) {
    return &s->devices[s->device_of[device] - 1];
}

/* Whether the second of two neighbouring slots has the higher highest moment. */
static inline bool vt_slots_second(const struct vt_time_slot *first) {
    return first[1].driver > first->driver ||
           (first[1].driver == first->driver && first[1].blocks > first->blocks);
}

/* Live driver memory of a device at VT_REPLAY_LEVELS equally spaced times, each at the end of a slot; the peak is at
 * its exact time. The caller frees the bytes. */
struct vt_replay;
struct vt_levels vt_slots_levels(const struct vt_replay *replay, struct vt_clock clock,
                                 unsigned device);
void vt_slots_free(struct vt_slots *slots);
/* Saves or reloads slots (base/saved_state.h). */
void vt_slots_state(struct vt_slots *slots, struct vt_state *s);

#endif
