/* SPDX-License-Identifier: MIT */
/* Lines on stderr (message.c). */
#ifndef VT_PRELOAD_MESSAGE_H
#define VT_PRELOAD_MESSAGE_H

#include <stddef.h>

struct iovec;

/* Makes the loader run our resolver before any constructor; the resolver records the identity of stderr. Called by
 * load.c. */
void vt_message_begin(void);

/* Writes one line, prefixed "vramtrace: ", if stderr is still the file that it was at the start. No stdio, no
 * allocation. */
void vt_message(const char *text);
/* The same in three parts. A path is not copied, because the caller's stack may be small. */
void vt_message_path(const char *before, const char *path, const char *after);
/* Writes as much as possible to a descriptor: a closed pipe or a file at its size limit does not end the program. */
void vt_message_to(int fd, const struct iovec *line, size_t parts);

#endif
