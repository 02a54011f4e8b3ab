/* SPDX-License-Identifier: MIT */
/*
 * Sizes and numbers as text, read and written by the same rules in the tracer and in the command. No C library calls,
 * because the tracer runs inside another program's process.
 */
#ifndef VRAMTRACE_TEXT_H
#define VRAMTRACE_TEXT_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

__extension__ typedef unsigned __int128 vt_text_wide;

/* Writing: each function ends the text with a NUL and returns that position. */

static inline char *vt_text_put(char *at, const char *text) {
    while (*text)
        *at++ = *text++;
    *at = 0;
    return at;
}

static inline char *vt_text_put_number(char *at, uint64_t number) {
    char digits[24];
    unsigned i = sizeof digits;
    digits[--i] = 0;
    do
        digits[--i] = (char)('0' + number % 10);
    while (number /= 10);
    return vt_text_put(at, digits + i);
}

/* Units of 1024, with three digits, rounded to nearest, halves to even, as printf does. From 1023.5 on, the next unit
 * is used, to avoid "1024 KiB". At most 8 characters. */
static inline char *vt_text_put_size(char *at, uint64_t bytes) {
    static const char units[][5] = {" B", " KiB", " MiB", " GiB", " TiB", " PiB", " EiB"};
    unsigned unit = 0, decimals = 0, power = 1;
    while (unit < 6 && (vt_text_wide)bytes * 2 >= (vt_text_wide)2047 << 10 * unit)
        unit++;
    vt_text_wide one = (vt_text_wide)1 << 10 * unit;
    if (unit)
        decimals = (vt_text_wide)bytes * 100 >= one * 9995    ? 0
                   : (vt_text_wide)bytes * 1000 >= one * 9995 ? 1
                                                              : 2;
    for (unsigned i = 0; i < decimals; i++)
        power *= 10;
    vt_text_wide scaled = (vt_text_wide)bytes * power, rest = scaled & (one - 1);
    uint64_t shown = (uint64_t)(scaled >> 10 * unit);
    if (rest * 2 > one || (rest * 2 == one && shown & 1))
        shown++;
    at = vt_text_put_number(at, shown / power);
    if (decimals)
        *at++ = '.';
    while (power /= 10)
        *at++ = (char)('0' + shown / power % 10);
    return vt_text_put(at, units[unit]);
}

/* A character as UTF-8, at most 4 bytes, without a NUL. An invalid one, such as a lone surrogate, becomes U+FFFD. */
static inline char *vt_text_put_utf8(char *at, uint32_t c) {
    static const unsigned char lead[] = {0, 0xc0, 0xe0, 0xf0};
    c = c > 0x10ffff || (c >= 0xd800 && c < 0xe000) ? 0xfffd : c;
    unsigned more = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    *at++ = (char)(lead[more] | c >> 6 * more);
    while (more--)
        *at++ = (char)(0x80 | (c >> 6 * more & 0x3f));
    return at;
}

/* Text that is safe to show. */

/* The length in bytes of the UTF-8 character at `text`, where `left` bytes are readable; 0 if it is not valid. */
static inline unsigned vt_text_utf8(const char *text, size_t left) {
    const unsigned char *b = (const unsigned char *)text;
    if (!left || b[0] < 0x80)
        return left != 0;
    unsigned length = b[0] >= 0xf0 ? 4 : b[0] >= 0xe0 ? 3 : 2;
    if (b[0] < 0xc2 || b[0] > 0xf4 || left < length)
        return 0;
    for (unsigned i = 1; i < length; i++)
        if ((b[i] & 0xc0) != 0x80)
            return 0;
    /* overlong forms, surrogates, and everything beyond U+10FFFF */
    return (b[0] == 0xe0 && b[1] < 0xa0) || (b[0] == 0xed && b[1] > 0x9f) ||
                   (b[0] == 0xf0 && b[1] < 0x90) || (b[0] == 0xf4 && b[1] > 0x8f)
               ? 0
               : length;
}

