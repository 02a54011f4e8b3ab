/* SPDX-License-Identifier: MIT */
/*
 * The contents of a Python frame's code object: name, file, first line, and the line of a bytecode offset. Read in
 * place, while the frame keeps the code object and its strings alive. Called for a new stack.
 */
#include <string.h>

#include "python.h"
#include "python_layout.h"
#include "vramtrace/text.h"

/* Bytes of a line table; a function with a million lines has a smaller one. */
#define LONGEST_TABLE (16u << 20)
#define LONGEST_TEXT  (1u << 20)

static uint64_t word(uintptr_t at) {
    return *(const uint64_t *)at;
}

static uint32_t half(uintptr_t at) {
    return *(const uint32_t *)at;
}

bool vt_python_text(uintptr_t text, char *to, uint32_t room, uint32_t *bytes) {
    const struct vt_pylayout *at = &vt_pyimage.at;
    *bytes = 0;
    if (text == 0 || text & 7)
        return false;
    uint64_t length = word(text + at->text_length);
    uint32_t state = half(text + at->text_state);
    unsigned kind = state >> 2 & 7;
    bool compact = state >> 5 & 1, ascii = state >> 6 & 1;
    if ((kind != 1 && kind != 2 && kind != 4) || length > LONGEST_TEXT)
        return false;
    /* A subclass of str only points to its characters. */
    uintptr_t data = !compact ? word(text + at->text_compact)
                              : text + (ascii ? at->text_ascii : at->text_compact);
    if (data == 0)
        return false;
    uint32_t n = 0;
    for (uint64_t i = 0; i < length; i++) {
        uint32_t c = kind == 1   ? ((const uint8_t *)data)[i]
                     : kind == 2 ? ((const uint16_t *)data)[i]
                                 : ((const uint32_t *)data)[i];
        char utf8[4];
        uint32_t k = (uint32_t)(vt_text_put_utf8(utf8, c) - utf8);
        if (n + k > room)
            break;
        memcpy(to + n, utf8, k);
        n += k;
    }
    *bytes = n;
    return true;
}

/* The three encodings. Each function returns the line, or 0 for none. `lasti` is in bytes. */

static uint32_t line_by_lnotab(const uint8_t *p, const uint8_t *end, uint32_t first,
                               uint32_t lasti) {
    uint32_t line = first, address = 0;
    for (; end - p >= 2; p += 2) {
        address += p[0];
        if (address > lasti)
            break;
        line += (uint32_t)(int8_t)p[1];
    }
    return line;
}

static uint32_t line_by_ranges(const uint8_t *p, const uint8_t *end, uint32_t first,
                               uint32_t lasti) {
    uint32_t line = first, address = 0;
    for (; end - p >= 2; p += 2) {
        bool none = (int8_t)p[1] == -128;
        address += p[0];
        if (!none)
            line += (uint32_t)(int8_t)p[1];
        if (address > lasti)
            return none ? 0 : line;
    }
    return 0;
}

/* A signed variable-length number: six bits per byte, lowest first; bit 6 continues it; bit 0 of the result is the
 * sign. */
static int32_t signed_number(const uint8_t *p, const uint8_t *end) {
    uint32_t v = 0;
    for (unsigned shift = 0; p < end && shift < 32; shift += 6, p++) {
        v |= (uint32_t)(*p & 0x3f) << shift;
        if (!(*p & 0x40))
            break;
    }
    return v & 1 ? -(int32_t)(v >> 1) : (int32_t)(v >> 1);
}

static uint32_t line_by_locations(const uint8_t *p, const uint8_t *end, uint32_t first,
                                  uint32_t lasti) {
    enum { ONE_LINE_0 = 10, ONE_LINE_2 = 12, NO_COLUMNS = 13, LONG = 14, NONE = 15 };
    uint32_t line = first, address = 0;
    while (p < end) {
        unsigned code = *p >> 3 & 15;
        address += ((*p & 7u) + 1) * 2;
        p++;
        if (code == NO_COLUMNS || code == LONG)
            line += (uint32_t)signed_number(p, end);
        else if (code >= ONE_LINE_0 && code <= ONE_LINE_2)
            line += code - ONE_LINE_0;
        if (address > lasti)
            return code == NONE ? 0 : line;
        /* Columns are not needed: only an entry's first byte has bit 7. */
        while (p < end && !(*p & 0x80))
            p++;
    }
    return 0;
}

uint32_t vt_python_line(const uint8_t *table, size_t bytes, uint32_t first, uint32_t lasti) {
    switch ((enum vt_pylines)vt_pyimage.at.lines) {
    case VT_LINES_LNOTAB:
        return line_by_lnotab(table, table + bytes, first, lasti);
    case VT_LINES_RANGES:
        return line_by_ranges(table, table + bytes, first, lasti);
    case VT_LINES_LOCATIONS:
        return line_by_locations(table, table + bytes, first, lasti);
    }
    return 0;
}

static uint32_t line_of(uintptr_t code, uint32_t first, uint32_t lasti) {
    const struct vt_pylayout *at = &vt_pyimage.at;
    uintptr_t table = word(code + at->lines_table);
    if (table == 0 || table & 7 || lasti == VT_PYTHON_NO_LASTI)
        return 0;
    uint64_t bytes = word(table + at->bytes_size);
    if (bytes > LONGEST_TABLE)
        return 0;
    return vt_python_line((const uint8_t *)(table + at->bytes_data), bytes, first, lasti);
}

bool vt_python_describe(const struct vt_pyframe *frame, struct vt_pycode *out) {
    const struct vt_pylayout *at = &vt_pyimage.at;
    if (vt_python_state(NULL) != VT_PYTHON_ACTIVE || frame->code == 0)
        return false;
    uintptr_t code = frame->code;
    out->first_line = half(code + at->first_line);
    out->line = line_of(code, out->first_line, frame->lasti);
    bool name = vt_python_text(word(code + (at->qualname ? at->qualname : at->name)), out->name,
                               sizeof out->name, &out->name_bytes);
    bool file =
        vt_python_text(word(code + at->file), out->file, sizeof out->file, &out->file_bytes);
    return name && file;
}
