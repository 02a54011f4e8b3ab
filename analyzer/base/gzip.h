/* SPDX-License-Identifier: MIT */
/*
 * Writes reproducible gzip, without a name or time. Also reads the beginning of a file, compressed or not, to identify
 * it.
 */
#ifndef VRAMTRACE_ANALYZER_GZIP_H
#define VRAMTRACE_ANALYZER_GZIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* A compressed stream; the caller checks ferror(out). NULL: no memory. */
struct vt_gzip *vt_gzip_open(FILE *out);
void vt_gzip_add(struct vt_gzip *gzip, const void *bytes, size_t length);
void vt_gzip_close(struct vt_gzip *gzip); /* writes the rest */

/* Compresses all of `bytes` at once. Returns 0 or -errno; the caller checks ferror(out). */
int vt_gzip_write(FILE *out, const uint8_t *bytes, size_t length);

/* The beginning of the file, uncompressed: up to `size` - 1 bytes (at most 8 KiB of an uncompressed file), ended
 * by a zero. Returns their number. The file's offset stays. */
size_t vt_gzip_peek(int fd, char *text, size_t size);

#endif
