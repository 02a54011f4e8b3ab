/* SPDX-License-Identifier: MIT */
/*
 * The layout of each record type as data, generated from records.def. For the reader's bounds checks and for `vramtrace
 * dump`.
 */
#ifndef VRAMTRACE_ANALYZER_RECORDS_H
#define VRAMTRACE_ANALYZER_RECORDS_H

#include <stdbool.h>
#include <stdint.h>

/* How `dump` prints a field, or the part whose elements the field counts. */
enum vt_record_show {
    VT_SHOW_NOT,
    VT_SHOW_NUMBER,
    VT_SHOW_SIGNED,
    VT_SHOW_HEX,
    VT_SHOW_SIZE,   /* 48 bits of size, 16 of context */
    VT_SHOW_BYTES,  /* hex digits */
    VT_SHOW_TEXT,   /* up to a NUL */
    VT_SHOW_FRAMES, /* frame words */
    VT_SHOW_SPACES, /* vt_lost_entry */
    VT_SHOW_OWNERS, /* struct vt_owned */
};

struct vt_record_field {
    const char *name; /* NULL: end of the list */
    uint16_t offset, bytes;
    uint16_t each;            /* for a count: bytes of an element of the part; else 0 */
    const char *part;         /* the part's name */
    enum vt_record_show show; /* for the part if there is one, else for the field */
};

struct vt_record_layout {
    const char *name; /* "ALLOC" */
    const char *kind; /* name of its kind byte; NULL: not an event (no kind, time or stack) */
    uint16_t bytes;   /* without the parts */
    const struct vt_record_field *fields;
};

/* A constant; NULL: unknown type. */
const struct vt_record_layout *vt_record_layout(unsigned type);

/* The number in a field of up to 8 bytes. */
uint64_t vt_record_number(const uint8_t *record, const struct vt_record_field *field);

/* Whether the record's type is known, and `length` bytes hold all of its fields and parts. */
bool vt_record_is_whole(const uint8_t *record, uint32_t length);

#endif
