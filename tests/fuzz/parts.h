/* SPDX-License-Identifier: MIT */
/*
 * The input of the fuzz target `log`: the log and its LOG.nvml without the zeroes that fill their
 * chunks, as parts, one after another. tests/fuzz/pack makes it of a log, and a log of it.
 * OFFSET SIZE DESCRIPTION
 *      0    4 what the part is (the two highest bits) and where its bytes belong
 *      4    4 length of the bytes, without padding
 *      8      the bytes
 * A later part overwrites an earlier one. A part that is cut off ends at the input's end.
 */
#ifndef VRAMTRACE_TESTS_FUZZ_PARTS_H
#define VRAMTRACE_TESTS_FUZZ_PARTS_H

#include "vramtrace/log_format.h"

#include <string.h>

#define VT_FUZZ_KIND    0xc0000000u
#define VT_FUZZ_LOG     0x00000000u /* at this offset in the log */
#define VT_FUZZ_NVML    0x40000000u /* in LOG.nvml, which there is only with such a part */
#define VT_FUZZ_OPTIONS 0x80000000u /* of the report: see log_fuzz.c */
#define VT_FUZZ_SIZE    0xc0000000u /* the log is cut, or extended, to this size */
#define VT_FUZZ_OFFSET  0x3fffffffu

#define VT_FUZZ_PART_BYTES 8u                    /* what stands before the bytes */
#define VT_FUZZ_LOG_BYTES  (8u * VT_CHUNK_BYTES) /* the largest log */

struct vt_fuzz_part {
    uint32_t where, length;
    const uint8_t *bytes;
};

/* The part at `*at`, which it advances. False at the input's end. */
static inline bool vt_fuzz_part_next(const uint8_t *data, size_t size, size_t *at,
                                     struct vt_fuzz_part *part) {
    if (*at >= size || size - *at < VT_FUZZ_PART_BYTES)
        return false;
    memcpy(&part->where, data + *at, 4);
    memcpy(&part->length, data + *at + 4, 4);
    *at += VT_FUZZ_PART_BYTES;
    if (part->length > size - *at)
        part->length = (uint32_t)(size - *at);
    part->bytes = data + *at;
    *at += part->length;
    return true;
}

#endif
