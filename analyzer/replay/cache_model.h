/* SPDX-License-Identifier: MIT */
/*
 * A model of PyTorch's caching allocator: the memory it would reserve for given requests, under given settings. It
 * answers whether a failed request would have found room if the live blocks had been laid out without holes
 * (packing.c), and how the run would have gone with another setting, on another device, or with other sizes
 * (rehearsal.c).
 *
 * Its rules (CUDACachingAllocator.cpp, AllocatorConfig.cpp, as of 2.14): blocks are multiples of 512 B. Requests up to
 * 1 MiB use the small pool, others the large pool; a request takes the smallest sufficient free block of its own pool
 * and stream. Segments have 2 MiB in the small pool. In the large pool they have 20 MiB or, for requests from 10 MiB
 * on, the request's size rounded up to 2 MiB. They return to the driver only when a request fails, and only if they are
 * wholly free. With expandable segments each pool of a stream is one range of addresses, mapped and unmapped in pieces
 * of 2 MiB (small pool) or 20 MiB. A graph or a MemPool has its own pools, which live as long as it does.
 *
 * Nothing here fails.
 */
#ifndef VRAMTRACE_ANALYZER_CACHE_MODEL_H
#define VRAMTRACE_ANALYZER_CACHE_MODEL_H

#include "segments.h"

enum {
    VT_CACHE_UNIT = 512,
    VT_CACHE_SMALL = 1 << 20, /* the largest request of the small pool */
    VT_CACHE_SMALL_SEGMENT = 2 << 20,
    VT_CACHE_LARGE_SEGMENT = 20 << 20, /* unless a setting says otherwise */
    VT_CACHE_LARGE = 10 << 20,         /* from here on each request gets a segment */
    VT_CACHE_INTERVALS = 16,
};

/* --- cache_settings.c --- */

struct vt_cache_settings {
    bool expandable;
    uint64_t max_split;    /* larger blocks are not split; UINT64_MAX: no limit */
    uint64_t max_rounding; /* how much larger than its request an unsplit block may be */
    uint64_t large_segment;
    /* steps between powers of 2, from 1, 2, 4, ... MiB on; 0: no rounding */
    uint32_t divisions[VT_CACHE_INTERVALS];
    double fraction; /* of the device that the process may reserve; 1: no limit */
    /* share of that fraction from which idle segments are released; 0: never */
    double collect_from;
};

/* Reads the settings from a value of PYTORCH_ALLOC_CONF; NULL: the defaults. False: the allocator rejects a setting,
 * or the model does not know it. `refused`, which may be NULL, gets its name; the other settings are still read. */
bool vt_cache_settings_read(const char *value, struct vt_cache_settings *settings,
                            struct vt_string *refused);

/* --- cache_model.c, and cache_blocks.c below it --- */

struct vt_cache_request {
    uint64_t size;    /* bytes, as requested */
    uint32_t private; /* number of a graph's or a MemPool's pool; 0: none. At most 22 bits */
    uint8_t stream;   /* a number for the stream */
};

struct vt_cache_model;

/* `usable`: bytes that the driver can provide, to the allocator and to the rest of the process.
 * `device_bytes`: the device's size, which the fraction refers to and which sets the length of a range
 * of addresses. UINT64_MAX: no limit. */
struct vt_cache_model *vt_cache_open(const struct vt_cache_settings *settings, uint64_t usable,
                                     uint64_t device_bytes);
/* A copy with another limit; its blocks have the same numbers. */
struct vt_cache_model *vt_cache_copy(const struct vt_cache_model *m, uint64_t usable);
void vt_cache_close(struct vt_cache_model *m);

/* Returns the block's number; 0: out of memory; vt_cache_figures.missing_bytes were missing. */
uint32_t vt_cache_alloc(struct vt_cache_model *m, struct vt_cache_request request);
void vt_cache_free(struct vt_cache_model *m, uint32_t block);

/* The most that the request would take from the driver. */
uint64_t vt_cache_growth(const struct vt_cache_model *m, struct vt_cache_request request);

/* torch.cuda.empty_cache(). `private`: a pool that released memory to the driver, because its graph or
 * MemPool is gone; 0: none. */
