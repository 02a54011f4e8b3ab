/* SPDX-License-Identifier: MIT */
/*
 * Shared helpers: sizes and times as text, allocation that exits with a message when memory runs
 * out, strings and arrays that grow, a map from 64-bit keys to numbers.
 */
#ifndef VRAMTRACE_ANALYZER_UTIL_H
#define VRAMTRACE_ANALYZER_UTIL_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* --- sizes and times --- */

#define VT_FORMAT_BYTES 32 /* size of the buffer for each function below */

/* "0 B", "512 B", "1.50 KiB", "5.00 MiB", "32.8 GiB", "141 GiB": three digits, powers of 1024.
 * Returns `out`. */
char *vt_format_bytes(uint64_t bytes, char out[VT_FORMAT_BYTES]);

/* A duration, or a time since the start of a run: "0:00:14", "1:57:02"; below ten seconds "0.014
 * s". Returns `out`. */
char *vt_format_duration(uint64_t ns, char out[VT_FORMAT_BYTES]);

/* "2,911,440". Returns `out`. */
char *vt_format_count(uint64_t count, char out[VT_FORMAT_BYTES]);

/* The same with their own buffers, valid until the enclosing block ends; the body of an `if` is a block even without
 * braces. */
#define VT_BYTES(bytes)  vt_format_bytes((bytes), (char[VT_FORMAT_BYTES]){0})
#define VT_DURATION(ns)  vt_format_duration((ns), (char[VT_FORMAT_BYTES]){0})
#define VT_NUMBER(count) vt_format_count((count), (char[VT_FORMAT_BYTES]){0})

/* The excess of `a` over `b`, or 0. */
static inline uint64_t vt_beyond(uint64_t a, uint64_t b) {
    return a > b ? a - b : 0;
}

/* The distance between two numbers. */
static inline uint64_t vt_apart(uint64_t a, uint64_t b) {
    return a > b ? a - b : b - a;
}

/* The time of CLOCK_MONOTONIC, the clock used in the log's header. */
uint64_t vt_now_ns(void);

/* The ending of a noun after this number. */
static inline const char *vt_plural(uint64_t count) {
    return count == 1 ? "" : "s";
}

/* --- memory --- */

/* These never return NULL: if memory runs out, no report can be written, so they print a message and exit with
 * VT_STATUS_INTERNAL. Free with free(). `count` items of `size` bytes; vt_alloc zeroes them. */
void *vt_alloc(size_t count, size_t size);
void *vt_realloc(void *old, size_t count, size_t size);
char *vt_strdup(const char *text);
char *vt_strndup(const char *text, size_t length); /* at most `length` bytes */
char *vt_formatted(const char *format, ...) __attribute__((format(printf, 1, 2)));
char *vt_formatted_of(const char *format, va_list args) __attribute__((format(printf, 1, 0)));

/* Put this before the declaration of a pointer: its memory is freed when its block ends, in whatever way.
 * VT_SCOPED_STRING and VT_SCOPED_MAP below replace the type. */
#define VT_SCOPED __attribute__((cleanup(vt_free_scoped)))
void vt_free_scoped(void *variable);

/* Makes one line that is safe on a terminal: control characters and invalid UTF-8 become '?', tabs and line ends
 * become spaces. Changes `text` in place and returns it; NULL is allowed. */
char *vt_printable(char *text);

/* All text output goes through a page. Text written to the stream reaches `to` when the page is closed. `to` then
 * gets no control characters except line ends and, if `colour`, our own styles, and no CI commands unless
 * `commands`. Strings that must not end a line go through vt_printable first. */
struct vt_page {
    FILE *stream;
    char *text;
    size_t length;
    bool commands; /* lines may begin with ::error and ::notice */
};
FILE *vt_page_open(struct vt_page *page);
void vt_page_close(struct vt_page *page, bool colour, FILE *to);

