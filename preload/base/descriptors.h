/* SPDX-License-Identifier: MIT */
/*
 * Our own descriptors are never 0, 1 or 2. If the program was started without one of these, or has closed it, the
 * kernel would give us that number, and the program's output would go into our file.
 */
#ifndef VT_PRELOAD_DESCRIPTORS_H
#define VT_PRELOAD_DESCRIPTORS_H

/* vt_descriptors_fill opens an O_PATH descriptor for each closed one from 0 to 2, and returns a bit set of them. Reads
 * and writes on these still fail with EBADF. A fork waits until they are cleared. */
unsigned vt_descriptors_fill(void);
void vt_descriptors_clear(unsigned filled);
void vt_descriptors_forked(
    /* In a forked child: clears those that other threads of its parent had filled. */
    void);

/* Opens a file, close-on-exec. Returns its descriptor, or negative errno. */
long vt_descriptors_open(const char *path, int flags, unsigned mode);

/* Loads a library, for which the loader opens a file. Returns NULL on failure. */
void *vt_descriptors_dlopen(const char *path, int flags);

#endif
