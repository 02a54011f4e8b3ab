/* SPDX-License-Identifier: MIT */
/*
 * A run once more, for a reader that wants its single events: observe/ makes pictures of them. The
 * sites are those of the first replay of the same log and window, under the same indices. Nothing
 * but the books is kept meanwhile.
 */
#ifndef VRAMTRACE_ANALYZER_OBSERVER_H
#define VRAMTRACE_ANALYZER_OBSERVER_H

#include "replay.h"

/* An allocation or a free, as it enters the books. */
struct vt_observed {
    uint64_t ticks, address, bytes;
    uint32_t site; /* index in vt_replay.sites; of a mapping VT_NO_SITE: unknown */
    uint32_t thread;
    unsigned kind, device;
    bool alloc;
};

struct vt_observer {
    void *context;
    /* The window begins: the books have what is live. Not called where the whole run is replayed. */
    void (*begin)(void *context, const struct vt_replay *replay, uint64_t ticks);
    void (*change)(void *context, const struct vt_replay *replay, const struct vt_observed *change);
    /* Physical memory, which was a change when it was created, is mapped to an address (`alloc`) or
     * unmapped. */
    void (*map)(void *context, const struct vt_replay *replay, const struct vt_observed *mapping);
    /* Called before the first event past `stop_at`; sets the next one. */
    void (*stop)(struct vt_observer *observer, const struct vt_replay *replay);
    uint64_t stop_at; /* ticks, which may be past the last event; UINT64_MAX: never */
};

#endif
