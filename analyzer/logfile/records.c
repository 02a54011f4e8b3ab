/* SPDX-License-Identifier: MIT */
/*
 * The layout of records (see records.h), generated from records.def.
 */
#include "records.h"

#include "vramtrace/log_format.h"

#include <string.h>

static const struct vt_record_layout layouts[256] = {
#define VT_EVENT(number, NAME, name, bytes, kind, fields)                                          \
    [number] = {#NAME, #kind, bytes, (const struct vt_record_field[]){fields{0}}},
#define VT_ENTRY(number, NAME, name, bytes, fields)                                                \
    [number] = {#NAME, NULL, bytes, (const struct vt_record_field[]){fields{0}}},
#define VT_FIELD(offset, type, name, show) {#name, offset, sizeof(type), 0, NULL, VT_SHOW_##show},
#define VT_ARRAY(offset, type, name, elements, show)                                               \
    {#name, offset, elements * sizeof(type), 0, NULL, VT_SHOW_##show},
#define VT_COUNT(offset, type, name, each, part, show)                                             \
    {#name, offset, sizeof(type), each, #part, VT_SHOW_##show},
#include "vramtrace/records.def"
};

const struct vt_record_layout *vt_record_layout(unsigned type) {
    return type < 256 && layouts[type].name ? &layouts[type] : NULL;
}

uint64_t vt_record_number(const uint8_t *record, const struct vt_record_field *field) {
    uint64_t number = 0;
    memcpy(&number, record + field->offset, field->bytes);
    return number;
}

bool vt_record_is_whole(const uint8_t *record, uint32_t length) {
    uint64_t word;
    memcpy(&word, record, sizeof word);
    const struct vt_record_layout *layout = vt_record_layout(vt_word_type(word));
    if (!layout || length < layout->bytes)
        return false;
    uint64_t end = layout->bytes; /* cannot overflow: a few counts of 32 bits */
    for (const struct vt_record_field *field = layout->fields; field->name; field++)
        if (field->each)
            end += vt_record_number(record, field) * field->each;
    return end <= length;
}