void vt_cache_empty(struct vt_cache_model *m, uint32_t private);

/* Sets the driver memory that the process holds outside the allocator. False: too little is left. */
bool vt_cache_set_outside(struct vt_cache_model *m, uint64_t bytes);

struct vt_cache_figures {
    uint64_t reserved, peak_reserved;
    uint64_t peak_bytes;    /* reserved, and outside the allocator */
    uint64_t missing_bytes; /* for the last failure */
};
const struct vt_cache_figures *vt_cache_figures(const struct vt_cache_model *m);

/* --- packing.c: called by replay_fail.c for each request that failed in PyTorch --- */

#define VT_PACKING_WORK 20000000ull

/* Fills `found` for a failed request and a device's segments. Returns its stream, by vt_segments_alloc's numbers.
 * `work`: the number of pieces that may still be visited; beyond it, the answer is unknown. */
unsigned vt_packing_find(const struct vt_segments *f, unsigned device,
                         const struct vt_cache_settings *settings, uint64_t request, uint64_t *work,
                         struct vt_oom_cache *found);

/* --- rehearsal.c: repeats the run in rows, each under its own settings; the replay reports every block of a device
 * and every failed request. For analysis/, which advises a setting only if it would have helped, and for fit/. All
 * rows are repeated in one pass; a row takes no extra time while its state equals another row's. --- */

enum { VT_REHEARSALS = 256 };

struct vt_rehearsal_setup {
    struct vt_cache_settings settings;
    /* see vt_cache_open; UINT64_MAX in a shared model */
    uint64_t usable, device_bytes;
};

/* A request or other demand for which memory was short. */
struct vt_rehearsal_refusal {
    bool happened;
    uint32_t stack; /* the request's, numbered as in the log; VT_NO_STACK: unknown */
    uint64_t ticks;
    uint64_t requested_bytes; /* 0: memory outside the allocator */
    uint64_t missing_bytes;   /* the device lacked this much */
};

struct vt_rehearsal_result {
    uint64_t peak_reserved, peak_bytes; /* see vt_cache_figures; up to `failed` */
    /* a request that succeeded in the log but fails here, which ends the row */
    struct vt_rehearsal_refusal failed;
    struct vt_rehearsal_refusal refused; /* the first request refused here and in the log */
};

struct vt_rehearsal;

struct vt_rehearsal *vt_rehearsal_open(unsigned device, const struct vt_rehearsal_setup *setups,
                                       unsigned count);
void vt_rehearsal_close(struct vt_rehearsal *r);
/* Multiplies each request by its site's factor; sites by the replay's index. `factors` must outlive the rehearsal. */
void vt_rehearsal_scale(struct vt_rehearsal *r, const double *factors, uint32_t count);
/* For each site that allocates in backward passes, by the replay's index, counts the blocks still live when other
 * code allocates next: parameters' gradients are live then, temporaries of the pass are not. Both arrays must
 * outlive the rehearsal. */
void vt_rehearsal_watch_backward(struct vt_rehearsal *r, const bool *in_backward,
                                 uint32_t *outlived, uint32_t count);
/* Valid until the rehearsal is closed. */
const struct vt_rehearsal_result *vt_rehearsal_result(struct vt_rehearsal *r, unsigned row);

unsigned vt_rehearsal_device(const struct vt_rehearsal *r);

/* An event reported by the replay. */
struct vt_rehearsal_event {
    struct vt_cache_request request;
    uint64_t outside; /* the process's bytes of the device outside the allocator */
    uint64_t ticks;
    uint32_t stack, site; /* site: VT_NO_SITE: unknown */
};

void vt_rehearsal_alloc(struct vt_rehearsal *r, uint64_t address,
                        const struct vt_rehearsal_event *event);
void vt_rehearsal_free(struct vt_rehearsal *r, uint64_t address);
/* See vt_cache_empty. */
void vt_rehearsal_empty(struct vt_rehearsal *r, uint32_t private);

/* A request that failed in PyTorch. Returns a bit for each of the first 32 rows under which this and
 * all earlier requests would have succeeded. */
uint32_t vt_rehearsal_request(struct vt_rehearsal *r, const struct vt_rehearsal_event *event);

#endif
