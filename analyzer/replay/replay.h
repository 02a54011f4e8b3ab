/* SPDX-License-Identifier: MIT */
/*
 * The door of replay/: events in order of time -> the books: what was live when, and for whom.
 *
 * Law: one pass over the events, whatever they are; times stay ticks, stacks stay numbers. Nothing
 * is concluded here. Uses base, log and model.
 *
 *     replay.h       the replay itself, and what it found out (below)
 *     addresses.h    the table of live allocations
 *     segments.h     caching allocators' segments, with the blocks and idle pieces in them
 *     history.h      how each site's live bytes went over the run
 *     phases.h       phases that the program named, and the iterations among them
 *     pins.h         blocks that keep segments from being given back
 *     window.h       which part of the run counts
 */
#ifndef VRAMTRACE_ANALYZER_REPLAY_H
#define VRAMTRACE_ANALYZER_REPLAY_H

#include "segments.h"
#include "history.h"
#include "addresses.h"
#include "log/log.h"

#define VT_REPLAY_AGES 25 /* an age has 24 bits */
#define VT_HOLDERS     8  /* how many of the largest holders are kept for a failed allocation */

/* The books of one site. Bytes and counts are exact; `at_peak` is what it held when the device's
 * driver layer (host sites: when pinned memory) was at its peak. */
struct vt_replay_site {
    uint64_t id;    /* vt_sites_id */
    uint32_t stack; /* index in vt_log.stacks, VT_NO_STACK */
    uint16_t hook;
    uint8_t layer, device;
    bool before;            /* not a site: what was live before the window began */
    bool pooled;            /* some of it is from a pool of the driver's */
    bool segments;          /* a caching allocator's blocks lay in it */
    uint16_t segments_hook; /* whose: the hook of the first block */
    uint64_t live_bytes, live_count;
    uint64_t peak_bytes;
    uint64_t bytes_at_peak, count_at_peak;
    uint64_t allocated_bytes, alloc_count, free_count;
    uint64_t lost_count;              /* of those live at the end, those that nothing points to */
    uint64_t first_ticks, last_ticks; /* of its allocations */
    uint32_t lives[VT_REPLAY_AGES];   /* how long the freed ones lived: lives[n] of them for 2^(n-1)
                                         age units or more, below 2^n */
    uint64_t seen;                    /* vt_replay_book.peaks when it last changed: see replay.c */
};

/* What the driver told the program about a device's memory. */
struct vt_replay_info {
    uint64_t ticks; /* 0: it never asked */
    uint64_t free_bytes, total_bytes;
    uint64_t tracked; /* driver layer, this process, at that moment */
};

/* The books of one device's layer. */
struct vt_replay_book {
    bool used;
    uint64_t live_bytes, live_count;
    uint64_t peak_bytes, peak_ticks;
    uint64_t peaks; /* how often a new peak was reached */
    uint64_t allocated_bytes, alloc_count, free_count, failed_count;
};

struct vt_replay_device {
    struct vt_replay_book driver, framework;
    /* the last time that the program asked how much is free */
    struct vt_replay_info info;
    uint64_t untracked_least; /* of all such answers: used and not tracked; UINT64_MAX: none */
    /* a framework's own totals for the device that it said, as overheard; what its blocks in the
     * log sum up to; how often the two came apart */
    bool said;
    uint64_t said_allocated, said_reserved, said_peak, blocks_bytes, said_apart;
    /* framework layer: the most in use while the driver layer stood at its peak */
    uint64_t blocks_at_peak;
    bool at_peak; /* it stands there now */
};

/* Live blocks of one site that keep segments from being given back, which are mostly idle. */
struct vt_replay_pin {
    uint32_t site;
    uint32_t blocks, segments;
    uint64_t block_bytes;
    uint64_t pinned_bytes; /* idle in those segments */
};
#define VT_PINS 8

