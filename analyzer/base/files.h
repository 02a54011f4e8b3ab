/* SPDX-License-Identifier: MIT */
/*
 * Opening and reading files that users, logs and debug information name.
 */
#ifndef VRAMTRACE_ANALYZER_FILES_H
#define VRAMTRACE_ANALYZER_FILES_H

#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

/* Opens a regular file for reading; never waits, as for a FIFO's writer. Returns the descriptor, or
 * -errno with a reason in `why` (may be NULL). */
int vt_file_open(const char *path, const char **why);

/* The same as a stream. NULL: errno says why, and `why` as above. */
FILE *vt_file_stream(const char *path, const char **why);

/* The same for a file that the user named. It may also be a pipe that is open in this process, as of
 * the shell's <(...): it is read to its end, but not for ever. */
FILE *vt_file_stream_given(const char *path, const char **why);

/* Reads `size` bytes unless the file ends: returns the bytes read, or -errno. */
ssize_t vt_file_read_at(int fd, void *to, size_t size, uint64_t offset);

/* Closes `first` and all descriptors after it: a helper process must not keep the command's pipes open, or
 * their readers would not see its end. */
void vt_file_close_from(int first);

#endif