/* Prints one text as a page, without colour. */
void vt_print(FILE *to, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Makes room for one more item. The array `items` has `count` items, and space for `room`. */
#define VT_GROW(items, count, room)                                                                \
    ((count) == (room) ? (void)((room) = (room) ? (room)*2 : 16,                                   \
                                (items) = vt_realloc((items), (room), sizeof *(items)))            \
                       : (void)0)

/* Adds an item, and returns its address: *VT_ADD(items, count, room) = item. The assigned value must not read
 * other items, which may move. */
#define VT_ADD(items, count, room) (VT_GROW(items, count, room), &(items)[(count)++])

/* Borrowed texts, NULL-terminated. Initialize it to {0}; free `items`, which is NULL until a text is added. */
struct vt_texts {
    const char **items;
    size_t count, room;
};
void vt_texts_add(struct vt_texts *list, const char *text);

/* For vt_sort: pairs of unsigned keys. The first pair that differs decides, and the smaller key
 * comes first: {x->bytes, y->bytes} puts the smallest item first, {y->bytes, x->bytes} the largest. */
#define VT_ORDER(...)                                                                              \
    vt_order((const uint64_t[][2]){__VA_ARGS__},                                                   \
             sizeof(const uint64_t[][2]){__VA_ARGS__} / sizeof(uint64_t[2]))
static inline int vt_order(const uint64_t (*keys)[2], size_t count) {
    for (size_t i = 0; i < count; i++)
        if (keys[i][0] != keys[i][1])
            return keys[i][0] < keys[i][1] ? -1 : 1;
    return 0;
}

/* qsort, but `items` may be NULL if there are none. vt_sort_words puts the smallest first. */
void vt_sort(void *items, size_t count, size_t size, int (*compare)(const void *, const void *));
void vt_sort_words(uint64_t *words, size_t count);

/* The number of items whose first member (a uint64_t) is at most `most`. The items must be sorted by it. */
size_t vt_count_up_to(const void *items, size_t count, size_t size, uint64_t most);

/* --- strings --- */

/* A string that grows. Initialize it to {0}; `text` is NULL until something is added. Free with vt_string_free. */
struct vt_string {
    char *text;
    size_t length, room;
};
void vt_string_add(struct vt_string *s, const char *text);
void vt_string_add_bytes(struct vt_string *s, const char *bytes, size_t length);
void vt_string_add_utf8(struct vt_string *s, const char *text); /* invalid UTF-8 as U+FFFD */
void vt_string_format(struct vt_string *s, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void vt_string_free(struct vt_string *s);
#define VT_SCOPED_STRING __attribute__((cleanup(vt_string_free))) struct vt_string

bool vt_same_text(const char *a, const char *b); /* NULL equals only NULL */

/* The part of `path` after the last slash. */
const char *vt_basename(const char *path);

/* The length in bytes of the UTF-8 character at `text`, where `left` bytes can be read; 0 if it
 * is invalid. */
unsigned vt_utf8_length(const char *text, size_t left);

/* The same if the character may be shown, else 0: see vt_text_shown. */
unsigned vt_shown_length(const char *text, size_t left);

/* An environment variable that affects how GPU memory is allocated. */
struct vt_variable {
    char *name, *value;
};

/* Frees the texts and their array. */
void vt_free_texts(char **texts, size_t count);

/* --- map --- */

/* A map from 64-bit keys to 32-bit numbers, with open addressing. Initialize it to {0}; free with vt_map_free. */
struct vt_map {
    uint64_t *keys;
    uint32_t *values; /* VT_MAP_NONE in an empty slot */
    size_t slots, used;
};
#define VT_MAP_NONE UINT32_MAX

uint32_t vt_map_get(const struct vt_map *map, uint64_t key);       /* VT_MAP_NONE: no such key */
void vt_map_put(struct vt_map *map, uint64_t key, uint32_t value); /* replaces */
uint32_t vt_map_remove(struct vt_map *map, uint64_t key);          /* returns as vt_map_get */
/* The value of a key; a new key gets `value`. */
uint32_t vt_map_add(struct vt_map *map, uint64_t key, uint32_t value);
/* Makes room for `count` keys in an empty map. */
void vt_map_reserve(struct vt_map *map, size_t count);
/* Adds a key to a map that is used as a set. False: the set already had it. */
bool vt_map_add_key(struct vt_map *set, uint64_t key);
void vt_map_free(struct vt_map *map);
#define VT_SCOPED_MAP __attribute__((cleanup(vt_map_free))) struct vt_map

/* --- union-find --- */

/* Makes `count` sets of one number each: sets[i] is i. Free the result. */
uint32_t *vt_sets_make(uint32_t count);

/* The least number of the set of `i`. */
uint32_t vt_sets_find(uint32_t *sets, uint32_t i);

/* Joins the sets of `a` and `b`. */
void vt_sets_join(uint32_t *sets, uint32_t a, uint32_t b);

/* --- hashes --- */

/* Mixes all bits of a word: the finalizer of MurmurHash3. */
static inline uint64_t vt_mix(uint64_t x) {
    x ^= x >> 33;
    x *= 0xff51afd7ed558ccdull;
    x ^= x >> 33;
    x *= 0xc4ceb9fe1a85ec53ull;
    x ^= x >> 33;
    return x;
}

/* This hash must stay the same on every machine and in every version, because site ids depend on it. */
uint64_t vt_hash_bytes(uint64_t seed, const void *bytes, size_t length);

#endif
