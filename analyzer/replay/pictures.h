/* SPDX-License-Identifier: MIT */
/*
 * Data for pictures of a run (model/timeline.h), collected during the replay. None of it depends on the run's end, so
 * it is valid at any time. Sites are the replay's, times are ticks; analysis/ converts both for the model. Its size is
 * bounded by time slots, moments, pieces and changes, and by VT_PICTURE_STEPS.
 */
#ifndef VRAMTRACE_ANALYZER_PICTURES_H
#define VRAMTRACE_ANALYZER_PICTURES_H

#include "slots.h"

/* From this slot until the site's next step, the site held `bytes` at each slot's highest moment. */
struct vt_picture_step {
    uint32_t site, slot;
    uint64_t bytes;
};
#define VT_PICTURE_STEPS      (2u << 20) /* the most steps, in addition to some for each site */
#define VT_PICTURE_STEPS_SITE 32

struct vt_picture_site {
    uint64_t seen;       /* vt_slot_device.highs at its last change */
    uint32_t slot;       /* of its last change */
    uint64_t at_high;    /* its bytes at that slot's highest moment before the change */
    uint64_t last_bytes; /* its bytes in its last step */
};

/* A map of a moment, drawn before it was known whether it would matter. */
struct vt_picture_map {
    struct vt_address_map map; /* `oom`: index into vt_replay.fails */
    uint64_t level;   /* compared among maps: driver memory, or pinned bytes for VT_MAP_WORST */
    uint64_t changes; /* vt_pictures.change_count when drawn */
    bool may_be;      /* VT_MAP_WORST: no request for memory since, see segments.h */
};

struct vt_picture_device {
    uint64_t peak_drawn;  /* bytes at the last peak that has a map */
    bool peak_due;        /* the peak has risen enough for another map */
    uint64_t worst_drawn; /* pinned bytes, likewise */
    uint64_t changed_at;  /* ticks */
    uint64_t alarm;       /* bytes at which VRAMTRACE_ALARM prints a line; UINT64_MAX: never */
};

/* Start with vt_pictures_open, free with vt_pictures_close. */
struct vt_pictures {
    unsigned parts;                /* enum vt_timeline_part */
    int device;                    /* only this device; -1: all */
    struct vt_picture_site *sites; /* parallel to vt_replay.sites */
    size_t site_count;
    struct vt_picture_step *steps; /* each site's by slot */
    size_t step_count, step_room;
    struct vt_picture_device devices[256]; /* by device byte */
    bool peak_due;                         /* any device's */
    struct vt_picture_map *maps;
    uint32_t map_count, map_room;
    uint64_t between_at;   /* ticks of the last VT_MAP_BETWEEN */
    uint64_t drawing_work; /* entries walked for maps that can wait */
    /* a ring: once full, the oldest is at (last_count - last_from) % VT_CHANGES; changes before `last_from` were
     * evicted */
    struct vt_change *last;
    uint64_t last_count, last_from;
    size_t last_room;
    uint64_t change_count; /* allocations and frees so far */
    struct vt_alarm *alarms;
    uint32_t alarm_count, alarm_room;
    uint64_t alarms_left_out;
};

void vt_pictures_open(struct vt_pictures *pictures, unsigned parts, int device);
void vt_pictures_close(struct vt_pictures *pictures);
/* Saves or reloads pictures (base/saved_state.h). The saved pictures must contain all requested parts, and may have
 * more. */
struct vt_replay;
void vt_pictures_state(struct vt_pictures *pictures, const struct vt_replay *replay,
                       struct vt_state *s);

/* Evicts single changes, and VT_MAP_BETWEEN maps. */
void vt_pictures_evict(struct vt_pictures *pictures);

/* A site's steps that are not stored yet; after the last slot, its live bytes apply. Returns the number of steps. */
uint32_t vt_pictures_last_steps(const struct vt_pictures *pictures, const struct vt_replay *replay,
                                uint32_t site, struct vt_picture_step steps[2]);

#endif
