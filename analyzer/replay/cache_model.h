/* SPDX-License-Identifier: MIT */
/*
 * A model of PyTorch's caching allocator: what it would reserve for given requests, under given
 * settings. It answers whether a request that failed would have found room if the live blocks were
 * laid out without holes, or if the run had had another setting (rehearsal.h).
 *
 * Its rules (CUDACachingAllocator.cpp): blocks are multiples of 512 B. Requests up to 1 MiB use the
 * small pool, others the large pool; a free block serves only its own pool and stream, the smallest
 * that is large enough. Segments have 2 MiB in the small pool, else 20 MiB, or from 10 MiB on the
 * request rounded up to 2 MiB; they return to the driver only if they are wholly free, which happens
 * when a request fails. With expandable segments each pool of a stream is one range of addresses,
 * and what is mapped or unmapped there are pieces of 2 MiB (small pool) or 20 MiB.
 *
 * For replay/ alone. Nothing here fails.
 */
#ifndef VRAMTRACE_ANALYZER_CACHE_MODEL_H
#define VRAMTRACE_ANALYZER_CACHE_MODEL_H

#include "base/base.h"

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

#endif
