/* SPDX-License-Identifier: MIT */
/*
 * Public header of replay/: turns events, in time order, into the accounting of how much each call site, device and
 * caching allocator held, and when.
 *
 * Invariants: one pass over the events, which may be wrong in any way. Times are ticks, stacks are indices, sizes are
 * bytes. The replay counts; it draws no conclusions. Uses base, log and model.
 *
 *     replay.h       the replay and its result (below)
 *     addresses.h    the table of live allocations
 *     segments.h     caching allocators' segments, and the blocks and idle pieces in them
 *     history.h      each site's live bytes over the run
 *     iterations.h   the phases that are the run's iterations
 *     slots.h        equal time slots, with each device's memory
 *     pictures.h     data for pictures of the run
 *     phase_list.h   phases that the program named, and --since, --until
 *     cache_model.h  a model of PyTorch's allocator: whether a failed request would have found room
 *                    without holes, or under other settings
 *     owned.h        the owners of live memory, at each snapshot
 *     pytest_marks.h the pytest plugin's marks about its tests and fixtures
 */
#ifndef VRAMTRACE_ANALYZER_REPLAY_H
#define VRAMTRACE_ANALYZER_REPLAY_H

#include "cache_model.h"
#include "iterations.h"
#include "addresses.h"
#include "owned.h"
#include "pictures.h"
#include "pytest_marks.h"
#include "logfile/logfile.h"

#define VT_REPLAY_AGES 25 /* vt_address.allocated_at has 24 bits */
#define VT_HOLDERS     8  /* the largest holders at a failed allocation */

/* One site's counts so far; all figures are exact. live_bytes is at the current event; free_count includes blocks
 * released with a context: vt_site_figures_unfreed. */
struct vt_replay_site {
    VT_EMBED_SITE_FIGURES;
    uint64_t seen;                    /* vt_account.peaks at its last change */
    uint64_t first_ticks, last_ticks; /* of its first and last allocation */
    uint8_t layer, device;
    bool before; /* not a call site, but memory already live when the window began */
    bool pooled; /* some of its memory is from a stream-ordered pool */
    bool graph;  /* CUDA graph launches allocated some of it; `other`: other calls did */
    bool other;
    bool segments; /* a caching allocator placed blocks in it */
    uint16_t hook;
    uint32_t lives; /* lifetimes of freed blocks: bit n for 2^(n-1) to below 2^n age units */

    uint32_t stack;            /* index in vt_log.stacks, VT_NO_STACK */
    uint64_t id;               /* vt_sites_id */
    uint32_t unrecorded_count; /* live at the end by the live list only: their records were lost */
    uint32_t mapped_count;     /* physical memory that is still live and mapped at the end */
    uint16_t context_end_hook; /* the last call that ended a context with its memory */
    uint16_t segments_hook;    /* the hook of the first block */
};

/* Shared by the allocations of one call, kind, device and context. */
struct vt_replay_origin {
    uint64_t word; /* the record's first word, with the device in place of the type */
    uint32_t site;
    uint32_t stack; /* as in vt_replay_site */
    struct vt_account *account;
    uint16_t context;
    uint8_t layer;
    bool of_context; /* freed with the context */
    bool single;     /* each allocation is a round: see operations.h */
    bool before;     /* its site stands for memory already live when the window began */
};

/* The driver's answer when the program asked how much memory is free. */
struct vt_replay_info {
    uint64_t ticks; /* 0: never asked */
    uint64_t free_bytes, total_bytes;
    uint64_t tracked; /* this process's driver layer at that moment */
};

/* The totals of one layer of a device. */
struct vt_account {
    bool used;
    VT_EMBED_LAYER_FIGURES; /* without peak_at_ns; counts and allocated_bytes are known at the end */
    uint64_t peak_ticks;
    uint64_t peaks;     /* number of new peaks so far */
    uint64_t sure_peak; /* at least this much was live, even if events were lost */
};

struct vt_replay_device {
    struct vt_account driver, framework;

    struct vt_replay_info info;
    uint64_t untracked_least; /* used but untracked, the least of all answers; UINT64_MAX: none */
    /* the framework's own recorded totals; the sum of its blocks in the log; how often the two disagreed */
    bool has_reported;
    uint64_t reported_allocated, reported_reserved, reported_peak, blocks_bytes, mismatch_count;
    /* framework layer: most bytes in use while the driver layer was at its peak */
    uint64_t blocks_at_peak;
    bool at_peak; /* the driver layer is at its peak now */
};