/* The character at `text`, which is valid and has that length. */
static inline uint32_t vt_text_character(const char *text, unsigned length) {
    uint32_t c = (unsigned char)*text & (length > 1 ? 0x7fu >> length : 0x7fu);
    for (unsigned i = 1; i < length; i++)
        c = c << 6 | ((unsigned char)text[i] & 0x3f);
    return c;
}

/* The length of the character at `text` if it may be shown, else 0. Not shown: invalid UTF-8; characters that control a
 * terminal, end a line, change the direction of writing or are invisible, so that one name could pose as another; and
 * the start of a command that a CI service obeys anywhere in its log ("##[", "##vso["). */
static inline unsigned vt_text_shown(const char *text, size_t left) {
    static const uint32_t hidden[][2] = {
        {0, 0x1f},          {0x7f, 0x9f},       {0xad, 0xad},       {0x34f, 0x34f},
        {0x61c, 0x61c},     {0x115f, 0x1160},   {0x17b4, 0x17b5},   {0x180b, 0x180f},
        {0x200b, 0x200f},   {0x2028, 0x202e},   {0x2060, 0x206f},   {0x3164, 0x3164},
        {0xfeff, 0xfeff},   {0xffa0, 0xffa0},   {0xfff0, 0xfffb},   {0xfffe, 0xffff},
        {0x13430, 0x1343f}, {0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff}};
    unsigned length = vt_text_utf8(text, left);
    uint32_t c = length ? vt_text_character(text, length) : 0;
    if (c == '#' && left > 2 && text[1] == '#') {
        size_t i = 2;
        while (i < left && text[i] >= 'a' && text[i] <= 'z')
            i++;
        if (i < left && text[i] == '[')
            return 0;
    }
    if (c >= 0x20 && c < 0x7f)
        return length;
    for (unsigned i = 0; length && i < sizeof hidden / sizeof *hidden; i++)
        if (c >= hidden[i][0] && c <= hidden[i][1])
            return 0;
    return length;
}

/* Reading. */

/* A number with or without decimals: whole + part / place. Returns the first character after it;
 * NULL: no number, or too large. Decimals beyond the 18th are ignored. */
static inline const char *vt_text_read_decimal(const char *text, uint64_t *whole, uint64_t *part,
                                               uint64_t *place) {
    *whole = *part = 0;
    *place = 1;
    if (*text < '0' || *text > '9')
        return NULL;
    for (; *text >= '0' && *text <= '9'; text++)
        if (__builtin_mul_overflow(*whole, 10, whole) ||
            __builtin_add_overflow(*whole, (uint64_t)(*text - '0'), whole))
            return NULL;
    if (*text == '.')
        for (text++; *text >= '0' && *text <= '9'; text++)
            if (*place < 1000000000000000000u) { /* the most that 64 bits hold */
                *part = *part * 10 + (uint64_t)(*text - '0');
                *place *= 10;
            }
    return text;
}

/* Reads bytes, or a number with a unit: 512M, 512MiB, 1.5G; units of 1024, in either case, rounded
 * down. Returns 0; -EINVAL: not a size; -ERANGE: more than 64 bits. */
static inline int vt_text_read_size(const char *text, uint64_t *bytes) {
    static const char letters[] = "kmgtpe";
    uint64_t whole, part, place;
    unsigned shift = 0;
    bool digits = *text >= '0' && *text <= '9';
    text = vt_text_read_decimal(text, &whole, &part, &place);
    if (!text)
        return digits ? -ERANGE : -EINVAL;
    for (unsigned i = 0; letters[i]; i++)
        if ((*text | 0x20) == letters[i])
            shift = 10 * (i + 1);
    if (shift)
        text++;
    if (shift && (*text == 'i' || *text == 'I') && (text[1] == 'B' || text[1] == 'b'))
        text++;
    if (*text == 'B' || *text == 'b')
        text++;
    if (*text)
        return -EINVAL;
    if (shift && whole > UINT64_MAX >> shift)
        return -ERANGE;
    *bytes = (whole << shift) + (uint64_t)(((vt_text_wide)part << shift) / place);
    return 0;
}

