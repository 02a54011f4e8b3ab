/* SPDX-License-Identifier: MIT */
/*
 * Writes bytes gzip-compressed, the same for the same bytes: without a name or a time.
 */
#ifndef VRAMTRACE_ANALYZER_GZIP_H
#define VRAMTRACE_ANALYZER_GZIP_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Returns 0 or -errno; the caller checks ferror(out). */
int vt_gzip_write(FILE *out, const uint8_t *bytes, size_t length);

#endif
