/* SPDX-License-Identifier: MIT */
/*
 * Descriptors of our own are never 0, 1 or 2. Where the program was started without one of these, or has closed it, the
 * kernel would give us that number, and what the program prints would go into our file.
 */
#ifndef VT_PRELOAD_DESCRIPTORS_H
#define VT_PRELOAD_DESCRIPTORS_H

/* vt_descriptors_fill opens O_PATH descriptors on those of 0 to 2 that are closed, and returns which. Reads and writes on
 * them still fail with EBADF. A fork waits until they are cleared. */
unsigned vt_descriptors_fill(void);
void vt_descriptors_clear(unsigned filled);
void vt_descriptors_forked(
    void); /* in a child: clears what other threads of its parent had filled */

/* Opens a file, close-on-exec. Returns its descriptor, or negative errno. */
long vt_descriptors_open(const char *path, int flags, unsigned mode);

/* Loads a library, whose file the loader opens. Returns NULL on failure. */
void *vt_descriptors_dlopen(const char *path, int flags);

#endif
