/* SPDX-License-Identifier: MIT */
/* A disk that hangs, for `vramtrace` alone: what writes below HANGS_BELOW waits while there is a file HANGS_WHILE, or fails with
 * HANGS_ERROR. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static int stays_away(const char *path) {
    const char *below = getenv("HANGS_BELOW"), *file = getenv("HANGS_WHILE"),
               *error = getenv("HANGS_ERROR");
    if (!below || strcmp(program_invocation_short_name, "vramtrace") ||
        strncmp(path, below, strlen(below)))
        return 0;
    while (file && !access(file, F_OK))
        nanosleep(&(struct timespec){0, 10000000}, NULL);
    return error ? atoi(error) : 0;
}

static int stays_away_of(int fd) {
    char link[64], path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    path[length > 0 ? length : 0] = 0;
    return stays_away(path);
}

#define NEXT(function) __typeof__(&function) next = dlsym(RTLD_NEXT, #function)

int open(const char *path, int flags, ...) {
    NEXT(open);
    va_list args;
    va_start(args, flags);
    int mode = flags & O_CREAT ? va_arg(args, int) : 0;
    va_end(args);
    if (flags & (O_WRONLY | O_RDWR) && stays_away(path) && flags & O_CREAT)
        return errno = stays_away(path), -1;
    return next(path, flags, mode);
}

ssize_t pwrite(int fd, const void *bytes, size_t size, off_t at) {
    NEXT(pwrite);
    errno = stays_away_of(fd);
    return errno ? -1 : next(fd, bytes, size, at);
}

int fdatasync(int fd) {
    NEXT(fdatasync);
    errno = stays_away_of(fd);
    return errno ? -1 : next(fd);
}

int mkdir(const char *path, mode_t mode) {
    NEXT(mkdir);
    errno = stays_away(path);
    return errno ? -1 : next(path, mode);
}
