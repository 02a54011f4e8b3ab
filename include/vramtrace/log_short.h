/* SPDX-License-Identifier: MIT */
/*
 * A part of log_format.h: the short forms of ALLOC, FREE and STACK, which make up most of a log. A writer may always
 * use the long form of records.def, and must use it if a field does not fit. Readers expand short records as soon as
 * they read them.
 *
 * Fields that a loop's records share (kind, device, hook, context, the address's upper bits) are in an earlier TEMPLATE
 * record, which has one of 16 slot numbers. Nothing carries over from one chunk to the next: a chunk begins with no
 * template, no frame and the time 0.
 *
 * SHORT FREE, 8 bytes
 *   BITS  DESCRIPTION
 *   0- 3  slot: the number of its TEMPLATE
 *   4- 7  4
 *   8-29  ticks since the previous ALLOC or FREE in the chunk, short or long
 *  30-63  bits 4-37 of the address; bits 0-3 are zero
 *
 * SHORT ALLOC, 16 bytes
 *   BITS  DESCRIPTION
 *   0- 3  slot
 *   4- 7  5
 *   8-31  the stack's number, 0 = unknown
 *  32-63  ticks, as above
 *  64-97  bits 4-37 of the address, as above
 * 98-127  size in bytes
 *
 * A SHORT STACK (records.def) names frame words by their indices in a table, which is empty when the chunk begins. If
 * an index has the bit VT_SHORT_FRAME_NEW, its word follows the indices, in the same order, and is added to the table
 * at that index.
 */
#ifndef VRAMTRACE_LOG_SHORT_H
#define VRAMTRACE_LOG_SHORT_H

enum {
    VT_REC_SHORT_FREE = 0x40,  /* to 0x4f: + slot */
    VT_REC_SHORT_ALLOC = 0x50, /* to 0x5f */
    VT_SHORT_SLOTS = 16,
    VT_SHORT_FREE_TICKS = 22, /* bits */
    VT_SHORT_STACK = 24,
    VT_SHORT_ADDRESS = 34,
    VT_SHORT_SIZE = 30,
    VT_SHORT_ALIGNED = 4, /* low bits of an address that are always zero */
    VT_SHORT_WINDOW = VT_SHORT_ADDRESS + VT_SHORT_ALIGNED, /* the bits above are in the template */
    VT_SHORT_FRAMES = 1024,                                /* places in the table */
    VT_SHORT_FRAME_NEW = 0x8000,
};

/* The first eight bytes of a TEMPLATE's fields, as one number, taken from a long record. VT_SHORT_NO_KEY: no
 * template. */
#define VT_SHORT_NO_KEY UINT64_MAX
static inline uint64_t vt_short_key(uint64_t word, uint64_t when, uint64_t context,
                                    uint64_t address) {
    return when >> 56 | (word & 0xffffff00) | context << 32 | address >> VT_SHORT_WINDOW << 48;
}
static inline unsigned vt_short_device(uint64_t key) {
    return (unsigned)(key & 0xff);
}
static inline unsigned vt_short_kind(uint64_t key) {
    return (unsigned)(key >> 8 & 0xff);
}
static inline unsigned vt_short_hook(uint64_t key) {
    return (unsigned)(key >> 16 & 0xffff);
}
static inline uint64_t vt_short_context(uint64_t key) {
    return key >> 32 & 0xffff;
}
/* `bits`: the address bits of a short record. */
static inline uint64_t vt_short_address(uint64_t key, uint64_t bits) {
    return key >> 48 << VT_SHORT_WINDOW | bits << VT_SHORT_ALIGNED;
}

/* Bytes of a SHORT STACK before its first frame word: the head and the indices, padded to a multiple of 8. */
static inline uint32_t vt_short_stack_head(uint32_t frames) {
    return (16 + 2 * frames + 7) & ~7u;
}

#endif