/* A site's live memory when an allocation failed. */
struct vt_replay_held {
    uint32_t site;
    uint64_t bytes;
};

/* An allocation refused by the driver, or failed by a framework without asking the driver. */
struct vt_replay_fail {
    uint64_t ticks, size, tracked_bytes;
    uint32_t stack;
    int32_t result;
    uint32_t flags; /* enum vt_fail_flag */
    uint16_t hook;
    uint8_t kind, device;
    uint32_t holder_count;
    uint32_t holders[VT_HOLDERS]; /* sites, the largest first */
    uint64_t holder_bytes[VT_HOLDERS];
    uint32_t tid;
    uint32_t attempts;       /* the driver's refusals of one request of a framework */
    bool raised;             /* the framework raised an error */
    bool unasked;            /* the driver was not asked */
    bool merged;             /* counted in a later one: ignore it */
    uint64_t framework_size; /* the request to the framework; 0: unknown */
    /* the thread's next allocation of driver memory; next_size 0: none */
    uint64_t next_size, next_ticks;
    struct vt_replay_info before, after; /* the driver's nearest answers */
    bool cached;                         /* `reserve` is known */
    bool mapped;                         /* with expandable segments */
    struct vt_moment reserve;
    struct vt_oom_cache cache;   /* `known` for a framework's request that failed */
    struct vt_pin pins[VT_PINS]; /* most pinned bytes first; their sites are the replay's */
    uint32_t pin_count;
    /* all sites that held memory of the device; only for the last failure, and the last that a framework raised */
    struct vt_replay_held *held;
    uint32_t held_count;
    uint32_t rehearsed; /* vt_rehearsal_request */
    uint32_t open_next; /* the thread's previous open fail: index + 1 (vt_fails.open) */
};

/* Allocations that failed with one error, other than out of memory, at one call site: the first, and the count. */
struct vt_replay_error {
    struct vt_rec_fail first;
    uint64_t count;
    uint32_t stack;
};

/* A sample from NVML, with the tracked totals at that moment. */
#define VT_SAMPLE_DEVICES 17 /* ordinals 0 to 15, and the unknown device */
struct vt_replay_sample {
    uint64_t began, ticks;
    uint64_t used_bytes, free_bytes, own_bytes, others_bytes; /* as in struct vt_rec_sample */
    uint32_t gpu;
    /* a bit for each of `tracked`: changed during the query, or so soon after it that NVML may have seen the change */
    uint32_t moved;
    uint64_t tracked[VT_SAMPLE_DEVICES];
};

struct vt_replay_object {
    uint64_t handle, created, destroyed; /* ticks; VT_TICKS_MASK: not seen */
    uint32_t stack;
    uint8_t kind, device;
};

/* Driver-layer bytes of all devices during one of vt_log.phases. */
struct vt_replay_phase {
    bool seen, ended;
    uint64_t live_at_start, live_at_end, peak_bytes;
    uint64_t epoch; /* the walk's epoch in which it began */
    uint32_t kind;  /* from vt_phase_kinds_begin */
};

/* Evicted phases or marks whose names differ only in numbers: see vt_walk_evict. */
struct vt_replay_phase_sum {
    uint32_t name; /* name of the first: index in vt_log.names; VT_MAP_NONE: unknown */
    bool mark, several;
    uint64_t count;
    /* summed growth over phases that ended with more memory; summed decrease over the others */
    uint64_t rose, fell;
};

