/* SPDX-License-Identifier: MIT */
/*
 * A model of PyTorch's caching allocator: what it would reserve for given requests, under given
 * settings. It answers whether a request that failed would have found room if the live blocks were
 * laid out without holes (packing.c), or if the run had had another setting (rehearsal.c).
 *
 * Its rules (CUDACachingAllocator.cpp): blocks are multiples of 512 B. Requests up to 1 MiB use the
 * small pool, others the large pool; a free block serves only its own pool and stream, the smallest
 * that is large enough. Segments have 2 MiB in the small pool, else 20 MiB, or from 10 MiB on the
 * request rounded up to 2 MiB; they return to the driver only if they are wholly free, which happens
 * when a request fails. With expandable segments each pool of a stream is one range of addresses,
 * and what is mapped or unmapped there are pieces of 2 MiB (small pool) or 20 MiB.
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
    VT_CACHE_LARGE_SEGMENT = 20 << 20,
    VT_CACHE_LARGE = 10 << 20, /* from here on a segment is made for one request */
};

struct vt_cache_settings {
    bool expandable;
    uint64_t max_split; /* larger blocks are not split; UINT64_MAX: no limit */
};

/* The settings in a value of PYTORCH_CUDA_ALLOC_CONF; NULL: the defaults. */
struct vt_cache_settings vt_cache_settings_read(const char *value);

struct vt_cache_model;

/* `capacity`: what the driver can provide. `device_bytes`: the device's size, which decides how long
 * a range of addresses is. UINT64_MAX: no limit. */
struct vt_cache_model *vt_cache_open(struct vt_cache_settings settings, uint64_t capacity,
                                     uint64_t device_bytes);
void vt_cache_close(struct vt_cache_model *m);

/* A block's number; 0: out of memory. */
uint32_t vt_cache_alloc(struct vt_cache_model *m, uint64_t size, unsigned stream);
void vt_cache_free(struct vt_cache_model *m, uint32_t block);

uint64_t vt_cache_reserved(const struct vt_cache_model *m);

/* --- packing.c: for replay_fail.c, at each request that PyTorch gave up --- */

#define VT_PACKING_WORK 20000000ull

/* Fills what the request decides of a device's segments. Returns its stream, by vt_segments_alloc's numbers.
 * `work`: pieces that may still be looked at; then the answer is not known. */
unsigned vt_packing_find(struct vt_segments *f, unsigned device, struct vt_cache_settings settings,
                         uint64_t request, uint64_t *work, struct vt_oom_cache *found);

/* --- rehearsal.c: a run once more; the replay reports every block of a device and every request that was
 * given up. For judge/, which advises a setting only if it would have helped. --- */

enum { VT_REHEARSALS = 6 };

struct vt_rehearsal {
    unsigned device, count;
    struct vt_cache_model *models[VT_REHEARSALS];
    uint32_t failed;          /* a bit for each: it refused what the program was given */
    struct vt_map by_address; /* a block -> its row */
    struct vt_rehearsal_row {
        uint32_t blocks[VT_REHEARSALS]; /* numbers in the models; 0: none */
    } * rows;
    uint32_t row_count, row_room, *unused, unused_count, unused_room;
};

/* `capacity`, `device_bytes`: see vt_cache_open. */
void vt_rehearsal_open(struct vt_rehearsal *r, unsigned device, uint64_t capacity,
                       uint64_t device_bytes, const struct vt_cache_settings *settings,
                       unsigned count);
void vt_rehearsal_close(struct vt_rehearsal *r);

void vt_rehearsal_alloc(struct vt_rehearsal *r, uint64_t address, uint64_t size, unsigned stream);
void vt_rehearsal_free(struct vt_rehearsal *r, uint64_t address);

/* A bit for each of the settings under which all until now would have passed, and this too. */
uint32_t vt_rehearsal_request(struct vt_rehearsal *r, uint64_t size, unsigned stream);

#endif