/* An allocation that the driver refused, or that a framework gave up on without asking it. */
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
    uint32_t attempts;       /* refusals of the driver that were one request of a framework */
    bool raised;             /* the framework said that it gives up */
    bool unasked;            /* and had not asked the driver */
    bool merged;             /* part of a later one: leave it out */
    uint64_t framework_size; /* what the framework was asked for; 0: not known */
    uint64_t next_size, next_ticks; /* the next allocation of driver memory on the same thread that
                                       succeeded; next_size 0: none did */
    struct vt_replay_info before, after; /* the answers nearest in time */
    bool cached;                         /* `reserve` is known */
    bool mapped;                         /* it was mapped piece by piece */
    struct vt_reserve reserve;
    struct vt_replay_pin pins[VT_PINS]; /* the most pinned bytes first */
    uint32_t pin_count;
    uint32_t open_next; /* of the thread's fails that nothing was heard of since: index + 1 */
};

/* What NVML said of a GPU, beside what the books said then. */
#define VT_SAMPLE_DEVICES 17 /* ordinals 0 to 15, and what is on a device that is not known */
struct vt_replay_sample {
    uint64_t began, ticks;
    uint64_t used_bytes, free_bytes, own_bytes, others_bytes; /* as in struct vt_rec_sample */
    uint32_t gpu;
    uint32_t moved; /* a bit for each of `tracked`: it changed while NVML was asked, or too soon
                       after for the figure to be sure */
    uint64_t tracked[VT_SAMPLE_DEVICES];
};

struct vt_replay_object {
    uint64_t handle, created, destroyed; /* ticks; VT_TICKS_MASK: not seen */
    uint32_t stack;
    uint8_t kind, device;
};

/* Driver-layer bytes of all devices together, over one of vt_log.phases. */
struct vt_replay_phase {
    bool seen, ended;
    uint64_t live_at_start, live_at_end, peak_bytes;
};

struct vt_replay {
    struct vt_replay_site *sites;
    size_t site_count, site_room;
    struct vt_replay_device devices[256]; /* by the device byte of the record */
    struct vt_replay_book host, managed;  /* of no device */
    struct vt_replay_fail *fails; /* out-of-memory only; the first VT_REPLAY_FAILS of them */
    size_t fail_count, fail_room;
    uint64_t fails_left_out;
    struct vt_replay_sample *samples; /* in the order of time */
    size_t sample_count, sample_room;
    struct vt_replay_object *objects;
    size_t object_count, object_room;
    struct vt_replay_phase *phases; /* as many as the log has, in its order */
    uint64_t age_unit;              /* ticks in a unit of vt_address.born */
    struct vt_addresses live;       /* at the end */
    struct vt_segments *segments;   /* at the end; NULL: there were no blocks */
    uint64_t events;
    uint64_t unknown_frees; /* of an address that was not live */
    uint64_t failed_frees;
    uint64_t strays;      /* blocks that lie in no driver memory that was seen, or over others */
    uint64_t lost_blocks; /* blocks whose driver memory was given back under them */
    uint64_t replaced;    /* allocations at an address that was still live: a free was missed */
    uint64_t bulk_bytes;  /* what contexts took with them */
};
#define VT_REPLAY_FAILS 1000

/* Which part of the run counts, in ticks. Allocations from before `since` are one site with
 * `before` set for each device and layer; the run ends at `until`. */
struct vt_window {
    uint64_t since, until; /* 0, VT_TICKS_MASK: all */
};

struct vt_sites;

/* Fills `replay`; free it with vt_replay_free, in any case. `ids` names the sites. 0, or -errno where
 * the log could not be read to its end: `message` says. */
int vt_replay_run(const struct vt_log *log, struct vt_sites *ids, struct vt_window window,
                  struct vt_replay *replay, struct vt_string *message);

/* The same, and notes in `history`, which was opened for it, how each site's level went. */
int vt_replay_run_noting(const struct vt_log *log, struct vt_sites *ids, struct vt_window window,
                         struct vt_history *history, struct vt_replay *replay,
                         struct vt_string *message);
void vt_replay_free(struct vt_replay *replay);

#include "phases.h"
#include "pins.h"
#include "window.h"

#endif