struct vt_replay {
    struct vt_replay_site *sites;
    size_t site_count, site_room;
    struct vt_replay_origin *origins; /* of live allocations */
    uint32_t origin_count, origin_room;
    struct vt_replay_device devices[256]; /* by the device byte of the record */
    struct vt_account host, managed;      /* memory of no device */
    struct vt_replay_fail *fails;         /* out-of-memory failures, at most VT_REPLAY_FAILS */
    size_t fail_count, fail_room;
    struct vt_replay_error *errors; /* at most as many */
    uint32_t error_count, error_room;
    uint64_t fails_left_out, errors_in_all; /* errors_in_all: allocations */
    struct vt_cache_settings settings;      /* of PyTorch's allocator */
    uint64_t packing_work;                  /* remaining for vt_packing_find */
    struct vt_replay_sample *samples;       /* by time */
    size_t sample_count, sample_room;
    struct vt_slots slots;
    struct vt_replay_object *objects;
    size_t object_count, object_room;
    struct vt_replay_phase *phases; /* parallel to vt_log.phases */
    size_t phase_count;
    struct vt_replay_phase_sum *phase_sums;
    uint32_t phase_sum_count, phase_sum_room;
    struct vt_iterations iterations; /* with a history */
    uint64_t age_unit;               /* ticks in a unit of vt_address.allocated_at */
    bool corrected;                  /* by the live list, so earlier levels are too high */
    uint64_t sure_until;             /* ticks; no earlier event was lost */
    struct vt_addresses live;        /* at the end */
    struct vt_segments *segments;    /* at the end; NULL: no blocks */
    struct vt_pytest_marks pytest;
    struct vt_replay_snapshot *snapshots; /* by time */
    size_t snapshot_count, snapshot_room;
    uint64_t events;
    uint64_t unknown_frees; /* the address was not live */
    uint64_t failed_frees;
    uint64_t strays;        /* blocks in no known driver memory, or overlapping others */
    uint64_t lost_blocks;   /* blocks whose driver memory was freed before them */
    uint64_t replaced;      /* allocations at an address that was still live: a free was missed */
    uint64_t late_events;   /* read after later events had been replayed */
    uint64_t behind_bound;  /* left out, since other threads' events were no longer recorded */
    uint64_t evicted_sites; /* merged into sites without a stack: vt_walk_evict_sites */
};
#define VT_REPLAY_FAILS 1000
#define VT_PHASE_SUMS   4096 /* further names are added to the last of these */

/* The part of the run to count, in ticks. For each device and layer, memory live at `since` belongs to one site with
 * `before` set. */
struct vt_window {
    uint64_t since, until; /* 0, VT_TICKS_MASK: all */
};

/* The site of a live allocation, by index and by pointer. */
static inline uint32_t vt_replay_site_index(const struct vt_replay *r,
                                            const struct vt_address *entry) {
    return r->origins[entry->origin].site;
}
static inline struct vt_replay_site *vt_replay_site_of(const struct vt_replay *r,
                                                       const struct vt_address *entry) {
    return &r->sites[vt_replay_site_index(r, entry)];
}

/* Optional results of a replay; NULL: not requested. */
struct vt_replay_options {
    struct vt_history *history; /* filled; opened by the caller */
    struct vt_rehearsal
        *rehearsal;               /* the run under other settings: fills vt_replay_fail.rehearsed */
    struct vt_pictures *pictures; /* likewise */
};

/* Fills `replay`; free it with vt_replay_free even after an error. Returns 0, or -errno with `message` if
 * the log could not be read to its end. */
int vt_replay_run(const struct vt_log *log, struct vt_window window,
                  struct vt_replay_options options, struct vt_replay *replay,
                  struct vt_string *message);
void vt_replay_free(struct vt_replay *replay);

/* The same, step by step, for a log that is still being written. `replay`, `log` and the options must outlive
 * the walk. */
struct vt_walk *vt_replay_open(const struct vt_log *log, struct vt_window window,
                               struct vt_replay_options options, struct vt_replay *replay);
/* Before the first step: loads an earlier replay from the log's summary, if there is one. After an error the walk
 * can only be closed. */
int vt_replay_load(struct vt_walk *walk, struct vt_string *message);
/* Writes the log's summary: the state of the log and of its replay, without rehearsals. `most`: see
 * vt_summary_write. */
int vt_replay_save(struct vt_walk *walk, struct vt_log *log, uint64_t generation, uint64_t most,
                   struct vt_string *message);
/* Replays the events read so far (vt_log_resume), up to `until`, in ticks. */
int vt_replay_resume(struct vt_walk *walk, uint64_t until, struct vt_string *message);
/* Fills the results that are known only at the end, as if the log ended here. The walk can be resumed. */
void vt_replay_finalize(struct vt_walk *walk);
void vt_replay_close(struct vt_walk *walk);

/* Frees the data about single blocks. */
void vt_replay_drop_live(struct vt_replay *replay);

/* The settings of PyTorch's allocator: the value of the first recorded variable that is set; "": none.
 * *name: its name. */
const char *vt_replay_torch_settings(const struct vt_variable *variables, size_t count,
                                     const char **name);

/* --- pins.c: live blocks that keep mostly idle segments from being released to the driver --- */

/* Finds a device's live blocks in segments that are at least half idle, by site, most idle bytes first. Returns the
 * number of rows filled. */
uint32_t vt_pins_find(const struct vt_replay *replay, unsigned device, struct vt_pin pins[VT_PINS]);

/* The index in replay->sites of the site of the live block at an address; VT_NO_SITE: none. */
uint32_t vt_pins_block_site(const struct vt_replay *replay, uint64_t address);

#include "phase_list.h"

#endif
