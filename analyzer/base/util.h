/* SPDX-License-Identifier: MIT */
/*
 * Small things that several files of the analyzer need: sizes and times in the units of the
 * contract, memory that is there or ends the program, strings and arrays that grow, a map from
 * 64-bit keys to numbers.
 */
#ifndef VRAMTRACE_ANALYZER_UTIL_H
#define VRAMTRACE_ANALYZER_UTIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* --- sizes and times --- */

#define VT_FORMAT_BYTES 32 /* room that each of the formatters below needs */

/* "0 B", "512 B", "1.50 KiB", "5.00 MiB", "32.8 GiB", "141 GiB": three figures, 1024-based. Returns
 * `out`. */
char *vt_format_bytes(uint64_t bytes, char out[VT_FORMAT_BYTES]);

/* A span of time or a moment in a run, "0:00:14", "1:57:02"; below ten seconds "0.014 s". Returns
 * `out`. */
char *vt_format_duration(uint64_t ns, char out[VT_FORMAT_BYTES]);

/* "2,911,440". Returns `out`. */
char *vt_format_count(uint64_t count, char out[VT_FORMAT_BYTES]);

/* --- memory --- */

/* Zeroed memory for `count` things of `size` bytes; never NULL: without memory there is no report
 * to write, so these say so and exit with VT_STATUS_INTERNAL. Free with free(). */
void *vt_alloc(size_t count, size_t size);
void *vt_realloc(void *old, size_t count, size_t size);
char *vt_strdup(const char *text);
char *vt_strndup(const char *text, size_t length); /* up to `length` bytes, or the first NUL */
/* Control characters, which would do things to a terminal, become '?', a tab a space. Answers `text`;
 * NULL is NULL. */
char *vt_printable(char *text);

/* Makes room for one more at the end of an array that doubles: `items` holds `count` of `room`
 * things. */
#define VT_GROW(items, count, room)                                                                \
    do {                                                                                           \
        if ((count) == (room)) {                                                                   \
            (room) = (room) ? (room)*2 : 16;                                                       \
            (items) = vt_realloc((items), (room), sizeof *(items));                                \
        }                                                                                          \
    } while (0)

/* --- strings --- */

/* A string that grows. Start it as {0}; `text` is NULL until something was added. Free with
 * vt_string_free. */
struct vt_string {
    char *text;
    size_t length, room;
};
void vt_string_add(struct vt_string *s, const char *text);
void vt_string_add_bytes(struct vt_string *s, const char *bytes, size_t length);
void vt_string_format(struct vt_string *s, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void vt_string_free(struct vt_string *s);

/* The part behind the last slash. */
const char *vt_basename(const char *path);

/* Bytes of the valid UTF-8 character that starts at `text` (`left` bytes are there), 0 where none
 * does. */
unsigned vt_utf8_length(const char *text, size_t left);

/* --- map, hash --- */

/* From any 64-bit key to a number. Open addressing, load at most 2/3, no
 * tombstones. Start it as {0}. Free with
 * vt_map_free. */
struct vt_map {
    uint64_t *keys;
    uint32_t *values; /* VT_MAP_NONE: the slot is empty */
    size_t slots, used;
};
#define VT_MAP_NONE UINT32_MAX

uint32_t vt_map_get(const struct vt_map *map, uint64_t key);       /* VT_MAP_NONE: not there */
void vt_map_put(struct vt_map *map, uint64_t key, uint32_t value); /* replaces */
uint32_t vt_map_remove(struct vt_map *map, uint64_t key);          /* what was there; VT_MAP_NONE */
void vt_map_free(struct vt_map *map);

/* Mixes all bits of a word (the finalizer of MurmurHash3): for tables, and as the step of
 * vt_hash_bytes. */
static inline uint64_t vt_mix(uint64_t x) {
    x ^= x >> 33;
    x *= 0xff51afd7ed558ccdull;
    x ^= x >> 33;
    x *= 0xc4ceb9fe1a85ec53ull;
    x ^= x >> 33;
    return x;
}

/* A hash that is the same on every machine and in every version: site ids are made of it. */
uint64_t vt_hash_bytes(uint64_t seed, const void *bytes, size_t length);

#endif
