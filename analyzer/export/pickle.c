/* SPDX-License-Identifier: MIT */
/*
 * The pickle writer (see pickle.h). The opcodes are those of Python's pickletools.
 */
#include "pickle.h"

#include <string.h>

enum {
    PROTO = 0x80,
    EMPTY_DICT = '}',
    EMPTY_LIST = ']',
    MARK = '(',
    SETITEMS = 'u',
    APPENDS = 'e',
    BININT = 'J',
    BININT1 = 'K',
    BININT2 = 'M',
    LONG1 = 0x8a,
    BINUNICODE = 'X',
    NEWTRUE = 0x88,
    NEWFALSE = 0x89,
    NONE = 'N',
    TUPLE2 = 0x86,
    BINPUT = 'q',
    LONG_BINPUT = 'r',
    BINGET = 'h',
    LONG_BINGET = 'j',
    STOP = '.'
};

/* MemoryViz.js passes appended items as the arguments of one call, and browsers limit the number of arguments. */
enum { APPENDED_AT_ONCE = 1000 };

static void op(struct vt_pickle *p, int code) {
    putc(code, p->out);
}

static void little_endian(struct vt_pickle *p, uint64_t value, unsigned bytes) {
    for (unsigned i = 0; i < bytes; i++)
        putc((int)(value >> 8 * i & 0xff), p->out);
}

void vt_pickle_begin(struct vt_pickle *p) {
    op(p, PROTO);
    op(p, 2);
}

void vt_pickle_end(struct vt_pickle *p) {
    op(p, STOP);
    vt_map_free(&p->texts);
}

/* Numbers below 256 have a short form. */
static void memo(struct vt_pickle *p, uint32_t number, int code, int long_code) {
    op(p, number <= 0xff ? code : long_code);
    little_endian(p, number, number <= 0xff ? 1 : 4);
}

uint32_t vt_pickle_keep(struct vt_pickle *p) {
    memo(p, p->memo_count, BINPUT, LONG_BINPUT);
    return p->memo_count++;
}

/* --- values --- */

static void put_text(struct vt_pickle *p, const char *text) {
    VT_SCOPED_STRING clean = {0};
    vt_string_add_utf8(&clean, text);
    op(p, BINUNICODE);
    little_endian(p, clean.length, 4);
    fwrite(clean.text ? clean.text : "", 1, clean.length, p->out);
}

static void put_known_text(struct vt_pickle *p, const char *text) {
    uint32_t kept = vt_map_get(&p->texts, (uintptr_t)text);
    if (kept != VT_MAP_NONE) {
        memo(p, kept, BINGET, LONG_BINGET);
        return;
    }
    put_text(p, text);
    vt_map_put(&p->texts, (uintptr_t)text, vt_pickle_keep(p));
}

static void put_number(struct vt_pickle *p, uint64_t value) {
    if (value <= 0xff) {
        op(p, BININT1);
        little_endian(p, value, 1);
    } else if (value <= 0xffff) {
        op(p, BININT2);
        little_endian(p, value, 2);
    } else if (value <= INT32_MAX) {
        op(p, BININT);
        little_endian(p, value, 4);
    } else { /* two's complement: the ninth byte makes it positive */
        unsigned bytes = value > INT64_MAX ? 9 : 8;
        op(p, LONG1);
        op(p, (int)bytes);
        little_endian(p, value, 8);
        if (bytes == 9)
            op(p, 0);
    }
}

/* Writes the prefix of a value: its key, or in a list the opcodes that append earlier items. */
static void put_key(struct vt_pickle *p, const char *key) {
    if (key)
        put_known_text(p, key);
    if (key || !p->depth)
        return;
    uint32_t *count = &p->open[p->depth - 1].count;
    if (*count == APPENDED_AT_ONCE) {
        op(p, APPENDS);
        *count = 0;
    }
    if (!(*count)++)
        op(p, MARK);
}

void vt_pickle_open(struct vt_pickle *p, const char *key, char bracket) {
    put_key(p, key);
    op(p, bracket == '{' ? EMPTY_DICT : EMPTY_LIST);
    if (bracket == '{')
        op(p, MARK);
    p->open[p->depth].bracket = bracket;
    p->open[p->depth++].count = 0;
}

void vt_pickle_close(struct vt_pickle *p) {
    p->depth--;
    if (p->open[p->depth].bracket == '{')
        op(p, SETITEMS);
    else if (p->open[p->depth].count)
        op(p, APPENDS);
}

void vt_pickle_number(struct vt_pickle *p, const char *key, uint64_t value) {
    put_key(p, key);
    if (value == UINT64_MAX)
        op(p, NONE);
    else
        put_number(p, value);
}

void vt_pickle_bool(struct vt_pickle *p, const char *key, bool value) {
    put_key(p, key);
    op(p, value ? NEWTRUE : NEWFALSE);
}

void vt_pickle_pair(struct vt_pickle *p, const char *key, uint64_t first, uint64_t second) {
    put_key(p, key);
    put_number(p, first);
    put_number(p, second);
    op(p, TUPLE2);
}

void vt_pickle_text(struct vt_pickle *p, const char *key, const char *text) {
    put_key(p, key);
    if (text)
        put_known_text(p, text);
    else
        op(p, NONE);
}

void vt_pickle_text_once(struct vt_pickle *p, const char *key, const char *text) {
    put_key(p, key);
    put_text(p, text);
}

void vt_pickle_again(struct vt_pickle *p, const char *key, uint32_t kept) {
    put_key(p, key);
    memo(p, kept, BINGET, LONG_BINGET);
}
