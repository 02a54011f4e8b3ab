/* SPDX-License-Identifier: MIT */
/*
 * Files for the fuzz targets. There, the analyzer sees only the files that the target made, in
 * memory: no input makes it read the machine's files or wait for a device, and what it writes is
 * thrown away. The product calls vt_fuzz_open for open, and so on (see fuzz.mk).
 */
#ifndef VRAMTRACE_TESTS_FUZZ_FILES_H
#define VRAMTRACE_TESTS_FUZZ_FILES_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Makes the file `name` (a constant), or empties it. Returns a descriptor to write it with. */
int vt_fuzz_file(const char *name);
void vt_fuzz_file_write(const char *name, const void *bytes, size_t size);
void vt_fuzz_file_remove(const char *name);

/* A stream that discards its data. */
FILE *vt_fuzz_sink(void);

/* What libFuzzer calls. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
