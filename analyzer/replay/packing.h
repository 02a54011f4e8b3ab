/* SPDX-License-Identifier: MIT */
/*
 * Would a failed request have found room if the same live blocks had been laid out without holes?
 * For replay_fail.c, at each request that PyTorch gave up.
 */
#ifndef VRAMTRACE_ANALYZER_PACKING_H
#define VRAMTRACE_ANALYZER_PACKING_H

#include "cache_model.h"
#include "segments.h"

/* Memory of a device's segments, seen from a request. */
struct vt_packing {
    bool known;
    unsigned stream; /* of the request, by vt_segments_alloc's numbers */
    uint64_t need;   /* what live blocks without holes, and the request, would reserve */
    uint64_t idle_usable, largest_usable;        /* idle in the request's pool and stream */
    uint64_t idle_other_pool, idle_other_stream; /* idle elsewhere */
};

#define VT_PACKING_WORK 20000000ull

/* `work`: pieces that may still be looked at; then the answer is not known. */
struct vt_packing vt_packing_find(struct vt_segments *f, unsigned device,
                                  struct vt_cache_settings settings, uint64_t request,
                                  uint64_t *work);

#endif
