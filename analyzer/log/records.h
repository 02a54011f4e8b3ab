/* SPDX-License-Identifier: MIT */
/*
 * How records are laid out, as data, made from records.def: for the reader's bounds check and for
 * `vramtrace dump`.
 */
#ifndef VRAMTRACE_ANALYZER_RECORDS_H
#define VRAMTRACE_ANALYZER_RECORDS_H

#include <stdbool.h>
#include <stdint.h>

/* How `dump` prints a field, or the part that it counts. */
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
};

struct vt_record_field {
    const char *name; /* NULL: behind the last field */
    uint16_t offset, bytes;
    uint16_t each;    /* bytes of an element of the part that the field counts; 0: counts none */
    const char *part; /* the part's name */
    enum vt_record_show show; /* of the part, where there is one; else of the field */
};

struct vt_record_layout {
    const char *name; /* "ALLOC" */
    const char *kind; /* what its kind byte is called; NULL: it has none, nor `when` and a stack */
    uint16_t bytes;   /* before the parts */
    const struct vt_record_field *fields;
};

/* NULL: a type that this vramtrace does not know. */
const struct vt_record_layout *vt_record_layout(unsigned type);

/* The number in a field of up to 8 bytes. */
uint64_t vt_record_number(const uint8_t *record, const struct vt_record_field *field);

/* Whether the type of a record of `length` bytes is known, and the record holds all of its fields
 * and what they count. */
bool vt_record_is_whole(const uint8_t *record, uint32_t length);

#endif
