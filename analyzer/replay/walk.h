/* SPDX-License-Identifier: MIT */
/*
 * The state of a replay while it walks the events, for replay.c, replay_sites.c, accounting.c and
 * replay_samples.c.
 */
#ifndef VRAMTRACE_ANALYZER_WALK_H
#define VRAMTRACE_ANALYZER_WALK_H

#include "operations.h"
#include "replay.h"

/* The allocations that a context's end would free. */
struct vt_walk_context {
    uint64_t *keys; /* includes all live keys; some were freed, some appear twice */
    uint32_t count, room, live;
};

/* The highest level of an epoch. */
struct vt_walk_high {
    uint64_t bytes, epoch;
};

/* --- replay_fail.c: failed allocations --- */

/* Failed allocations whose outcome is still open. Initialize it to {0}; free with vt_fails_free. */
struct vt_fails {
    struct vt_map open; /* thread -> its newest open failure: index + 1; 0: none */
    uint32_t pending;   /* open failures of all threads */
    /* by device: the first failure that waits for the driver's next answer */
    size_t info_from[256];
};

/* The driver refused this thread's request, or the tracer did because of a limit. Returns whether memory was short. */
bool vt_fails_refused(struct vt_fails *fails, struct vt_replay *r, const struct vt_log *log,
                      uint32_t tid, const struct vt_rec_fail *f);
/* A framework raised its error. Returns the refusal that counts; NULL: too many. */
const struct vt_replay_fail *vt_fails_given_up(struct vt_fails *fails, struct vt_replay *r,
                                               const struct vt_log *log, uint32_t tid,
                                               const struct vt_rec_cacheoom *o,
                                               struct vt_rehearsal *rehearsal);
/* Driver memory was allocated. Needs no call if `pending` is 0. */
void vt_fails_succeeded(struct vt_fails *fails, struct vt_replay *r, uint32_t tid, uint64_t size,
                        uint64_t ticks);
/* Whether the thread's last refusal is unresolved. */
bool vt_fails_is_open(const struct vt_fails *fails, uint32_t tid);
/* The driver reported its free memory. */
void vt_fails_asked(struct vt_fails *fails, struct vt_replay *r, const struct vt_rec_meminfo *m);
void vt_fails_free(struct vt_fails *fails); /* leaves it empty, ready for use */
void vt_fails_drop(struct vt_replay *r);    /* forgets the replay's failures */
/* Saves open and other failures, or loads into empty ones (base/saved_state.h). */
void vt_fails_state(struct vt_fails *fails, struct vt_replay *r, const struct vt_log *log,
                    struct vt_state *s);

/* --- emptied.c: whether the program emptied PyTorch's cache; only with a rehearsal --- */

/* Segments that returned to the driver in succession. Initialize it to {0}. */
struct vt_emptied {
    uint64_t pool;     /* 1 + their private pool; 0: interrupted by another event */
    bool open;         /* the next request shows who released them */
    bool small;        /* at least one was not in the large pool */
    uint64_t reserved; /* before the first release */
    uint64_t grown;    /* bytes provided by the driver since */
};

struct vt_walk;
/* A segment is about to be released; NULL: other memory. */
void vt_emptied_note(struct vt_walk *w, const struct vt_segment *s);
/* The driver provided memory. */
void vt_emptied_grow(struct vt_walk *w, uint64_t size);
/* A block is about to be allocated for a request of `requested` bytes; 0: any other event. */
void vt_emptied_finalize(struct vt_walk *w, uint64_t requested);

/* --- the walk --- */

