/* SPDX-License-Identifier: MIT */
/*
 * Opening and reading files (see files.h). Whoever wrote a log chose the paths in it: a FIFO there would wait for
 * ever, and opening a device may do something.
 */
#define _GNU_SOURCE
#include "files.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
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

ssize_t vt_file_read_at(int fd, void *to, size_t size, uint64_t offset) {
    size_t done = 0;
    while (done < size) {
        ssize_t got = pread(fd, (char *)to + done, size - done, (off_t)(offset + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -errno;
        if (got == 0)
            break;
        done += (size_t)got;
    }
    return (ssize_t)done;
}

/* --- pipes that the shell opened for us --- */

#define PIPE_MOST    (64u << 20) /* bytes; a list is some KiB */
#define PIPE_WAIT_MS 30000       /* without a byte */

/* The descriptor of ours that a path like /dev/fd/63 names; -1: none. It is not opened again: that
 * could wait for a writer. */
static int named_descriptor(const char *path) {
    static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/"};
    if (!strcmp(path, "/dev/stdin"))
        return STDIN_FILENO;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        size_t length = strlen(folders[i]);
        const char *digits = path + length;
        if (!strncmp(path, folders[i], length) && *digits &&
            strspn(digits, "0123456789") == strlen(digits) && strlen(digits) < 9)
            return atoi(digits);
    }
    return -1;
}

/* Copies what comes out of a pipe. Returns 0 or -errno: its writer may hold it open for ever, or
 * write without end. */
static int drain(int from, int to) {
    char bytes[1 << 16];
    for (size_t sum = 0; sum <= PIPE_MOST;) {
        struct pollfd ready = {.fd = from, .events = POLLIN};
        int some = poll(&ready, 1, PIPE_WAIT_MS);
        if (some < 0 && errno == EINTR)
            continue;
        if (some <= 0)
            return some ? -errno : -ETIMEDOUT;
        ssize_t got = read(from, bytes, sizeof bytes);
        if (got < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        if (got <= 0)
            return got ? -errno : 0;
        if (write(to, bytes, (size_t)got) != got)
            return errno ? -errno : -EIO;
        sum += (size_t)got;
    }
    return -EFBIG;
}

FILE *vt_file_stream_given(const char *path, const char **why) {
    struct stat st;
    int pipe = named_descriptor(path);
    if (pipe < 0 || fstat(pipe, &st) || !S_ISFIFO(st.st_mode))
        return vt_file_stream(path, why);
    int copy = memfd_create("pipe", MFD_CLOEXEC), error = copy < 0 ? -errno : drain(pipe, copy);
    FILE *file = error || lseek(copy, 0, SEEK_SET) ? NULL : fdopen(copy, "r");
    if (file)
        return file;
    error = error ? -error : errno;
    if (copy >= 0)
        close(copy);
    *why = error == ETIMEDOUT ? "its writer wrote nothing for 30 s" : strerror(error);
    errno = error;
    return NULL;
}

#ifndef SYS_close_range
#define SYS_close_range 436 /* glibc before 2.33 does not name it */
#endif

void vt_file_close_from(int first) {
    if (syscall(SYS_close_range, first, ~0u, 0)) /* Linux before 5.9 */
        for (int fd = first; fd < 1024; fd++)
            close(fd);
}
