/* SPDX-License-Identifier: MIT */
/*
 * A chunk's short records (log_short.h). Each depends on those before it, so a chunk is read from its start. merge.c
 * reads them as events; log_passes.c skips them and only reads their times; cmd_dump.c reads every record in its long
 * form.
 */
#ifndef VRAMTRACE_ANALYZER_SHORT_RECORDS_H
#define VRAMTRACE_ANALYZER_SHORT_RECORDS_H

#include "vramtrace/log_format.h"

/* --- an event: the fields common to all events store allocations and frees completely, because nearly all events
 * are of these types. --- */

/* An address and its space as one number, with the space + 1 in the top three bits, which no address uses; so no key
 * is 0. */
#define VT_ADDRESS_MASK 0x1fffffffffffffffull
static_assert(VT_SPACES < 8, "three bits");

static inline uint64_t vt_address_key(uint64_t address, unsigned space) {
    return (address & VT_ADDRESS_MASK) | (uint64_t)(space + 1) << 61;
}

struct vt_event {
    uint64_t word, when; /* of the record */
    uint64_t key;        /* ALLOC, FREE: of the address. Others: the record's offset in the chunk */
    union {
        uint64_t size_context; /* ALLOC */
        uint64_t note;         /* FREE: 0, then for the reader's use */
    };
};

static inline uint64_t vt_event_address(const struct vt_event *event) {
    return event->key & VT_ADDRESS_MASK;
}
static inline unsigned vt_event_space(const struct vt_event *event) {
    return (unsigned)(event->key >> 61) - 1;
}

/* --- records --- */

#include <string.h>

/* The length of the record at `offset` of `chunk`, which has `end` bytes. 0: no complete record; `what`: the reason,
 * or NULL at the regular end. Every reader of chunks uses this. */
static inline uint32_t vt_log_next(const uint8_t *chunk, uint32_t offset, uint32_t end,
                                   const char **what) {
    uint64_t word;
    *what = NULL;
    if (end - offset < sizeof word)
        return 0;
    memcpy(&word, chunk + offset, sizeof word);
    if (word == 0)
        return 0;
    uint32_t length = vt_record_length(word);
    if (vt_word_type(word) < 0x80 && !length) {
        *what = "a record's type";
        return 0;
    }
    if (vt_word_type(word) >= 0x80 && (length % 8 || length < 16 || length > VT_RECORD_MAX_BYTES)) {
        *what = "a record's length";
        return 0;
    }
    if (length > end - offset) {
        /* No record may exceed a complete chunk; an incomplete chunk is the file's end. */
        if (end == VT_CHUNK_BYTES)
            *what = "a record that reaches past its chunk";
        return 0;
    }
    return length;
}

/* Bytes for the long form of a chunk: a FREE is three times as long as in the short form, a STACK less than four
 * times. */
#define VT_LONG_CHUNK_BYTES (4 * VT_CHUNK_BYTES)

/* A chunk being read. */
struct vt_short_records {
    const uint8_t *chunk;
    uint32_t end;     /* its length */
    uint32_t offset;  /* offset of the next record; at the end, where reading stopped */
    const char *what; /* at the end: the reason, as in vt_log_next */
    uint64_t ticks;   /* time of the last ALLOC or FREE */
    uint32_t known;   /* a bit for each short type whose template was read, from the first type */
    struct vt_short_template {
        uint64_t word;    /* a FREE's first; 0: the slot is empty */
        uint64_t device;  /* in its bits of `when` */
        uint64_t high;    /* bits of a key */
        uint64_t context; /* in its bits of `size_context` */
    } templates[VT_SHORT_SLOTS];
    uint64_t frames[VT_SHORT_FRAMES]; /* 0: an empty slot */
};

void vt_short_records_start(struct vt_short_records *records, const uint8_t *chunk, uint32_t end);

/* Writes the long form of the next record to `out` (VT_RECORD_MAX_BYTES). Returns its length; 0: no more. */
uint32_t vt_short_records_next(struct vt_short_records *records, uint8_t *out);

/* Writes the next consecutive short allocations and frees to `events`; most logs contain almost only such records.
 * Returns the position of the next event. */
struct vt_event *vt_short_records_events(struct vt_short_records *records, struct vt_event *events);

/* Events that were skipped. */
struct vt_short_span {
    uint32_t count;
    bool sorted; /* by vt_log_key; `key` is that of the last event */
    uint64_t key;
    uint64_t first_ticks, last_ticks; /* the smallest and the largest */
};

static inline void vt_short_span_add(struct vt_short_span *span, uint64_t key) {
    uint64_t ticks = key >> 1;
    span->count++;
    span->sorted &= key >= span->key;
    span->key = key;
    if (ticks < span->first_ticks)
        span->first_ticks = ticks;
    if (ticks > span->last_ticks)
        span->last_ticks = ticks;
}

/* Skips the same records as vt_short_records_events. Returns the ticks of the first; UINT64_MAX: none. */
uint64_t vt_short_records_pass(struct vt_short_records *records, struct vt_short_span *span);

/* Writes the chunk's header, if it has one, and the long form of all records to `out` (VT_LONG_CHUNK_BYTES). Returns
 * the bytes written. */
uint32_t vt_short_records_all(struct vt_short_records *records, uint8_t *out);

#endif