struct vt_walk {
    struct vt_replay *r;
    const struct vt_log *log;
    struct vt_sites *ids;
    uint32_t *origin_slots;  /* hash of an origin -> its index + 1 in vt_replay.origins; 0: empty */
    unsigned origin_bits;    /* 2^n slots */
    uint32_t before_origins; /* the number from before the window */
    struct vt_map by_id;     /* site id -> site */
    struct vt_map objects;   /* handle and kind -> the object that exists now */
    struct vt_window window;
    bool window_waits;                /* the window has not begun yet */
    struct vt_walk_context *contexts; /* by context number */
    bool lists_contexts;              /* `contexts` has keys */
    struct vt_history *history;       /* NULL: not requested */
    struct vt_phase_kinds kinds;      /* with a history */
    struct vt_merge *merge;
    struct vt_operations operations;        /* for the history */
    struct vt_rehearsal *rehearsal;         /* NULL: not requested */
    struct vt_pictures *pictures_requested; /* NULL: not requested */
    struct vt_pictures *pictures;           /* the same once the window has begun */
    unsigned stream;                        /* of the block placed last */
    uint32_t private;                       /* that block's private pool, numbered by segments.h */
    uint64_t requested;                     /* the bytes requested for that block, if known */
    uint16_t block_hook;                    /* that block's hook */
    uint32_t info_tid;                      /* the thread whose block `info` describes */
    struct vt_rec_blockinfo info;           /* the last record */
    struct vt_emptied emptied;
    unsigned age_shift;
    uint64_t age_ticks;    /* the latest time that fits vt_address.allocated_at */
    uint64_t now;          /* ticks of the current event */
    uint64_t driver_bytes; /* live, on all devices */
    uint64_t driver_high;  /* maximum of driver_bytes since a phase last began or ended */
    uint64_t changed[VT_SAMPLE_DEVICES]; /* by device: ticks of the last change */
    size_t unsettled[VT_SAMPLE_DEVICES]; /* likewise: the number of samples at that time */
    bool sampled;                        /* the log has samples */
    size_t sample;                       /* the next in log->samples */
    uint64_t sample_ticks;               /* its time; UINT64_MAX: none */
    size_t snapshot;                     /* the next in log->snapshots */
    uint64_t snapshot_ticks;             /* its time; UINT64_MAX: none */
    uint64_t snapshots_until;            /* earlier snapshots were processed */
    struct vt_walk_high *highs;          /* of the epochs between phases: see replay.c */
    size_t high_count, high_room;
    uint64_t epoch;      /* number of the current epoch */
    uint32_t tid;        /* thread of the current event */
    uint64_t stop;       /* an event after this time needs other work done first */
    uint64_t slot_end;   /* the last tick of the current slot of time */
    uint64_t correct_at; /* when the live list was made; UINT64_MAX: none, or already corrected */
    /* the end of a context whose blocks are being removed, or NULL */
    const struct vt_rec_bulk *context_end;
    struct vt_fails fails;
};

static inline struct vt_account *vt_walk_account(struct vt_replay *r, unsigned layer,
                                                 unsigned device) {
    switch (layer) {
    case VT_LAYER_HOST:
        return &r->host;
    case VT_LAYER_MANAGED:
        return &r->managed;
    case VT_LAYER_FRAMEWORK:
        return &r->devices[device].framework;
    default:
        return &r->devices[device].driver;
    }
}

/* Call it before a site's live bytes change: see accounting.c. */
static inline void vt_walk_note_peak(struct vt_replay_site *site,
                                     const struct vt_account *account) {
    if (site->seen != account->peaks) {
        site->bytes_at_peak = site->live_bytes;
        site->count_at_peak = site->live_count;
        site->seen = account->peaks;
    }
}

static inline uint32_t vt_walk_stack(const struct vt_walk *w, uint64_t word) {
    const struct vt_log_stack *stack = vt_log_stack(w->log, vt_word_high(word));
    return stack ? (uint32_t)(stack - w->log->stacks) : VT_NO_STACK;
}

/* --- replay_sites.c --- */

/* Adds an unknown origin. Only for vt_walk_origin. */
uint32_t vt_walk_add_origin(struct vt_walk *w, uint64_t word, unsigned context);

static inline uint64_t vt_walk_origin_hash(uint64_t word, unsigned context) {
    return (word ^ word >> 32 ^ (uint64_t)context << 40) * 0x9e3779b97f4a7c15ull;
}

/* The origin of an allocation on a device, by its record's first word. */
static inline uint32_t vt_walk_origin(struct vt_walk *w, uint64_t word, unsigned device,
                                      unsigned context) {
    word = (word & ~0xffull) | device;
    size_t i = (size_t)(vt_walk_origin_hash(word, context) >> (64 - w->origin_bits));
    for (uint32_t n; (n = w->origin_slots[i]); i = (i + 1) & ((1u << w->origin_bits) - 1)) {
        const struct vt_replay_origin *origin = &w->r->origins[n - 1];
        if (origin->word == word && origin->context == context)
            return n - 1;
    }
    return vt_walk_add_origin(w, word, context);
}

/* The site of a call's allocations without a stack. */
uint32_t vt_walk_stackless_site(struct vt_walk *w, unsigned hook, unsigned layer, unsigned device);

/* Forgets all sites, because the window begins. For each layer and device, live memory gets one site, to which the
 * present origins refer from now on; later allocations get new origins. */
void vt_walk_restart_sites(struct vt_walk *w);
void vt_walk_start_sites(struct vt_walk *w);
/* Rebuilds the table of origins, at the same size. */
void vt_walk_enter_origins(struct vt_walk *w);
void vt_walk_close_sites(struct vt_walk *w);

/* --- events --- */

/* Handlers, one for each VT_EVENT of records.def. The program does not link if one is missing. `record` is aligned. */
#define VT_EVENT(number, NAME, name, bytes, kind, fields)                                          \
    void vt_on_##name(struct vt_walk *w, const void *record);
#include "vramtrace/records.def"

/* --- replay.c --- */

/* Makes an object of vt_replay.objects the current one of its handle. */
void vt_walk_enter_object(struct vt_walk *w, uint32_t index);

/* --- accounting.c --- */

void vt_walk_alloc(struct vt_walk *w, const struct vt_event *e);
void vt_walk_free(struct vt_walk *w, const struct vt_event *e);

/* Makes the live allocations match the log's live list. */
void vt_walk_correct(struct vt_walk *w);

