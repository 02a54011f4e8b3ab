/* SPDX-License-Identifier: MIT */
/*
 * Would a failed request have found room if the same live blocks had been laid out without holes?
 * For replay_fail.c, at each request that PyTorch gave up.
 */
#ifndef VRAMTRACE_ANALYZER_PACKING_H
#define VRAMTRACE_ANALYZER_PACKING_H

#include "cache_model.h"
#include "segments.h"

#define VT_PACKING_WORK 20000000ull

/* Fills what the request decides of a device's segments. Returns its stream, by vt_segments_alloc's numbers.
 * `work`: pieces that may still be looked at; then the answer is not known. */
unsigned vt_packing_find(struct vt_segments *f, unsigned device, struct vt_cache_settings settings,
                         uint64_t request, uint64_t *work, struct vt_oom_cache *found);

#endif
