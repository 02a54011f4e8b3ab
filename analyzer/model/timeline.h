/* SPDX-License-Identifier: MIT */
/*
 * The run over time, for pictures: memory by line and by class, address maps at chosen moments, and the last
 * allocations and frees. Built only on request (vt_model_options.timeline), from data that the replay collects
 * (replay/pictures.h). Its size is bounded by slots, moments and pieces, and does not depend on the number of events.
 *
 * Times are ns since the log began, sizes bytes. Everything belongs to the model.
 */
#ifndef VRAMTRACE_ANALYZER_TIMELINE_H
#define VRAMTRACE_ANALYZER_TIMELINE_H

#include "base/base.h"

/* Parts of a timeline, for vt_model_options.timeline. */
enum vt_timeline_part {
    VT_TIMELINE_COURSES = 1,
    VT_TIMELINE_MAPS = 2,
    VT_TIMELINE_CHANGES = 4,
    VT_TIMELINE_END = 8, /* the final map unmerged: VT_MAP_PIECES_END */
    VT_TIMELINE_ALL = 15 /* for a summary, whose readers may need any part */
};

#define VT_COURSE_SLOTS 4096 /* maximum of a run, which has at least half as many */
#define VT_COURSE_LINES 16   /* maximum of lines with a band of their own */

/* The memory that a band counts. Bands never overlap: a caching allocator's blocks count in their lines' bands, and the
 * rest of its segments in VT_BAND_IDLE. */
enum vt_band_kind {
    VT_BAND_LINE,    /* one line of code, or the part of it in a leak: `sites` */
    VT_BAND_LEAK,    /* all other leaking sites */
    VT_BAND_REST,    /* all other lines of the program */
    VT_BAND_RUNTIME, /* CUDA libraries */
    VT_BAND_IDLE     /* reserved by caching allocators, not in use */
};

struct vt_band {
    enum vt_band_kind kind;
    bool leak;       /* VT_BAND_LINE: its sites are in a leak; VT_BAND_LEAK: always */
    uint32_t *sites; /* indices into vt_process.sites, the largest first; IDLE: the segments' */
    uint32_t site_count;
    uint64_t *bytes; /* one for each slot */
};

/* A device's memory over the part of the run that the model shows. The run is divided into slots of equal width (2^n
 * ticks of its clock; the run ends within the last one). Each slot shows its moment of highest live memory (of the
 * driver, then of blocks), so its bands add up, and no peak is lost. A slot without changes shows the memory live in
 * it. One extra slot at the end shows the final state. Slots are wider if very many lines change in each. */
struct vt_course {
    unsigned device; /* as vt_device.ordinal; VT_DEVICE_HOST: pinned and managed memory */
    uint64_t begin, end;
    uint32_t slot_count;
    uint64_t *at;         /* the moments, in ascending order */
    uint64_t *live_bytes; /* driver layer; VT_DEVICE_HOST: pinned and managed memory together */
    /* From NVML's samples, for all processes and for this one. VT_UNKNOWN: no sample in this slot; NULL: none at all.
     * */
    uint64_t *used_bytes, *own_bytes;
    struct vt_band *bands; /* VT_BAND_LINE first, sorted by maximum */
    uint32_t band_count;
};

/* Why a map was made. The replay cannot know whether memory will rise further. It redraws the peak and the worst
 * fragmentation when they are higher by a hundredth, or by an eighth if maps cost more time than the events. So a map
 * may be that much below the maximum; its own figures say how much it shows. Only the last refusals are drawn,
 * unrecovered ones first. The other maps divide the run into equal parts. */
enum vt_map_why { VT_MAP_PEAK, VT_MAP_OOM, VT_MAP_WORST, VT_MAP_END, VT_MAP_BETWEEN };

#define VT_MAP_MOMENTS    26     /* maximum per device */
#define VT_MAP_PIECES     4000   /* approximate maximum per map: small neighbours are merged */
#define VT_MAP_PIECES_END 200000 /* the same for the final map, with VT_TIMELINE_END */

/* A piece of a region: a block or idle memory. */
struct vt_map_piece {
    uint64_t offset, bytes;
    uint64_t idle_bytes; /* the idle part: anything from 0 to `bytes` if pieces were merged */
    /* index into vt_process.sites: the site of the block, or of the largest merged block; VT_NO_SITE: idle, or
     * unknown */
    uint32_t site;
    uint32_t blocks; /* 0: idle */
};

/* Driver memory at one address: a caching allocator's segment with its pieces, or a separate allocation with one piece.
 * */
struct vt_map_region {
    uint64_t address, bytes;
    uint32_t site; /* of the driver allocation; VT_NO_SITE: unknown, or mapped from several */
    bool segment, mapped;  /* mapped: mapped from physical memory, piece by piece */
    uint32_t first, count; /* of vt_address_map.pieces */
};

/* A device's memory by address at one moment. */
struct vt_address_map {
    unsigned device;
    uint64_t at;
    enum vt_map_why why;
    uint32_t oom; /* VT_MAP_OOM: index into vt_process.ooms */
    uint64_t reserved_bytes, in_use_bytes, largest_free_bytes; /* of segments */
    struct vt_map_region *regions;                             /* by address */
    uint32_t region_count;
    uint64_t regions_left_out; /* the smallest ones: there may be half as many regions as pieces */
    struct vt_map_piece *pieces;
    uint32_t piece_count;
};

/* An allocation or a free. */
struct vt_change {
    uint64_t at, address, bytes;
    uint32_t site; /* index into vt_process.sites; VT_NO_SITE: filtered out */
    uint32_t thread;
    uint8_t layer, device; /* as in vt_site */
    bool alloc;
    bool segment;  /* driver memory that a caching allocator used as a segment */
    bool unplaced; /* physical memory: `address` is only a number, until it is mapped */
    bool mapping;  /* physical memory is mapped to an address (alloc) or unmapped; its size stays */
};

#define VT_CHANGES 100000 /* only so many are kept: the last ones */

/* A device's driver memory rose above VRAMTRACE_ALARM. */
struct vt_alarm {
    unsigned device;
    uint64_t at;
    uint64_t live_bytes; /* then */
    uint64_t mark_bytes; /* the value of VRAMTRACE_ALARM for this device */
};
#define VT_ALARMS 1000 /* only so many are kept: the first ones */

struct vt_timeline {
    struct vt_course *courses; /* by device; host memory last, if there was any */
    uint32_t course_count;
    struct vt_address_map *maps; /* by device, then by time */
    uint32_t map_count;
    struct vt_change *changes; /* by time */
    uint32_t change_count;
    uint64_t changes_left_out; /* earlier ones */
    struct vt_alarm *alarms;   /* by time; with VT_TIMELINE_COURSES */
    uint32_t alarm_count;
    uint64_t alarms_left_out; /* later ones */
};

void vt_timeline_free(struct vt_timeline *timeline);

#endif
