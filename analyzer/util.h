/* SPDX-License-Identifier: MIT */
/*
 * Small things that several files of the analyzer need: sizes and times in the units of the
 * contract, and strings that grow.
 */
#ifndef VRAMTRACE_ANALYZER_UTIL_H
#define VRAMTRACE_ANALYZER_UTIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define VT_FORMAT_BYTES 32 /* room that vt_format_bytes and vt_format_duration need */

/* "0 B", "512 B", "1.50 KiB", "5.00 MiB", "32.8 GiB", "141 GiB": three figures, 1024-based. Returns
 * `out`. */
char *vt_format_bytes(uint64_t bytes, char out[VT_FORMAT_BYTES]);

/* A time span as "0:00:14", "1:57:02"; below a second "0.014 s". Returns `out`. */
char *vt_format_duration(uint64_t ns, char out[VT_FORMAT_BYTES]);

/* "2,911,440". Returns `out`. */
char *vt_format_count(uint64_t count, char out[VT_FORMAT_BYTES]);

/* Reads "1048576", "512M", "512MiB", "512MB", "1.5G": 1024-based, letter case ignored, nothing
 * behind. 0; -EINVAL: not a size; -ERANGE: does not fit 64 bits. */
int vt_parse_size(const char *text, uint64_t *bytes);

/* A string that grows. Start it as {0}; `text` is NULL until something was added. Once memory ran
 * out `failed` is set and stays, and the text is what fitted: check it once at the end. Free with
 * vt_string_free. */
struct vt_string {
    char *text;
    size_t length, room;
    bool failed;
};
void vt_string_add(struct vt_string *s, const char *text);
void vt_string_add_bytes(struct vt_string *s, const char *bytes, size_t length);
void vt_string_format(struct vt_string *s, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void vt_string_free(struct vt_string *s);

#endif
