/* SPDX-License-Identifier: MIT */
/*
 * Opening files (see files.h). Whoever wrote a log chose the paths in it: a FIFO there would wait for
 * ever, and opening a device may do something.
 */
#define _GNU_SOURCE
#include "files.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int vt_file_open(const char *path, const char **why) {
    const char *unused;
    struct stat st;
    int fd = -1, error = 0;
    why = why ? why : &unused;
    /* a device is not opened at all */
    if (stat(path, &st) ||
        (S_ISREG(st.st_mode) &&
         ((fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)) < 0 || fstat(fd, &st))))
        error = errno;
    else if (!S_ISREG(st.st_mode))
        error = S_ISDIR(st.st_mode) ? EISDIR : EINVAL;
    if (!error)
        return fd;
    if (fd >= 0)
        close(fd);
    *why = error == EINVAL ? "not a regular file" : strerror(error);
    return -error;
}

FILE *vt_file_stream(const char *path, const char **why) {
    int fd = vt_file_open(path, why);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
    if (fd < 0)
        errno = -fd;
    else if (!file)
        close(fd);
    return file;
}