/* Counts each site's physical memory that is mapped at the end. */
void vt_walk_count_mapped(struct vt_replay *r);

/* Restarts the counts at the start of the window, with the memory live then. */
void vt_walk_begin_window(struct vt_walk *w);

/* --- slots.c: see slots.h --- */

/* The window begins. */
void vt_walk_begin_slots(struct vt_walk *w);
/* Advances to the slot of `now`, which is after w->slot_end; the slots in between get the live bytes. */
void vt_walk_pass_slots(struct vt_walk *w, uint64_t now);
/* Advances to the end of the run, as far as it is known. */
void vt_walk_end_slots(struct vt_walk *w);
/* A device has its first site. */
void vt_walk_add_device(struct vt_replay *r, unsigned device);
/* Call it after a change: this may be the highest moment of the slot. */
void vt_walk_note_high(struct vt_replay *r, struct vt_slot_device *d, uint64_t ticks);

/* Live driver memory of a device; for VT_DEVICE_HOST, pinned and managed memory. */
static inline uint64_t vt_walk_driver_bytes(const struct vt_replay *r, unsigned device) {
    uint64_t host = device == VT_DEVICE_HOST ? r->host.live_bytes + r->managed.live_bytes : 0;
    return r->devices[device].driver.live_bytes + host;
}

/* --- pictures.c, picture_maps.c: see pictures.h --- */

/* The window begins: pictures are collected from now on. */
void vt_pictures_begin(struct vt_walk *w, struct vt_pictures *pictures);
/* A site's live bytes have changed by an entry's size. */
void vt_pictures_change(struct vt_walk *w, uint32_t site, const struct vt_address *entry,
                        bool alloc);
/* Physical memory is mapped to an address or unmapped; NULL: unknown memory. Its creation already counted as the
 * change. */
void vt_pictures_mapping(struct vt_walk *w, const struct vt_rec_map *m,
                         const struct vt_address *physical, unsigned device);
/* Pairs of slots, all finished, are about to be merged. */
void vt_pictures_merge(struct vt_walk *w);
/* Whether the slots have too many steps. */
bool vt_pictures_are_many(const struct vt_walk *w);

void vt_picture_maps_begin(struct vt_walk *w);
void vt_picture_maps_changed(struct vt_walk *w, const struct vt_replay_site *site, bool alloc);
/* Memory is about to be freed. Needed only if vt_pictures.peak_due. */
void vt_picture_maps_falling(struct vt_walk *w);
void vt_picture_maps_refused(struct vt_walk *w, uint32_t fail);
void vt_picture_maps_pass(struct vt_walk *w); /* to another slot */
void vt_picture_maps_merge(struct vt_walk *w);
void vt_picture_maps_end(struct vt_walk *w);
void vt_picture_maps_evict(struct vt_pictures *pictures);
void vt_picture_map_free(struct vt_picture_map *map);
void vt_picture_map_state(struct vt_picture_map *map, const struct vt_replay *r,
                          struct vt_state *s);

/* Merges buckets of the history, and renumbers the samples of live blocks. */
void vt_walk_merge_buckets(struct vt_walk *w);

/* Call it before an allocation or a free, if there is a history. */
static inline void vt_walk_count(struct vt_walk *w, bool alloc) {
    vt_history_event(w->history, w->now, alloc);
    if (w->history->crowded)
        vt_walk_merge_buckets(w);
}

/* Grows vt_replay.age_unit when times no longer fit vt_address.allocated_at. */
void vt_walk_coarsen_age(struct vt_walk *w);

/* --- replay_state.c: see base/saved_state.h --- */

/* Saves the walk's state with its replay, history and pictures, but without the log and rehearsals; or loads it into a
 * walk just opened on the same log, with at least the same contents. After an error the walk can only be closed.
 * Results that are no longer requested are left out, and a window may begin later. */
void vt_walk_state(struct vt_walk *w, struct vt_state *s);

/* --- evict.c --- */

/* Evicts the details that a summary does not need, to bound its size: single changes, VT_MAP_BETWEEN maps, destroyed
 * objects, the log's entries of processed snapshots, and single phases except the last and the extreme ones. The
 * sums of evicted phases remain. `log` is the walk's. */
void vt_walk_evict(struct vt_walk *w, struct vt_log *log);

/* Evicts more if the summary is still too large: joins samples of sites with many, or calls
 * vt_walk_evict_sites. False: nothing more can be evicted. */
bool vt_walk_evict_more(struct vt_walk *w, struct vt_log *log);

/* --- evict_sites.c --- */

/* Evicts the half of the evictable call sites that allocated least. False: there are none. */
bool vt_walk_evict_sites(struct vt_walk *w, struct vt_log *log);

/* --- replay_samples.c --- */

void vt_walk_sample(struct vt_walk *w, const struct vt_rec_sample *s);

/* Call it before a device's bytes change, at w->now. */
void vt_walk_reopen_samples(struct vt_walk *w, unsigned device);

#endif
