/* SPDX-License-Identifier: MIT */
/*
 * Descriptors of our own are never 0, 1 or 2. Where the program was started without one of these, or has closed it, the
 * kernel would give us that number, and what the program prints would go into our file.
 */
#ifndef VT_PRELOAD_DESCRIPTORS_H
#define VT_PRELOAD_DESCRIPTORS_H

/* Between the two, those of 0 to 2 that are closed are taken. Nobody can read or write them then either. Returns which. */
unsigned vt_descriptors_fill(void);
void vt_descriptors_clear(unsigned filled);

/* Opens a file, close-on-exec. Returns its descriptor, or negative errno. */
long vt_descriptors_open(const char *path, int flags, unsigned mode);

#endif