/* A log's size, VRAMTRACE_MAX_LOG. */
#define VT_TEXT_MAX_LOG_LEAST (1u << 20)
#define VT_TEXT_MAX_LOG       "auto, off, or a size of at least 1M, such as 512M or 1.5G"

/* Reads a share: above 0% and up to 100%, with decimals. In millionths, rounded up to 1. Returns 0; -EINVAL: not a
 * share; -ERANGE: outside these limits. */
#define VT_TEXT_WHOLE 1000000u
static inline int vt_text_read_share(const char *text, uint32_t *millionths) {
    uint64_t whole, part, place;
    text = vt_text_read_decimal(text, &whole, &part, &place);
    if (!text || text[0] != '%' || text[1])
        return -EINVAL;
    if (whole > 100 || (whole == 100 && part) || (!whole && !part))
        return -ERANGE;
    uint64_t found = whole * 10000 + (uint64_t)((vt_text_wide)part * 10000 / place);
    *millionths = found ? (uint32_t)found : 1;
    return 0;
}

/* When owners are looked for: the list in VRAMTRACE_SNAPSHOT. */
enum vt_text_trigger { VT_TRIGGER_END = 1, VT_TRIGGER_OOM = 2, VT_TRIGGER_PHASE = 4 };
#define VT_TEXT_TRIGGERS "a list of end, oom and phase:NAME, or off"

/* Reads the item at `text`, up to a comma or the end. Returns its trigger, and its length in *length; 0: not a
 * trigger. */
static inline unsigned vt_text_read_trigger(const char *text, uint32_t *length) {
    static const char *const words[] = {"end", "oom", "phase:"};
    *length = 0;
    while (text[*length] && text[*length] != ',')
        ++*length;
    for (unsigned w = 0; w < 3; w++) {
        uint32_t n = 0;
        while (words[w][n] && words[w][n] == text[n])
            n++;
        if (!words[w][n] && (w == 2 ? *length > n : *length == n))
            return 1u << w;
    }
    return 0;
}

/* The whole list: a bit for each trigger. -EINVAL: not a list of triggers. */
static inline int vt_text_read_triggers(const char *text, unsigned *triggers) {
    uint32_t length;
    *triggers = 0;
    if (text[0] == 'o' && text[1] == 'f' && text[2] == 'f' && !text[3])
        return 0;
    for (;; text += length + 1) {
        unsigned trigger = vt_text_read_trigger(text, &length);
        if (!trigger)
            return -EINVAL;
        *triggers |= trigger;
        if (!text[length])
            return 0;
    }
}

/* The limits of a snapshot: VRAMTRACE_SNAPSHOT_LIMIT. TIME is in s or ms; a value not given is 0. -EINVAL: not a limit;
 * -ERANGE: too large. */
#define VT_TEXT_BOUNDS "TIME, SIZE or TIME,SIZE above 0, such as 2s, 256M or 500ms,1G"
static inline int vt_text_read_bounds(const char *text, uint64_t *ns, uint64_t *bytes) {
    uint64_t whole, part, place;
    const char *at = vt_text_read_decimal(text, &whole, &part, &place);
    bool thousandths = at && *at == 'm' && at[1] == 's';
    *ns = *bytes = 0;
    if (at && (*at == 's' || thousandths)) {
        uint64_t one = thousandths ? 1000000 : 1000000000;
        at += thousandths ? 2 : 1;
        if (whole > UINT64_MAX / 1024 / one)
            return -ERANGE;
        *ns = whole * one + (uint64_t)((vt_text_wide)part * one / place);
        if (!*ns || (*at && *at != ','))
            return -EINVAL;
        if (!*at)
            return 0;
        text = at + 1;
    }
    int status = vt_text_read_size(text, bytes);
    return status ? status : *bytes ? 0 : -EINVAL;
}

#endif
