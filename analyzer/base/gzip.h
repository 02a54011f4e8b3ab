/* SPDX-License-Identifier: MIT */
/*
 * Writes bytes gzip-compressed, the same for the same bytes: without a name or a time. And tells a
 * file by how its content begins, compressed or not.
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
void vt_gzip_close(struct vt_gzip *gzip); /* writes what is left */

/* All at once. Returns 0 or -errno; the caller checks ferror(out). */
int vt_gzip_write(FILE *out, const uint8_t *bytes, size_t length);

/* How the file begins, once it is unpacked: up to `size` - 1 bytes, at most 8 KiB of a file that is not packed,
 * ended by a zero. Returns how many. The file's offset stays. */
size_t vt_gzip_peek(int fd, char *text, size_t size);

#endif
