/* SPDX-License-Identifier: MIT */
/*
 * Opening and reading files that users, logs and debug information name.
 */
#ifndef VRAMTRACE_ANALYZER_FILES_H
#define VRAMTRACE_ANALYZER_FILES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

/* Opens a regular file for reading, and never waits for a FIFO's writer. Returns the descriptor, or
 * -errno with a reason in `why` (may be NULL). */
int vt_file_open(const char *path, const char **why);

/* The same with these flags of open, such as O_RDWR or O_NOFOLLOW. */
int vt_file_open_as(const char *path, int flags, const char **why);

/* The same for a file that was found before: `at` is its O_PATH descriptor, or -errno; `path` names it. */
int vt_file_open_found(int at, const char *path, int flags, const char **why);

/* The same as a stream. NULL: errno says why, and `why` as above. */
FILE *vt_file_stream(const char *path, const char **why);

/* The same for a file that the user named. It may also be a pipe that is open in this process, such as
 * the shell's <(...), which is read to its end, with a time limit. */
FILE *vt_file_stream_given(const char *path, const char **why);

/* Our descriptor that a path like /dev/fd/63 or /dev/stdout names; -1: none. Opening the path instead could wait for
 * the other end of a pipe. */
int vt_file_descriptor(const char *path);

/* A file without a name, in the folder that TMPDIR names, else /tmp, else in memory. -1: errno says why. */
int vt_file_temporary(void);

/* Reads `size` bytes unless the file ends: returns the bytes read, or -errno. */
ssize_t vt_file_read_at(int fd, void *to, size_t size, uint64_t offset);

/* Writes all of `bytes`. Returns 0, or -errno. */
int vt_file_write_at(int fd, const void *bytes, size_t length, uint64_t offset);

/* Reads all of a file of /proc/PID. False: it cannot be read, for instance because the process ended. Free `out`. */
struct vt_string;
bool vt_file_read_process(unsigned pid, const char *name, struct vt_string *out);

/* When a process started (field 22 of its /proc/PID/stat), and its state; 0: it cannot be read. */
uint64_t vt_file_process_started(unsigned pid, char *state);

/* The value of a variable in an environment whose entries end in NUL; NULL: not set, or truncated. */
const char *vt_file_variable(const char *environment, size_t length, const char *name);

/* Types of variables that are closed when their block ends, if open (0 or above; not NULL). errno is kept. */
#define VT_SCOPED_FD   __attribute__((cleanup(vt_file_close_scoped))) int
#define VT_SCOPED_FILE __attribute__((cleanup(vt_file_fclose_scoped))) FILE
void vt_file_close_scoped(const int *fd);
void vt_file_fclose_scoped(FILE *const *file);

/* Closes `first` and all descriptors after it: if a helper process kept the command's pipes open, their readers
 * would not see the command's end. */
void vt_file_close_from(int first);

#endif
