/* SPDX-License-Identifier: MIT */
/*
 * Opening and reading files (see files.h). A log's author chose the paths in it: opening a FIFO could block forever,
 * and opening a device may have side effects.
 */
#define _GNU_SOURCE
#include "files.h"

#include "util.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

int vt_file_open_found(int at, const char *path, int flags, const char **why) {
    const char *unused;
    struct stat st, now;
    int fd = -1, error = at < 0 ? -at : fstat(at, &st) ? errno : 0;
    why = why ? why : &unused;
    flags |= O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
    if (!error && !S_ISREG(st.st_mode))
        error = S_ISDIR(st.st_mode) ? EISDIR : EINVAL;
    if (!error) {
        char self[64];
        snprintf(self, sizeof self, "/proc/self/fd/%d", at);
        fd = open(self, flags & ~O_NOFOLLOW); /* no later link can redirect this */
        error = fd < 0 ? errno : 0;
    }
    if (error == ENOENT && at >= 0) { /* no /proc */
        fd = open(path, flags);
        error = fd < 0 || fstat(fd, &now)                            ? errno
                : now.st_dev != st.st_dev || now.st_ino != st.st_ino ? ESTALE
                                                                     : 0;
    }
    if (!error)
        return fd;
    if (fd >= 0)
        close(fd);
    *why = error == EINVAL ? "not a regular file" : strerror(error);
    return -error;
}

int vt_file_open_as(const char *path, int flags, const char **why) {
    VT_SCOPED_FD at = open(path, O_PATH | O_CLOEXEC | (flags & O_NOFOLLOW));
    return vt_file_open_found(at < 0 ? -errno : at, path, flags, why);
}

int vt_file_open(const char *path, const char **why) {
    return vt_file_open_as(path, O_RDONLY, why);
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

int vt_file_temporary(void) {
    const char *folder = getenv("TMPDIR");
    VT_SCOPED char *path =
        vt_formatted("%s/vramtrace.XXXXXX", folder && folder[0] ? folder : "/tmp");
    int fd = mkostemp(path, O_CLOEXEC);
    if (fd >= 0)
        unlink(path);
    return fd >= 0 ? fd : memfd_create("vramtrace", MFD_CLOEXEC);
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
    /* Keeps later reads from returning older data. Pairs with each release in the tracer, and with name_summary in
     * compact.c. */
    __atomic_thread_fence(__ATOMIC_ACQUIRE); /* model: READ_FENCE */
    return (ssize_t)done;
}

int vt_file_write_at(int fd, const void *bytes, size_t length, uint64_t offset) {
    for (size_t done = 0; done < length;) {
        ssize_t wrote =
            pwrite(fd, (const char *)bytes + done, length - done, (off_t)(offset + done));
        if (wrote < 0 && errno != EINTR)
            return -errno;
        done += wrote < 0 ? 0 : (size_t)wrote;
    }
    return 0;
}

/* --- processes --- */

bool vt_file_read_process(unsigned pid, const char *name, struct vt_string *out) {
    char path[64], block[16384];
    ssize_t got;
    snprintf(path, sizeof path, "/proc/%u/%s", pid, name);
    *out = (struct vt_string){0};
    VT_SCOPED_FD fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    while ((got = read(fd, block, sizeof block)) > 0)
        vt_string_add_bytes(out, block, (size_t)got);
    if (got < 0)
        vt_string_free(out);
    return got == 0 && out->length;
}

uint64_t vt_file_process_started(unsigned pid, char *state) {
    VT_SCOPED_STRING stat;
    if (!vt_file_read_process(pid, "stat", &stat))
        return 0;
    /* Field 2 is the name in brackets and may hold anything, so count from the last bracket. Field 3 is the state. */
    const char *at = strrchr(stat.text, ')');
    if (!at || at[1] != ' ')
        return 0;
    *state = at[2];
    for (int field = 2; field < 22 && at; field++)
        at = strchr(at + 1, ' ');
    return at ? strtoull(at + 1, NULL, 10) : 0;
}

const char *vt_file_variable(const char *environment, size_t length, const char *name) {
    size_t name_length = strlen(name);
    for (size_t at = 0; at < length;) {
        size_t here = strnlen(environment + at, length - at);
        if (at + here == length) /* truncated */
            return NULL;
        if (here > name_length && !strncmp(environment + at, name, name_length) &&
            environment[at + name_length] == '=')
            return environment + at + name_length + 1;
        at += here + 1;
    }
    return NULL;
}

/* --- pipes opened by the shell --- */

#define PIPE_MOST    (64u << 20) /* bytes; most inputs are some KiB */
#define PIPE_WAIT_MS 30000       /* without a byte */

int vt_file_descriptor(const char *path) {
    static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/"}, *const names[] = {
                                                                             "/dev/stdin",
                                                                             "/dev/stdout",
                                                                             "/dev/stderr"};
    for (int i = 0; i < 3; i++)
        if (!strcmp(path, names[i]))
            return i;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        size_t length = strlen(folders[i]);
        const char *digits = path + length;
        if (!strncmp(path, folders[i], length) && *digits &&
            strspn(digits, "0123456789") == strlen(digits) && strlen(digits) < 9)
            return atoi(digits);
    }
    return -1;
}

/* Copies the contents of a pipe, within limits, because its writer may keep it open, or write, forever. Returns 0 or
 * -errno. */
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
    int pipe = vt_file_descriptor(path);
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

/* --- closing --- */

void vt_file_close_scoped(const int *fd) {
    int error = errno;
    if (*fd >= 0)
        close(*fd);
    errno = error;
}

void vt_file_fclose_scoped(FILE *const *file) {
    int error = errno;
    if (*file)
        fclose(*file);
    errno = error;
}

#ifndef SYS_close_range
#define SYS_close_range 436 /* glibc before 2.33 does not name it */
#endif

void vt_file_close_from(int first) {
    if (syscall(SYS_close_range, first, ~0u, 0)) /* Linux before 5.9 */
        for (int fd = first; fd < 1024; fd++)
            close(fd);
}
