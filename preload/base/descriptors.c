/* SPDX-License-Identifier: MIT */
/*
 * Opens files above descriptor 2 (see descriptors.h). The kernel gives the lowest free number, so what is free of 0 to 2 is
 * filled before, by descriptors with O_PATH: a read or write fails with EBADF, as on a closed one. To open first and move
 * the descriptor up afterwards would leave a moment in which another thread's output goes into the file.
 *
 * Called by whatever opens a file, and by libc.c around dlopen.
 */
#define _GNU_SOURCE
#include "descriptors.h"
#include "sys.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#define LEAST 3

static unsigned closed_ones(void) {
    unsigned closed = 0;
    struct stat st;
    for (unsigned fd = 0; fd < LEAST;
         fd++) /* fstat, because the log needs that anyway: a filter may know no other call */
        closed |= (unsigned)(VT_SYS2(SYS_fstat, fd, &st) == -EBADF) << fd;
    return closed;
}

unsigned vt_descriptors_fill(void) {
    unsigned filled = 0;
    for (unsigned closed = closed_ones(); closed; closed &= closed - 1) {
        long fd = VT_SYS4(SYS_openat, AT_FDCWD, "/", O_PATH | O_CLOEXEC, 0);
        if (fd >= LEAST) /* another thread was quicker */
            VT_SYS1(SYS_close, fd);
        else if (fd >= 0)
            filled |= 1u << fd;
    }
    return filled;
}

/* The program may have put a descriptor of its own there meanwhile. */
void vt_descriptors_clear(unsigned filled) {
    for (unsigned fd = 0; fd < LEAST; fd++) {
        long flags = filled >> fd & 1 ? VT_SYS2(SYS_fcntl, fd, F_GETFL) : -1;
        if (flags >= 0 && flags & O_PATH)
            VT_SYS1(SYS_close, fd);
    }
}

static long open_now(const char *path, int flags, unsigned mode) {
    return VT_SYS4(SYS_openat, AT_FDCWD, path, flags | O_CLOEXEC, mode);
}

long vt_descriptors_open(const char *path, int flags, unsigned mode) {
    if (!closed_ones())
        return open_now(path, flags, mode);
    uint64_t held =
        vt_sys_hold_signals(); /* a handler would see what is filled, and could jump out */
    unsigned filled = vt_descriptors_fill();
    long fd = open_now(path, flags, mode);
    vt_descriptors_clear(filled);
    if (fd >= 0 &&
        fd < LEAST) { /* another of our threads had filled it, and has cleared it just now */
        long high = VT_SYS3(SYS_fcntl, fd, F_DUPFD_CLOEXEC, LEAST);
        VT_SYS1(SYS_close, fd);
        fd = high;
    }
    vt_sys_let_signals(held);
    return fd;
}
