/* SPDX-License-Identifier: MIT */
/*
 * An event of a log, as the reader hands it on (merge.h): allocations and frees are whole, with
 * their fields where every event has them. They are nearly all events, and each passes here.
 */
#ifndef VRAMTRACE_ANALYZER_EVENT_H
#define VRAMTRACE_ANALYZER_EVENT_H

#include "vramtrace/log_format.h"

/* An address and its space as one number, with the space + 1 in the three top bits, which no address
 * uses; so no key is 0. */
#define VT_ADDRESS_MASK 0x1fffffffffffffffull
static_assert(VT_SPACES < 8, "three bits");

static inline uint64_t vt_address_key(uint64_t address, unsigned space) {
    return (address & VT_ADDRESS_MASK) | (uint64_t)(space + 1) << 61;
}

struct vt_event {
    uint64_t word, when; /* of the record */
    uint64_t key; /* ALLOC, FREE: of the address. Another: the record's offset in the chunk */
    union {
        uint64_t size_context; /* ALLOC */
        uint64_t note;         /* FREE: 0, and its reader's own */
    };
};

static inline uint64_t vt_event_address(const struct vt_event *event) {
    return event->key & VT_ADDRESS_MASK;
}
static inline unsigned vt_event_space(const struct vt_event *event) {
    return (unsigned)(event->key >> 61) - 1;
}

#endif
